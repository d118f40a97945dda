import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { suppressions } from '../../db/schema/suppressions.ts'
import { remove, splitIntoParameters } from '../../db/write.ts'
import { formatReference } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient } from '../../domain/campaigns/sender.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
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

/** Selects one address in the form that `suppress` expects. */
export const selectSuppressedAddress = ({ organization_id, channel, address }: SuppressedAddress): SQL =>
  sql`select ${organization_id} as organization_id, ${channel} as channel, ${address} as address`

/** A dead address replaces any other reason. A complaint replaces `unsubscribed`, because nobody can take it back. */
export const replaceWeakerReason = sql`on conflict (organization_id, channel, address) do update
  set reason = excluded.reason, detail = excluded.detail, campaign_id = excluded.campaign_id
  where (excluded.reason in (${deadReasons}) and suppressions.reason not in (${deadReasons}))
    or (excluded.reason = 'complaint' and suppressions.reason = 'unsubscribed')`

/** Suppresses the addresses of a query with the columns `organization_id`, `channel` and `address`. */
export const suppress = (addresses: SQL, { reason, detail = '', campaign_id, at }: SuppressionCause): Statement =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, address, ${reason}, ${detail}, ${campaign_id}, ${at} from (${addresses}) where true
    ${replaceWeakerReason}`

/** A row of a list of another system. */
export interface ListedSuppression {
  id: string
  address: string
  reason: SuppressionReason
  detail: string
  created_at: number
}

/** Selects the rows of these lists as `listed.value`. */
const selectListed = (part: readonly string[]): SQL => sql`json_each(${`[${part.join(',')}]`}) as listed`

/** Suppresses the addresses of a list, but not those whose row `isLeftOut` selects. */
export const suppressListed = (
  { organization_id, channel }: Pick<SuppressedAddress, 'organization_id' | 'channel'>,
  rows: readonly ListedSuppression[],
  isLeftOut: SQL = sql`0`,
): Statement[] =>
  splitIntoParameters(rows.map((row) => JSON.stringify(row))).map(
    (part) => sql`insert into suppressions (id, organization_id, channel, address, reason, detail, created_at)
      select value ->> 'id', ${organization_id}, ${channel}, value ->> 'address', value ->> 'reason', value ->> 'detail',
        value ->> 'created_at' from ${selectListed(part)} where not ${isLeftOut} ${replaceWeakerReason}`,
  )

interface SoftBounce {
  /** The reference of the message. Several bounces of one message count once. */
  reference: string
  campaign_id: string | null
  at: number
}

/** Records a soft bounce, and suppresses an address that had several of them within two weeks. */
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

/** Ends the suppression of an unsubscribed address. An address that bounced or complained stays suppressed. */
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

/** Builds the statements that suppress the addresses of recipients of a campaign who bounced or complained. */
export const buildRecipientSuppressions = (
  { id, organization_id, channel }: { id: string; organization_id: string; channel: Channel },
  recipients: readonly AffectedRecipient[],
): Statement[] =>
  recipients.flatMap(({ event, address }): Statement[] => {
    const addresses = selectSuppressedAddress({ organization_id, channel, address })
    const cause = { campaign_id: id, at: event.at }
    if (event.type === 'complained') return [suppress(addresses, { ...cause, reason: 'complaint' })]
    if (event.bounce === 'hard') return [suppress(addresses, { ...cause, reason: 'hard_bounce' })]
    if (event.bounce !== 'soft') return []
    return countSoftBounce(addresses, { ...cause, reference: formatReference(id, event.n) })
  })
