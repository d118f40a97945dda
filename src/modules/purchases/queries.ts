import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildPurchaseRemainder } from '../../db/refunds.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { orders, purchases, purchaseUses, transactions } from '../../db/schema/sales/orders.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'
import { users } from '../../db/schema/users.ts'
import { decodeAs, fromJson, makeNullable, type RowOf, buildSelectList } from '../../db/select.ts'
import { type CustomerView, buildContactFields, viewCustomers } from '../../db/customers.ts'
import { buildVisibilityByEdition, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { selectWalletPasses } from '../wallet/index.ts'
import { boughtFieldsOf, boughtJoins } from './bought.ts'
import { type PurchaseUseRow, selectUses } from './uses/use-row.ts'

/** What each answer about a purchase shows of it, over `purchases` and `boughtJoins`. */
export const purchaseFields = {
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
  ...boughtFieldsOf(purchases),
}

/** A purchase with its holder and its order, over `shownJoins`. */
export const shownFields = (view: CustomerView) => ({
  ...purchaseFields,
  user_id: purchases.user_id,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  order_id: purchases.order_id,
  order_number: orders.order_number,
  /** The most that can be paid back, without fees. */
  rest_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, sql`${transactions}`)}`,
})

export const shownJoins = (view: CustomerView): SQL => sql`join ${orders} on ${orders.id} = ${purchases.order_id}
  join ${users} on ${users.id} = ${purchases.user_id} ${view.join}
  ${boughtJoins(purchases)}
  left join ${transactions} on ${transactions.order_id} = ${orders.id} and ${eq(transactions.type, 'payment')}`

/** Without its order, for the answer about that order. */
export type ShownPurchaseRow = Omit<PurchaseListRow, 'order_id' | 'order_number'>
export type PurchaseListRow = RowOf<ReturnType<typeof shownFields>>

export const purchaseVisibility = buildVisibilityByEdition(sql`${purchases.edition_id}`)

/** More are counted, and not shown. */
const shownUses = 50

/** The uses of a purchase. They need no check of the caller: the same batch reads the purchase with one. */
const usesOf = (purchaseId: string) =>
  selectUses()
    .where(eq(purchaseUses.purchase_id, purchaseId))
    .orderBy(desc(purchaseUses.used_at), desc(purchaseUses.id))
    .limit(shownUses)

/** More are listed by `GET /v1/refund-requests`. */
const shownRefunds = 20

export type RefundSummaryRow = Pick<RefundRow, 'id' | 'status' | 'requested_minor' | 'created_at'>

const refundsOf = (purchaseId: SQL) =>
  fromJson<RefundSummaryRow[]>(sql`(select coalesce(json_group_array(json_object('id', id, 'status', status,
      'requested_minor', requested_minor, 'created_at', created_at)), '[]')
    from (select refund_requests.id, status, requested_minor, created_at
      from refund_items cross join refund_requests on refund_requests.id = refund_items.refund_request_id
      where refund_items.purchase_id = ${purchaseId}
      order by refund_items.refund_request_id desc limit ${shownRefunds}))`)

const detailFields = (view: CustomerView) => ({
  ...shownFields(view),
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
  refund_requests: refundsOf(sql`${purchases.id}`),
})

type DetailFields = RowOf<ReturnType<typeof detailFields>>

export type PurchaseDetailRow = DetailFields & { tenant: Tenant; uses: PurchaseUseRow[] }

export async function findPurchase(ctx: Ctx, id: string): Promise<PurchaseDetailRow> {
  const view = viewCustomers(ctx.caller)
  const fields = detailFields(view)
  const found = decodeAs(
    fields,
    sql<DetailFields>`select ${buildSelectList(fields)} from ${purchases} ${shownJoins(view)}
      join ${editions} on ${editions.id} = ${purchases.edition_id}
      join ${organizations} on ${organizations.id} = ${editions.organization_id}
      where ${and(eq(purchases.id, id), isVisibleTo(ctx.caller, purchaseVisibility))}
      limit 1`,
  )
  const [[row], uses] = await ctx.db.batch([found, usesOf(id)])
  if (!row) throw notFound()
  return { ...row, uses, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
