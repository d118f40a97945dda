import { decidePaymentStatus } from '../../domain/data-imports/imported-amounts.ts'
import { buildOrderText, isPaid } from '../../domain/orders/orders.ts'
import { expandItems } from '../../domain/orders/reconcile-purchases.ts'
import {
  buildOrderColumns,
  type OrderDecision,
  type ResolvedOrder,
  buildAccountColumns,
  buildProviderColumns,
  buildPurchaseChanges,
  buildPurchaseRows,
} from './order-rows.ts'
import { type DecisionContext, buildInsert } from './writes.ts'

function buildOrderRow(context: DecisionContext, resolvedOrder: ResolvedOrder, paymentId: string) {
  const { order, user, totals } = resolvedOrder
  const { newId, now, source } = context
  const id = newId('order')
  const payment = decidePaymentStatus(order.status, totals.total_minor, order.refunded_minor ?? 0)
  return {
    id,
    organization_id: context.edition.organization_id,
    edition_id: context.edition.id,
    user_id: user.id,
    ...buildOrderColumns(context, resolvedOrder, null),
    has_payment: isPaid(payment),
    type: 'imported' as const,
    currency: order.currency,
    completed_transaction_id: order.status === 'completed' ? paymentId : null,
    external_source: source,
    external_id: order.external_id,
    search_text: buildOrderText({ ...order, id }, [paymentId]),
    version: 1,
    created_at: order.created_at ?? now,
    modified_at: now,
  }
}

function buildPaymentRow(
  context: DecisionContext,
  { order, totals }: ResolvedOrder,
  ids: { id: string; order_id: string },
) {
  const refunded_minor = order.refunded_minor ?? 0
  return {
    ...ids,
    type: 'payment' as const,
    ...buildProviderColumns(order.payment ?? { service: 'import', reference: null }),
    ...buildAccountColumns(context),
    currency: order.currency,
    status: decidePaymentStatus(order.status, totals.total_minor, refunded_minor),
    amount_minor: totals.total_minor,
    service_fee_minor: totals.service_fee_minor,
    handling_fee_minor: totals.handling_fee_minor,
    refunded_minor,
    created_at: order.created_at ?? context.now,
  }
}

export function decideNewOrder(context: DecisionContext, resolvedOrder: ResolvedOrder): OrderDecision {
  const { user, items, countedItems, totals } = resolvedOrder
  const payment_id = context.newId('transaction')
  const row = buildOrderRow(context, resolvedOrder, payment_id)
  const { id } = row
  const units = expandItems(items, countedItems, totals.discount_minor)
  const purchases = buildPurchaseRows(context, { order: row, user }, units)
  return {
    order: { ...row, seq: 0, cancelled_at: null, cancelled_by: null },
    is_unchanged: false,
    writes: [
      ...buildInsert('orders', [row]),
      ...buildInsert('transactions', [buildPaymentRow(context, resolvedOrder, { id: payment_id, order_id: id })]),
      ...buildInsert('purchases', purchases),
    ],
    changes: purchases.flatMap((purchase) => buildPurchaseChanges(id, resolvedOrder, purchase.status, [purchase])),
  }
}
