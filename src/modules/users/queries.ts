import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
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
import { notFound } from '../../domain/errors.ts'

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
  if (!row) throw notFound()
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
