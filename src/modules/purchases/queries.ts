import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildContactFields, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { buildPurchaseRemainder } from '../../db/refunds.ts'
import type { RefundRow } from '../../db/rows.ts'
import { locations } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { purchases, purchaseUses } from '../../db/schema/purchases.ts'
import { decodeAs, fromJson, makeNullable, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { buildVisibilityByEdition, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { selectWalletPasses } from '../wallet/index.ts'
import { buildProductFields, buildProductJoins } from './product-fields.ts'

/** Fields that all answers about a purchase show, selected from `purchases` and `buildProductJoins`. */
export const purchaseSummaryFields = {
  id: purchases.id,
  vendor_code: purchases.vendor_code,
  status: purchases.status,
  price_minor: purchases.price_minor,
  deposit_minor: purchases.deposit_minor,
  handling_fee_minor: purchases.handling_fee_minor,
  uses_limit: purchases.uses_limit,
  uses_count: purchases.uses_count,
  is_unlimited_use: purchases.is_unlimited_use,
  valid_until: purchases.valid_until,
  created_at: purchases.created_at,
  modified_at: purchases.modified_at,
  ...buildProductFields(purchases),
}

/** A purchase with its holder and its order, selected from `buildPurchaseJoins`. */
export const buildPurchaseListFields = (view: CustomerView) => ({
  ...purchaseSummaryFields,
  user_id: purchases.user_id,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  order_id: purchases.order_id,
  order_number: orders.order_number,
  order_external_id: orders.external_id,
  /** The most that can be paid back, without fees. */
  remaining_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, sql`${transactions}`)}`,
})

export const buildPurchaseJoins = (
  view: CustomerView,
): SQL => sql`join ${orders} on ${orders.id} = ${purchases.order_id}
  join ${users} on ${users.id} = ${purchases.user_id} ${view.join}
  ${buildProductJoins(purchases)}
  left join ${transactions} on ${transactions.order_id} = ${orders.id} and ${eq(transactions.type, 'payment')}`

/** A purchase as part of the answer about its order. */
export type PurchaseSummaryRow = Omit<PurchaseListRow, 'order_id' | 'order_number' | 'order_external_id'>
export type PurchaseListRow = RowOf<ReturnType<typeof buildPurchaseListFields>>

export const purchaseVisibility = buildVisibilityByEdition(sql`${purchases.edition_id}`)

const maxListedUses = 50

const useFields = {
  id: purchaseUses.id,
  quantity: purchaseUses.quantity,
  location_id: purchaseUses.location_id,
  used_at: purchaseUses.used_at,
  reverted_at: purchaseUses.reverted_at,
  created_at: purchaseUses.created_at,
  location_name: makeNullable(locations.name),
  location_is_draft: makeNullable(locations.is_draft),
}

export type PurchaseUseRow = RowOf<typeof useFields>

export const selectUses = () =>
  select(useFields).from(purchaseUses).leftJoin(locations, eq(locations.id, purchaseUses.location_id))

/** The statement does not check the caller, because the purchase is read with a check in the same batch. */
const selectLatestUses = (purchaseId: string) =>
  selectUses()
    .where(eq(purchaseUses.purchase_id, purchaseId))
    .orderBy(desc(purchaseUses.used_at), desc(purchaseUses.id))
    .limit(maxListedUses)

/** `GET /v1/refund-requests` lists all of them. */
const maxListedRefunds = 20

export type RefundSummaryRow = Pick<RefundRow, 'id' | 'status' | 'requested_minor' | 'created_at'>

const buildRefundSummaries = (purchaseId: SQL) =>
  fromJson<RefundSummaryRow[]>(sql`(select coalesce(json_group_array(json_object('id', id, 'status', status,
      'requested_minor', requested_minor, 'created_at', created_at)), '[]')
    from (select refund_requests.id, status, requested_minor, created_at
      from refund_items cross join refund_requests on refund_requests.id = refund_items.refund_request_id
      where refund_items.purchase_id = ${purchaseId}
      order by refund_items.refund_request_id desc limit ${maxListedRefunds}))`)

const buildDetailFields = (view: CustomerView) => ({
  ...buildPurchaseListFields(view),
  ...editionSummaryFields,
  ...organizationSummaryFields,
  order_type: orders.type,
  order_status: orders.status,
  currency: orders.currency,
  transaction_id: makeNullable(transactions.id),
  refunded_minor: purchases.refunded_minor,
  reserved_minor: purchases.reserved_minor,
  metadata: purchases.metadata,
  wallet_passes: selectWalletPasses(sql`${purchases.id}`),
  refund_requests: buildRefundSummaries(sql`${purchases.id}`),
})

type DetailFields = RowOf<ReturnType<typeof buildDetailFields>>

export type PurchaseDetailRow = DetailFields & { tenant: Tenant; uses: PurchaseUseRow[] }

export async function findPurchase(ctx: Ctx, id: string): Promise<PurchaseDetailRow> {
  const view = viewCustomers(ctx.caller)
  const fields = buildDetailFields(view)
  const selectPurchase = decodeAs(
    fields,
    sql<DetailFields>`select ${buildSelectList(fields)} from ${purchases} ${buildPurchaseJoins(view)}
      join ${editions} on ${editions.id} = ${purchases.edition_id}
      join ${organizations} on ${organizations.id} = ${editions.organization_id}
      where ${and(eq(purchases.id, id), isVisibleTo(ctx.caller, purchaseVisibility))}
      limit 1`,
  )
  const [[row], uses] = await ctx.db.batch([selectPurchase, selectLatestUses(id)])
  if (!row) throw notFound()
  return { ...row, uses, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
