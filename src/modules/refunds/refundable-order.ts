import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildContactFields, type CustomerView, viewCustomers } from '../../db/customers.ts'
import {
  buildOrderRemainder,
  buildPurchaseRemainder,
  buildPurchaseShare,
  buildReferenceTotal,
  buildSharedRemainder,
  isPaymentOfOtherEdition,
  isRefundable,
} from '../../db/refunds.ts'
import { products } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { refundItems, refundRequests } from '../../db/schema/refunds.ts'
import { decodeAs, fromFlag, makeNullable, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type PriceParts, splitAmount, type RemainingPrice } from '../../domain/refunds/refund-shares.ts'
import { refundStatuses, reservedStatuses, type refundTargets } from '../../domain/refunds/refunds.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { orderVisibility } from '../orders/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { purchaseEventFields, purchaseEventJoins, productImageList, purchaseVisibility } from '../purchases/index.ts'

export interface RefundTarget {
  kind: (typeof refundTargets)[number]
  id: string
}

const countedStatuses = [...reservedStatuses, ...refundStatuses.filter((status) => status === 'completed')]

const sumRefunded = (part: 'price_minor' | 'deposit_minor' | 'handling_fee_minor') =>
  sql<number>`coalesce((select sum(${refundItems[part]}) from ${refundItems}
    join ${refundRequests} on ${refundRequests.id} = ${refundItems.refund_request_id}
    where ${refundItems.purchase_id} = ${purchases.id}
      and ${inList(sql`${refundRequests.status}`, countedStatuses)}), 0)`

const selectOrderId = ({ kind, id }: RefundTarget): SQL => {
  if (kind === 'order') return sql`${id}`
  return kind === 'purchase'
    ? sql`(select order_id from purchases where id = ${id})`
    : sql`(select order_id from transactions where id = ${id} and type = 'payment')`
}

const payment = sql`${transactions}`
const isPayment = eq(transactions.type, 'payment')

type LoadOrderCtx = Pick<Ctx, 'db' | 'caller'>

const buildHeadFields = (view: CustomerView, fees: SQL) => ({
  order_id: orders.id,
  order_number: orders.order_number,
  order_external_id: orders.external_id,
  user_id: orders.user_id,
  currency: orders.currency,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  ...editionSummaryFields,
  ...organizationSummaryFields,
  is_archived: editions.is_archived,
  refund_policy: organizations.refund_policy,
  transaction_id: makeNullable(transactions.id),
  transaction_status: makeNullable(transactions.status),
  amount_minor: makeNullable(transactions.amount_minor),
  refunded_minor: makeNullable(transactions.refunded_minor),
  reserved_minor: makeNullable(transactions.reserved_minor),
  service: makeNullable(transactions.service),
  provider_reference: transactions.provider_reference,
  merchant_account_id: transactions.merchant_account_id,
  provider_account: transactions.provider_account,
  /** The amount that is refunded or reserved of all orders that share the reference of the payment. */
  reference_total_minor: sql<number | null>`${buildReferenceTotal(payment)}`,
  /** True if an order of another edition has the reference of the payment. */
  is_of_other_edition: fromFlag(
    isPaymentOfOtherEdition(
      sql`${orders.organization_id}`,
      sql`${orders.edition_id}`,
      sql`json_array(${transactions.provider_reference})`,
    ),
  ),
  remaining_minor: sql<number>`${buildOrderRemainder(sql`${orders.id}`, payment, fees)}`,
  /** The amount that all orders that share the payment have left together. Null when no provider pays refunds. */
  shared_minor: sql<number | null>`iif(exists (select 1 from merchant_accounts
    where id = ${transactions.merchant_account_id} and type <> 'manual'),
    ${buildSharedRemainder(payment, sql`${orders.edition_id}`)}, null)`,
})

type HeadRow = RowOf<ReturnType<typeof buildHeadFields>>

function selectHead(ctx: LoadOrderCtx, target: RefundTarget, fees: SQL) {
  const view = viewCustomers(ctx.caller)
  const fields = buildHeadFields(view, fees)
  return decodeAs(
    fields,
    sql<HeadRow>`select ${buildSelectList(fields)} from ${orders}
      join ${users} on ${users.id} = ${orders.user_id} ${view.join}
      join ${editions} on ${editions.id} = ${orders.edition_id}
      join ${organizations} on ${organizations.id} = ${orders.organization_id}
      left join ${transactions} on ${transactions.order_id} = ${orders.id} and ${isPayment}
      where ${orders.id} = ${selectOrderId(target)} and ${isVisibleTo(ctx.caller, orderVisibility)}
      limit 1`,
  )
}

