import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { suppressions } from '../../db/schema/consents.ts'
import { remove } from '../../db/write.ts'
import {
  softBounceMemoryMs,
  softBouncesUntilDead,
  type SuppressedAddress,
  type SuppressionReason,
} from '../../domain/messaging/suppressions.ts'
import { deadReasons } from './queries.ts'

interface SuppressionCause {
  reason: Exclude<SuppressionReason, 'invalid'>
  detail?: string
  campaign_id: string | null
  at: number
}

/** One address, as the query that `suppress` expects. */
export const selectAddress = ({ organization_id, channel, address }: SuppressedAddress): SQL =>
  sql`select ${organization_id} as organization_id, ${channel} as channel, ${address} as address`

/**
 * Suppresses the addresses of a query with `organization_id`, `channel` and `address`. A hard bounce overrides other
 * reasons. A complaint overrides `unsubscribed`, because it cannot be taken back.
 */
export const suppress = (addresses: SQL, { reason, detail = '', campaign_id, at }: SuppressionCause): Statement =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, address, ${reason}, ${detail}, ${campaign_id}, ${at} from (${addresses}) where true
    on conflict do update set reason = excluded.reason, detail = excluded.detail, campaign_id = excluded.campaign_id
    where (excluded.reason = 'hard_bounce' and suppressions.reason not in (${deadReasons}))
      or (excluded.reason = 'complaint' and suppressions.reason = 'unsubscribed')`

interface SoftBounce {
  /** Each message counts once. */
  reference: string
  campaign_id: string | null
  at: number
}

/** Records a soft bounce. After several in the last days the address is suppressed as a hard bounce. */
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

/** Deletes the suppression of an unsubscription. An address that bounced or complained stays suppressed. */
export const takeBackUnsubscription = ({ organization_id, channel, address }: SuppressedAddress): Statement =>
  remove(
    suppressions,
    and(
      eq(suppressions.organization_id, organization_id),
      eq(suppressions.channel, channel),
      eq(suppressions.address, address),
      eq(suppressions.reason, 'unsubscribed'),
    ),
  )
