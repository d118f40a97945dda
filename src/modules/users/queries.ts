import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import {
  type CustomerView,
  viewCustomers,
  selectVisibleEditionIds,
  isEditionVisible,
  type CustomerColumn,
  customerColumns,
} from '../../db/customers.ts'
import { users } from '../../db/schema/users.ts'
import { decodeAs, type RowOf, buildSelectList } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { userVisibility } from './visibility.ts'

type WholeUserRow = typeof users.$inferSelect

const ownColumns = {
  id: users.id,
  seq: users.seq,
  organization_id: users.organization_id,
  version: users.version,
  erased_at: users.erased_at,
}

/** A customer as the caller sees them. */
export type ShownUserRow = Pick<WholeUserRow, keyof typeof ownColumns | CustomerColumn>

/** Columns of which a view may show other values. They are decoded as the customer's own. */
export const userColumns = (view: CustomerView) => ({
  ...ownColumns,
  ...(Object.fromEntries(customerColumns.map((name) => [name, view.column(name).mapWith(users[name])])) as {
    [Name in CustomerColumn]: SQL<WholeUserRow[Name]>
  }),
})

export interface LoadedUser extends ShownUserRow {
  tenant: Tenant
  /** Of the edition that the customer joined last among those that the caller sees, for numbers without a country. */
  country_code: string | null
}

export async function findUser(ctx: Ctx, id: string): Promise<LoadedUser> {
  const view = viewCustomers(ctx.caller)
  const fields = {
    ...userColumns(view),
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

/** Whether the caller sees a customer of the organisation with this address or number. */
export async function isShown(
  ctx: Ctx,
  organizationId: string,
  contact: { column: 'email' | 'phone_number'; value: string | null },
): Promise<boolean> {
  const view = viewCustomers(ctx.caller)
  const shown = await ctx.db.first(sql`select 1 from users ${view.join}
    where users.organization_id = ${organizationId} and ${users[contact.column]} = ${contact.value}
      and ${view.column(contact.column)} = ${contact.value} and ${isVisibleTo(ctx.caller, userVisibility)}`)
  return shown !== undefined
}
