import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { deadAddressReasons, type SuppressionReason } from '../../domain/suppressions.ts'
import type { SuppressedAddress } from './change.ts'

/** Why no marketing goes to the address; null when nothing keeps it from going. */
export async function suppressionReasonOf(
  { db }: Pick<JobCtx, 'db'>,
  { organization_id, channel, address }: SuppressedAddress,
): Promise<SuppressionReason | null> {
  const row = await db.first(sql<{ reason: SuppressionReason }>`select reason from suppressions
    where organization_id = ${organization_id} and channel = ${channel} and address = ${address}`)
  return row?.reason ?? null
}

const dead = sql.raw(deadAddressReasons.map((reason) => `'${reason}'`).join(', '))

interface Values {
  organization_id: SQL
  channel: SQL
  address: SQL
}

/** For what an address of other rows is suppressed, as SQL; null for one that is not. */
export const suppressionReasonAt = ({ organization_id, channel, address }: Values): SQL =>
  sql`(select suppressions.reason from suppressions where suppressions.organization_id = ${organization_id}
    and suppressions.channel = ${channel} and suppressions.address = ${address})`

interface MessageKind {
  organization_id: string
  communication_type: 'marketing' | 'transactional'
  communication_channel: string
}

/** Why a message of the kind may not go to the address, as an exclusion reason: `bounced` or `unsubscribed`, else null. By the table's key, for few people. */
export const suppressionExclusion = (kind: MessageKind, address: SQL): SQL => {
  const other = kind.communication_type === 'marketing' ? sql`else 'unsubscribed'` : sql``
  return sql`(select case when reason in (${dead}) then 'bounced' ${other} end from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and address = ${address})`
}

/** The same by lists instead of a look-up for each person: a third of the time for very many. */
export const listedSuppressionExclusion = (kind: MessageKind, address: SQL): SQL => {
  const isListed = (condition: SQL) => sql`${address} in (select address from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and ${condition})`
  const other =
    kind.communication_type === 'marketing'
      ? sql`when ${isListed(sql`reason not in (${dead})`)} then 'unsubscribed'`
      : sql``
  return sql`case when ${isListed(sql`reason in (${dead})`)} then 'bounced' ${other} end`
}
