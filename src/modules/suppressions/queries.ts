import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { suppressions } from '../../db/schema/suppressions.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import {
  deadAddressReasons,
  type SuppressedAddress,
  type SuppressionReason,
} from '../../domain/messaging/suppressions.ts'

export { findOrganization } from '../organizations/index.ts'

export type SuppressionRow = typeof suppressions.$inferSelect

export const suppressionColumns = getTableColumns(suppressions)

/** Suppressions belong to the organisation, so roles of an edition do not read them. */
export const suppressionVisibility = buildVisibility(sql`${suppressions.organization_id}`, sql`null`)

export async function findSuppression(ctx: Ctx, id: string): Promise<SuppressionRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(suppressionColumns)
      .from(suppressions)
      .where(and(eq(suppressions.id, id), isVisibleTo(ctx.caller, suppressionVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

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

/** Selects why an address is suppressed, or since when. It is null for an address that is not. */
export const selectSuppression = (
  column: 'reason' | 'created_at',
  { organization_id, channel, address }: AddressColumns,
): SQL =>
  sql`(select suppressions.${sql.raw(column)} from suppressions where suppressions.organization_id = ${organization_id}
    and suppressions.channel = ${channel} and suppressions.address = ${address})`

/** Selects since when an e-mail address is unsubscribed. It is null for any other address. */
export const selectUnsubscribedAt = (organizationId: string | SQL, address: string | SQL): SQL =>
  sql`(select suppressions.created_at from suppressions where suppressions.organization_id = ${organizationId}
    and suppressions.channel = 'email' and suppressions.address = ${address} and suppressions.reason = 'unsubscribed')`

/** An e-mail address, with its hash among the suppressed addresses of erased customers. */
export interface HashedAddress {
  organization_id: string
  address: string
  address_hash: string
}

/**
 * Selects why an e-mail address is suppressed, or since when, also if the customer who had it was erased. It is null for an
 * address that is not suppressed.
 */
export const selectHashedSuppression = (
  column: 'reason' | 'created_at',
  { organization_id, address, address_hash }: HashedAddress,
): SQL => {
  const storedValue = selectSuppression(column, {
    organization_id: sql`${organization_id}`,
    channel: sql`'email'`,
    address: sql`${address}`,
  })
  return sql`coalesce(${storedValue}, (select ${sql.raw(column)} from suppression_hashes
    where organization_id = ${organization_id} and channel = 'email' and address_hash = ${address_hash}))`
}

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
  const unsubscribedCase = kind.communication_type === 'marketing' ? sql`else 'unsubscribed'` : sql``
  return sql`(select case when reason in (${deadReasons}) then 'bounced' ${unsubscribedCase} end from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and address = ${address})`
}

/** Selects the same as `selectSuppressionExclusion`. It takes a third of the time in queries for very many people. */
export const selectBulkSuppressionExclusion = (kind: MessageKind, address: SQL): SQL => {
  const isListed = (condition: SQL) => sql`${address} in (select address from suppressions
    where organization_id = ${kind.organization_id} and channel = ${kind.communication_channel} and ${condition})`
  const unsubscribedCase =
    kind.communication_type === 'marketing'
      ? sql`when ${isListed(sql`reason not in (${deadReasons})`)} then 'unsubscribed'`
      : sql``
  return sql`case when ${isListed(sql`reason in (${deadReasons})`)} then 'bounced' ${unsubscribedCase} end`
}

/**
 * Selects why marketing through these channels reaches no address of a customer. It is null when it reaches one, or when
 * the customer has no address. `channels` is a JSON array.
 */
export const selectChannelBlock = (user: SQL, channels: SQL): SQL =>
  sql`(select iif(sum(reason is null) = 0, min(reason), null) from (
    select suppressions.reason from json_each(${channels}) as channel
      left join suppressions on suppressions.organization_id = ${user}.organization_id
        and suppressions.channel = channel.value
        and suppressions.address = iif(channel.value = 'email', ${user}.email, ${user}.phone_number)
    where iif(channel.value = 'email', ${user}.email, ${user}.phone_number) is not null))`
