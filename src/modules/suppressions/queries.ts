import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { suppressions } from '../../db/schema/consents.ts'
import { select } from '../../db/select.ts'
import {
  deadAddressReasons,
  type SuppressedAddress,
  type SuppressionReason,
} from '../../domain/messaging/suppressions.ts'

/** Finds why an address is suppressed. Returns null when it is not. */
export async function findSuppressionReason(
  { db }: Pick<JobCtx, 'db'>,
  { organization_id, channel, address }: SuppressedAddress,
): Promise<SuppressionReason | null> {
  const row = await db.first(
    select({ reason: suppressions.reason })
      .from(suppressions)
      .where(
        and(
          eq(suppressions.organization_id, organization_id),
          eq(suppressions.channel, channel),
          eq(suppressions.address, address),
        ),
      ),
  )
  return row?.reason ?? null
}

/** The reasons of dead addresses, as a list for `in`. */
export const deadReasons = sql.raw(deadAddressReasons.map((reason) => `'${reason}'`).join(', '))

interface AddressColumns {
  organization_id: SQL
  channel: SQL
  address: SQL
}

/** Selects why an address is suppressed, or null. */
export const selectSuppressionReason = ({ organization_id, channel, address }: AddressColumns): SQL =>
  sql`(select suppressions.reason from suppressions where suppressions.organization_id = ${organization_id}
    and suppressions.channel = ${channel} and suppressions.address = ${address})`

interface MessageKind {
  organization_id: string
  communication_type: 'marketing' | 'transactional'
  communication_channel: string
}

/**
 * Selects why a message of this kind may not go to an address: `bounced`, `unsubscribed` or null. It looks up each
 * address, which suits queries for few people.
 */
export const selectSuppressionExclusion = (kind: MessageKind, address: SQL): SQL => {
  const unsubscribed = kind.communication_type === 'marketing' ? sql`else 'unsubscribed'` : sql``
  return sql`(select case when reason in (${deadReasons}) then 'bounced' ${unsubscribed} end from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and address = ${address})`
}

/** Selects the same as `selectSuppressionExclusion`. It takes a third of the time in queries for very many people. */
export const selectBulkSuppressionExclusion = (kind: MessageKind, address: SQL): SQL => {
  const isListed = (condition: SQL) => sql`${address} in (select address from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and ${condition})`
  const unsubscribed =
    kind.communication_type === 'marketing'
      ? sql`when ${isListed(sql`reason not in (${deadReasons})`)} then 'unsubscribed'`
      : sql``
  return sql`case when ${isListed(sql`reason in (${deadReasons})`)} then 'bounced' ${unsubscribed} end`
}
