import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { purchases } from '../../../db/schema/sales/orders.ts'
import { visible } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { doesNotExist, notFound } from '../../../domain/errors.ts'
import { type AnnouncedPurchase, announcedColumns, announcedJoins } from '../announcement.ts'
import { purchaseVisibility } from '../queries.ts'
import { type PurchaseUseRow, useColumns, useJoins } from './use-row.ts'

type Terms = Pick<
  typeof purchases.$inferSelect,
  'status' | 'uses_limit' | 'uses_count' | 'is_unlimited_use' | 'valid_until' | 'created_at'
>

/** A purchase with what decides about its uses, and with what is announced about them. */
export interface UsablePurchase extends AnnouncedPurchase, Terms {
  tenant: Tenant
}

const usableColumns = sql`${announcedColumns}, purchases.status, purchases.uses_limit, purchases.uses_count,
  purchases.is_unlimited_use, purchases.valid_until, purchases.created_at`

type UsableRow = Omit<UsablePurchase, 'tenant'>

const usablePurchase = (ctx: Ctx, id: string) => sql<UsableRow>`select ${usableColumns}
  from purchases ${announcedJoins}
  where purchases.id = ${id} and ${visible(ctx.caller, purchaseVisibility)}`

const placed = (row: UsableRow): UsablePurchase => ({
  ...row,
  tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
})

export async function findUsablePurchase(ctx: Ctx, id: string): Promise<UsablePurchase> {
  const row = await ctx.db.first(usablePurchase(ctx, id))
  if (!row) throw notFound()
  return placed(row)
}

export interface LoadedUse extends PurchaseUseRow {
  tenant: Tenant
  purchase: UsablePurchase
}

/** A use of this very purchase. */
export async function findUse(ctx: Ctx, purchaseId: string, id: string): Promise<LoadedUse> {
  const [[found], [use]] = await ctx.db.batch([
    usablePurchase(ctx, purchaseId),
    sql<PurchaseUseRow>`select ${useColumns} from purchase_uses ${useJoins}
      where purchase_uses.id = ${id} and purchase_uses.purchase_id = ${purchaseId}`,
  ])
  if (!found || !use) throw notFound()
  const purchase = placed(found)
  return { ...use, purchase, tenant: purchase.tenant }
}

/** The place of a use; one of another edition is refused as one that does not exist. */
export async function findLocation(
  ctx: Ctx,
  editionId: string,
  id: string | null,
): Promise<{ name: string; is_draft: number } | null> {
  if (id === null) return null
  const row = await ctx.db.first(
    sql<{ name: string; is_draft: number }>`select name, is_draft from locations
      where id = ${id} and edition_id = ${editionId}`,
  )
  if (!row) throw doesNotExist('location_id')
  return row
}
