import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inWords } from '../../db/conditions.ts'
import type { OutageRow } from '../../db/outages.ts'
import { products } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import { fromFlag, fromJson, type RowOf, select } from '../../db/select.ts'
import { buildVisibilityByEdition, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { WalletPassStatus, WalletPlatform } from '../../domain/wallet/wallet.ts'

export type PassRow = typeof walletPasses.$inferSelect
export type PassSummaryRow = Pick<
  PassRow,
  'id' | 'provider' | 'platform' | 'serial_number' | 'status' | 'added_at' | 'removed_at'
>

export const passColumns = getTableColumns(walletPasses)

const maxListedPasses = 20

/** Selects the newest passes of a purchase, as one field of a query. */
export const selectWalletPasses = (purchaseId: SQL) =>
  fromJson<PassSummaryRow[]>(sql`(select json_group_array(json_object('id', id,
      'provider', provider, 'platform', platform, 'serial_number', serial_number, 'status', status,
      'added_at', added_at, 'removed_at', removed_at))
    from (select * from wallet_passes where purchase_id = ${purchaseId} order by created_at desc, id desc
      limit ${maxListedPasses}))`)

const purchaseFields = {
  id: purchases.id,
  organization_id: editions.organization_id,
  edition_id: purchases.edition_id,
  status: purchases.status,
  is_wallet_enabled: products.is_wallet_enabled,
  has_pass_design:
    fromFlag(sql`exists (select 1 from pass_designs where pass_designs.edition_id = ${purchases.edition_id}
    and (pass_designs.product_id is null or pass_designs.product_id = ${products.id}))`),
  is_archived: editions.is_archived,
  is_erased: fromFlag(sql`${users.erased_at} is not null`),
}

export type PurchaseForPass = RowOf<typeof purchaseFields>
export type LoadedPurchase = PurchaseForPass & { tenant: Tenant }

/** Finds a purchase together with everything that decides whether it can have a pass. */
export async function findPurchaseForPass(ctx: Ctx, id: string): Promise<LoadedPurchase> {
  const visibility = buildVisibilityByEdition(sql`${purchases.edition_id}`)
  const row = await ctx.db.first(
    select(purchaseFields)
      .from(purchases)
      .innerJoin(products, eq(products.id, purchases.product_id))
      .innerJoin(editions, eq(editions.id, purchases.edition_id))
      .innerJoin(users, eq(users.id, purchases.user_id))
      .where(and(eq(purchases.id, id), isVisibleTo(ctx.caller, visibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

export async function findPass(ctx: Ctx, purchaseId: string, id: string): Promise<PassRow & { tenant: Tenant }> {
  const visibility = buildVisibility(sql`${walletPasses.organization_id}`, sql`${walletPasses.edition_id}`)
  const row = await ctx.db.first(
    select(passColumns)
      .from(walletPasses)
      .where(
        and(eq(walletPasses.id, id), eq(walletPasses.purchase_id, purchaseId), isVisibleTo(ctx.caller, visibility)),
      ),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

const activeStatus: WalletPassStatus = 'active'

/** The status is a literal, because SQLite does not use a partial index for a bound value. */
export const selectActivePass = (purchaseId: string, platform: WalletPlatform) =>
  select(passColumns)
    .from(walletPasses)
    .where(
      and(
        eq(walletPasses.purchase_id, purchaseId),
        eq(walletPasses.platform, platform),
        inWords(sql`${walletPasses.status}`, [activeStatus]),
      ),
    )

const selectWaitingPass = (platform: WalletPlatform): SQL => sql`select * from (select platform as service,
    '' as resource_id, waiting_reason as reason, waiting_since as since, due_at as next_attempt_at
  from wallet_passes where platform = ${platform} and waiting_since is not null order by waiting_since limit 1)`

/** Selects the passes and editions that have waited for their platform longest. */
export const selectPassWaits: SQL<OutageRow> = sql`${selectWaitingPass('apple')}
  union all ${selectWaitingPass('google')}
  union all select * from (select 'google', '', waiting_reason, waiting_since, due_at from wallet_editions
    where waiting_since is not null order by waiting_since limit 1)`

export const selectPassWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'wallet_passes',
    from: sql`wallet_passes indexed by wallet_passes_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })

export const selectEditionWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'wallet_editions',
    from: sql`wallet_editions indexed by wallet_editions_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })
