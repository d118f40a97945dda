import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { walletPasses } from '../../db/schema/wallet.ts'
import { fromJson } from '../../db/select.ts'
import { visibilityOf, visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { WalletPassStatus, WalletPlatform } from '../../domain/wallet/wallet.ts'

export type PassRow = typeof walletPasses.$inferSelect
export type PassSummaryRow = Pick<
  PassRow,
  'id' | 'provider' | 'platform' | 'serial_number' | 'status' | 'added_at' | 'removed_at'
>

const passesShown = 20

/** The newest passes of a purchase, as a field of a query. */
export const walletPassesOf = (purchaseId: SQL) =>
  fromJson<PassSummaryRow[]>(sql`(select json_group_array(json_object('id', id,
      'provider', provider, 'platform', platform, 'serial_number', serial_number, 'status', status,
      'added_at', added_at, 'removed_at', removed_at))
    from (select * from wallet_passes where purchase_id = ${purchaseId} order by created_at desc, id desc
      limit ${passesShown}))`)

export interface PurchaseForPass {
  id: string
  organization_id: string
  edition_id: string
  status: PurchaseStatus
  is_wallet_enabled: number
  has_pass_design: number
  is_archived: number
}

/** A purchase that the caller may see, and what decides whether it can become a pass. */
export async function findPurchaseForPass(ctx: Ctx, id: string): Promise<PurchaseForPass & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<PurchaseForPass>`select purchases.id, purchases.organization_id,
      purchases.edition_id, purchases.status, products.is_wallet_enabled,
      exists (select 1 from pass_designs where pass_designs.edition_id = purchases.edition_id
        and (pass_designs.product_id is null or pass_designs.product_id = products.id)) as has_pass_design,
      (select is_archived from editions where editions.id = purchases.edition_id) as is_archived
    from purchases join products on products.id = purchases.product_id
    where purchases.id = ${id}
      and ${visible(ctx.caller, visibilityOf(sql`purchases.organization_id`, sql`purchases.edition_id`))}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

export async function findPass(ctx: Ctx, purchaseId: string, id: string): Promise<PassRow & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<PassRow>`select * from wallet_passes
    where id = ${id} and purchase_id = ${purchaseId}
      and ${visible(ctx.caller, visibilityOf(sql`organization_id`, sql`edition_id`))}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

interface PassFilters {
  ordering: readonly OrderBy<'created'>[]
  platform?: WalletPlatform | undefined
  status?: WalletPassStatus | undefined
}

export const listPasses = (
  ctx: Ctx,
  purchaseId: string,
  page: PageRequest,
  { ordering, platform, status }: PassFilters,
): Promise<Page<PassRow>> =>
  paginate<PassRow>(ctx.db, page, {
    from: sql`wallet_passes`,
    key: sql`wallet_passes.id`,
    where: [
      sql`purchase_id = ${purchaseId}`,
      ...(platform ? [sql`platform = ${platform}`] : []),
      ...(status ? [sql`status = ${status}`] : []),
    ],
    sort: sortBy(ordering, 'created', { created: sql`created_at` }),
    columns: sql`wallet_passes.*`,
    joins: sql`join wallet_passes on wallet_passes.id = page.key`,
  })

export const activePass = (purchaseId: string, platform: WalletPlatform): SQL<PassRow> =>
  sql<PassRow>`select * from wallet_passes
    where purchase_id = ${purchaseId} and platform = ${platform} and status = 'active'`
