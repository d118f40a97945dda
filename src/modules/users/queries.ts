import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import {
  customerColumns,
  inEditions,
  isEditionVisible,
  selectVisibleEditionIds,
  type CustomerColumn,
  type CustomerView,
  viewCustomers,
} from '../../db/customers.ts'
import { users } from '../../db/schema/customers.ts'
import { decodeAs, type RowOf, buildSelectList } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { AppError, notFound } from '../../domain/errors.ts'

/** Roles of an edition see the customers of their edition. */
export const userVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`users.organization_id`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`exists (select 1 from edition_customers where user_seq = users.seq and ${inEditions(sql`edition_id`, ids)})`,
}

type StoredUserRow = typeof users.$inferSelect

const commonColumns = {
  id: users.id,
  seq: users.seq,
  organization_id: users.organization_id,
  version: users.version,
  erased_at: users.erased_at,
}

/** A customer as the caller sees them. */
export type CustomerRow = Pick<StoredUserRow, keyof typeof commonColumns | CustomerColumn>

/**
 * Builds the columns of a customer. A view may take values from `edition_customers`; they are decoded like those of
 * `users`.
 */
export const buildUserFields = (view: CustomerView) => ({
  ...commonColumns,
  ...(Object.fromEntries(customerColumns.map((name) => [name, view.column(name).mapWith(users[name])])) as {
    [Name in CustomerColumn]: SQL<StoredUserRow[Name]>
  }),
})

export interface LoadedUser extends CustomerRow {
  tenant: Tenant
  /** The country code of phone numbers without one, from the visible edition that the customer joined last. */
  country_code: string | null
}

/** Roles of the editions that the customer was in see into whom the customer was merged. */
const mergeVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`user_merges.organization_id`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`exists (select 1 from json_each(user_merges.edition_ids) where ${inEditions(sql`value`, ids)})`,
}

/** The error for a customer whom nobody finds. It names the one into whom they were merged, if the caller may know. */
export async function describeMissingUser(ctx: Ctx, id: string): Promise<AppError> {
  const merge = await ctx.db.first(
    sql<{ into_id: string }>`select into_id from user_merges
      where id = ${id} and ${isVisibleTo(ctx.caller, mergeVisibility)}`,
  )
  if (!merge) return notFound()
  const { into_id: merged_into } = merge
  return new AppError('not_found', `This customer was merged into ${merged_into}.`, { extra: { merged_into } })
}

/** The `seq` of the customer and of those who were merged into them. Campaigns know people by it. */
export async function listCampaignNumbers(
  { db }: Pick<JobCtx, 'db'>,
  { id, seq }: { id: string; seq: number },
): Promise<number[]> {
  const merges = await db.all(sql<{ seq: number }>`select seq from user_merges where into_id = ${id} order by seq`)
  return [seq, ...merges.map((merge) => merge.seq)]
}

export async function findUser(ctx: Ctx, id: string): Promise<LoadedUser> {
  const view = viewCustomers(ctx.caller)
  const fields = {
    ...buildUserFields(view),
    editions: selectVisibleEditionIds(ctx.caller),
    country_code: sql<string | null>`(select default_country_code from edition_customers
      join editions on editions.id = edition_id where user_seq = users.seq and ${isEditionVisible(ctx.caller)}
      order by edition_customers.seq desc limit 1)`,
  }
  const row = await ctx.db.first(
    decodeAs(
      fields,
      sql<RowOf<typeof fields>>`select ${buildSelectList(fields)} from users ${view.join}
        where ${users.id} = ${id} and ${isVisibleTo(ctx.caller, userVisibility)}`,
    ),
  )
  if (!row) throw await describeMissingUser(ctx, id)
  const { editions, ...user } = row
  return { ...user, tenant: { organization_id: row.organization_id, editions } }
}

/** True if the caller sees a customer of the organisation with this address or number. */
export async function seesContact(
  ctx: Ctx,
  organizationId: string,
  contact: { column: 'email' | 'phone_number'; value: string | null },
): Promise<boolean> {
  const view = viewCustomers(ctx.caller)
  const row = await ctx.db.first(sql`select 1 from users ${view.join}
    where users.organization_id = ${organizationId} and ${users[contact.column]} = ${contact.value}
      and ${view.column(contact.column)} = ${contact.value} and ${isVisibleTo(ctx.caller, userVisibility)}`)
  return row !== undefined
}
