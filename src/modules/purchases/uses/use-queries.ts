import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { locations } from '../../../db/schema/sales/catalog.ts'
import { purchases, purchaseUses } from '../../../db/schema/sales/orders.ts'
import { decodeAs, type RowOf, select, buildSelectList } from '../../../db/select.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { doesNotExist, notFound } from '../../../domain/errors.ts'
import { announcedFields, announcedJoins } from '../announcement.ts'
import { purchaseVisibility } from '../queries.ts'
import { type PurchaseUseRow, selectUses } from './use-row.ts'

/** Fields that decide about the uses of a purchase, and those of its event. */
const usableFields = {
  ...announcedFields,
  status: purchases.status,
  uses_limit: purchases.uses_limit,
  uses_count: purchases.uses_count,
  is_unlimited_use: purchases.is_unlimited_use,
  valid_until: purchases.valid_until,
  created_at: purchases.created_at,
}

type UsableRow = RowOf<typeof usableFields>

export type UsablePurchase = UsableRow & { tenant: Tenant }

const usablePurchase = (ctx: Ctx, id: string) =>
  decodeAs(
    usableFields,
    sql<UsableRow>`select ${buildSelectList(usableFields)} from ${purchases} ${announcedJoins}
      where ${purchases.id} = ${id} and ${isVisibleTo(ctx.caller, purchaseVisibility)}`,
  )

const withTenant = (row: UsableRow): UsablePurchase => ({
  ...row,
  tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
})

export async function findUsablePurchase(ctx: Ctx, id: string): Promise<UsablePurchase> {
  const row = await ctx.db.first(usablePurchase(ctx, id))
  if (!row) throw notFound()
  return withTenant(row)
}

export interface LoadedUse extends PurchaseUseRow {
  tenant: Tenant
  purchase: UsablePurchase
}

/** A use of the purchase that the path names. */
export async function findUse(ctx: Ctx, purchaseId: string, id: string): Promise<LoadedUse> {
  const [[found], [use]] = await ctx.db.batch([
    usablePurchase(ctx, purchaseId),
    selectUses().where(and(eq(purchaseUses.id, id), eq(purchaseUses.purchase_id, purchaseId))),
  ])
  if (!found || !use) throw notFound()
  const purchase = withTenant(found)
  return { ...use, purchase, tenant: purchase.tenant }
}

/** The location of a use. One of another edition is refused as one that does not exist. */
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
