import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { softBounceMemoryMs, softBouncesUntilDead, type SuppressionReason } from '../../domain/suppressions.ts'

export interface SuppressedAddress {
  organization_id: string
  channel: string
  address: string
}

interface Cause {
  reason: Exclude<SuppressionReason, 'invalid'>
  detail?: string
  campaign_id: string | null
  at: number
}

/** One address as the query that `suppress` takes. */
export const addressQuery = ({ organization_id, channel, address }: SuppressedAddress): SQL =>
  sql`select ${organization_id} as organization_id, ${channel} as channel, ${address} as address`

/**
 * From now on nothing goes to the addresses of a query with `organization_id`, `channel` and `address`. A dead address
 * counts for more than one whose person has had enough, and a complaint, which has no way back, for more than leaving.
 */
export const suppress = (addresses: SQL, { reason, detail = '', campaign_id, at }: Cause): Statement =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, address, ${reason}, ${detail}, ${campaign_id}, ${at} from (${addresses}) where true
    on conflict do update set reason = excluded.reason, detail = excluded.detail, campaign_id = excluded.campaign_id
    where (excluded.reason = 'hard_bounce' and suppressions.reason not in ('hard_bounce', 'invalid'))
      or (excluded.reason = 'complaint' and suppressions.reason = 'unsubscribed')`

interface SoftBounce {
  /** The message that bounced: it counts once. */
  reference: string
  campaign_id: string | null
  at: number
}

/** Statements for a message that an address did not take: after too many of them lately the address counts as dead. */
export const countSoftBounce = (addresses: SQL, { reference, campaign_id, at }: SoftBounce): Statement[] => [
  sql`insert into soft_bounces (organization_id, channel, address, reference, bounced_at)
    select organization_id, channel, address, ${reference}, ${at} from (${addresses}) where true on conflict do nothing`,
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, address, 'hard_bounce', 'soft bounces', ${campaign_id}, ${at}
    from soft_bounces where (organization_id, channel, address) in (select organization_id, channel, address from (${addresses}))
      and bounced_at > ${at - softBounceMemoryMs}
    group by organization_id, channel, address having count(*) >= ${softBouncesUntilDead}
    on conflict do nothing`,
]

/** Takes back that somebody left. An address that is dead or has complained stays as it is. */
export const takeBackUnsubscription = ({ organization_id, channel, address }: SuppressedAddress): Statement =>
  sql`delete from suppressions where organization_id = ${organization_id} and channel = ${channel}
    and address = ${address} and reason = 'unsubscribed'`
