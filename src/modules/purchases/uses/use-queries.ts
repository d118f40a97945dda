import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { locations } from '../../../db/schema/catalog.ts'
import { orders } from '../../../db/schema/orders.ts'
import { purchases, purchaseUses } from '../../../db/schema/purchases.ts'
import { decodeAs, type RowOf, select, buildSelectList } from '../../../db/select.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { doesNotExist, notFound } from '../../../domain/errors.ts'
import { purchaseEventFields, purchaseEventJoins } from '../announcement.ts'
import { type PurchaseUseRow, purchaseVisibility, selectUses } from '../queries.ts'

/** Fields of a purchase that its uses depend on, and fields of its webhook event. */
const usableFields = {
  ...purchaseEventFields,
  status: purchases.status,
  uses_limit: purchases.uses_limit,
  uses_count: purchases.uses_count,
  is_unlimited_use: purchases.is_unlimited_use,
  valid_until: purchases.valid_until,
  created_at: purchases.created_at,
  order_status: orders.status,
}

type UsableRow = RowOf<typeof usableFields>

export type UsablePurchase = UsableRow & { tenant: Tenant }

const selectUsablePurchase = (ctx: Ctx, id: string) =>
  decodeAs(
    usableFields,
    sql<UsableRow>`select ${buildSelectList(usableFields)} from ${purchases} ${purchaseEventJoins}
      where ${purchases.id} = ${id} and ${isVisibleTo(ctx.caller, purchaseVisibility)}`,
  )

const addTenant = (row: UsableRow): UsablePurchase => ({
  ...row,
  tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
})

export async function findUsablePurchase(ctx: Ctx, id: string): Promise<UsablePurchase> {
  const row = await ctx.db.first(selectUsablePurchase(ctx, id))
  if (!row) throw notFound()
  return addTenant(row)
}

export interface LoadedUse extends PurchaseUseRow {
  tenant: Tenant
  purchase: UsablePurchase
}

export async function findUse(ctx: Ctx, purchaseId: string, id: string): Promise<LoadedUse> {
  const [[purchaseRow], [use]] = await ctx.db.batch([
    selectUsablePurchase(ctx, purchaseId),
    selectUses().where(and(eq(purchaseUses.id, id), eq(purchaseUses.purchase_id, purchaseId))),
  ])
  if (!purchaseRow || !use) throw notFound()
  const purchase = addTenant(purchaseRow)
  return { ...use, purchase, tenant: purchase.tenant }
}

/** Finds the location of a use. Throws `does_not_exist` for a location of another edition, too. */
export async function findLocation(
  ctx: Ctx,
  editionId: string,
  id: string | null,
): Promise<{ name: string; is_draft: boolean } | null> {
  if (id === null) return null
  const row = await ctx.db.first(
    select({ name: locations.name, is_draft: locations.is_draft })
      .from(locations)
      .where(and(eq(locations.id, id), eq(locations.edition_id, editionId))),
  )
  if (!row) throw doesNotExist('location_id')
  return row
}