const buildPurchaseFields = (fees: SQL) => ({
  ...purchaseEventFields,
  product_is_draft: products.is_draft,
  product_images: productImageList,
  status: purchases.status,
  price_minor: purchases.price_minor,
  deposit_minor: purchases.deposit_minor,
  handling_fee_minor: purchases.handling_fee_minor,
  refunded_minor: purchases.refunded_minor,
  reserved_minor: purchases.reserved_minor,
  status_before: sql<null>`null`,
  order_status: orders.status,
  is_refundable: fromFlag(isRefundable(sql`${purchases}`)),
  /** The amount that is left of the purchase; `remaining_minor` is at most what is left of its payment. */
  share_minor: sql<number>`${buildPurchaseShare(sql`${purchases}`, fees)}`,
  remaining_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, payment, fees)}`,
  /** The parts of the price that requests have paid back or reserved. */
  price_refunded: sumRefunded('price_minor'),
  deposit_refunded: sumRefunded('deposit_minor'),
  handling_fee_refunded: sumRefunded('handling_fee_minor'),
})

export type RefundablePurchase = RowOf<ReturnType<typeof buildPurchaseFields>>

function selectPurchases(target: RefundTarget, fees: SQL) {
  const { kind, id } = target
  const isTargeted = kind === 'purchase' ? eq(purchases.id, id) : sql`${purchases.order_id} = ${selectOrderId(target)}`
  const fields = buildPurchaseFields(fees)
  return decodeAs(
    fields,
    sql<RefundablePurchase>`select ${buildSelectList(fields)} from ${purchases} ${purchaseEventJoins}
      left join ${transactions} on ${transactions.order_id} = ${purchases.order_id} and ${isPayment}
      where ${isTargeted} order by ${purchases.id}`,
  )
}

/** An order with its payment, and the purchases that a request can pay back. */
export interface RefundableOrder extends HeadRow {
  tenant: Tenant
  purchases: RefundablePurchase[]
}

const computeSharedMax = ({ shared_minor }: Pick<HeadRow, 'shared_minor'>): number =>
  shared_minor === null ? Number.POSITIVE_INFINITY : Math.max(0, shared_minor)

/** Loads the orders of several targets in one batch. A target that the caller does not see is undefined. */
export async function loadRefundableOrders(
  ctx: LoadOrderCtx,
  targets: readonly RefundTarget[],
  includeFees: boolean,
): Promise<(RefundableOrder | undefined)[]> {
  const fees = includeFees ? sql`1` : sql`0`
  const groups = await ctx.db.batchGroups(
    targets.map((target) => [selectHead(ctx, target, fees), selectPurchases(target, fees)] as const),
  )
  return groups.map(([[head], purchaseRows]) => {
    if (!head) return undefined
    return {
      ...head,
      remaining_minor: Math.min(head.remaining_minor, computeSharedMax(head)),
      purchases: purchaseRows,
      tenant: { organization_id: head.organization_id, editions: [head.edition_id] },
    }
  })
}

export const loadRefundableOrder = async (
  ctx: LoadOrderCtx,
  target: RefundTarget,
  includeFees: boolean,
): Promise<RefundableOrder | undefined> => (await loadRefundableOrders(ctx, [target], includeFees))[0]

/** Computes the most that a request for the target can pay back. */
export const computeMaxAmount = (order: RefundableOrder, kind: RefundTarget['kind']): number =>
  kind === 'purchase'
    ? Math.min(order.purchases[0]?.remaining_minor ?? 0, computeSharedMax(order))
    : order.remaining_minor

/**
 * Computes the most that a request for the chosen purchases can pay back. Fees without a purchase belong to the whole order.
 */
export const computeRemainingAmount = (
  order: RefundableOrder,
  chosenPurchases: readonly RefundablePurchase[],
  isWholeOrder: boolean,
): number =>
  isWholeOrder
    ? order.remaining_minor
    : Math.min(
        order.remaining_minor,
        chosenPurchases.reduce((sum, { share_minor }) => sum + share_minor, 0),
      )

/** Splits what is left of a purchase into its parts. Imported refunds have no parts, so they reduce the price first. */
export function splitRemaining(purchase: RefundablePurchase): RemainingPrice {
  const remainingParts: PriceParts = {
    price_minor: Math.max(0, purchase.price_minor - purchase.price_refunded),
    deposit_minor: Math.max(0, purchase.deposit_minor - purchase.deposit_refunded),
    handling_fee_minor: Math.max(0, purchase.handling_fee_minor - purchase.handling_fee_refunded),
  }
  const refundedByRequests = purchase.price_refunded + purchase.deposit_refunded + purchase.handling_fee_refunded
  const refundedByImports = splitAmount(
    Math.max(0, purchase.refunded_minor + purchase.reserved_minor - refundedByRequests),
    remainingParts,
  )
  return {
    purchase_id: purchase.id,
    remaining_minor: purchase.share_minor,
    price_minor: remainingParts.price_minor - refundedByImports.price_minor,
    deposit_minor: remainingParts.deposit_minor - refundedByImports.deposit_minor,
    handling_fee_minor: Math.max(0, remainingParts.handling_fee_minor - refundedByImports.handling_fee_minor),
  }
}

/** Finds the tenant of a purchase, so that the caller is checked before anything else is read. */
export async function findPurchaseTenant(ctx: Ctx, id: string): Promise<{ purchase_id: string; tenant: Tenant }> {
  const row = await ctx.db.first(
    select({ organization_id: editions.organization_id, edition_id: editions.id })
      .from(purchases)
      .innerJoin(editions, eq(editions.id, purchases.edition_id))
      .where(and(eq(purchases.id, id), isVisibleTo(ctx.caller, purchaseVisibility))),
  )
  if (!row) throw notFound()
  return { purchase_id: id, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
