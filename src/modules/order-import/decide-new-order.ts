import { newPaymentStatus } from '../../domain/data-imports/imported-amounts.ts'
import { buildOrderText, isPaid } from '../../domain/orders/orders.ts'
import { expandItems } from '../../domain/orders/reconcile-purchases.ts'
import {
  orderColumns,
  type OrderDecision,
  type Placement,
  providerColumns,
  purchaseChanges,
  purchaseRows,
} from './order-rows.ts'
import { type DecisionContext, insertOf } from './writes.ts'

function orderRow(context: DecisionContext, placement: Placement, paymentId: string) {
  const { order, user, totals } = placement
  const { newId, now, source } = context
  const id = newId('order')
  const payment = newPaymentStatus(order.status, totals.total_minor, order.refunded_minor ?? 0)
  return {
    id,
    organization_id: context.edition.organization_id,
    edition_id: context.edition.id,
    user_id: user.id,
    ...orderColumns(context, placement, null),
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

function paymentRow(context: DecisionContext, { order, totals }: Placement, ids: { id: string; order_id: string }) {
  const refunded_minor = order.refunded_minor ?? 0
  return {
    ...ids,
    type: 'payment' as const,
    ...providerColumns(order.payment ?? { service: 'import', reference: null }),
    currency: order.currency,
    status: newPaymentStatus(order.status, totals.total_minor, refunded_minor),
    amount_minor: totals.total_minor,
    service_fee_minor: totals.service_fee_minor,
    handling_fee_minor: totals.handling_fee_minor,
    refunded_minor,
    created_at: order.created_at ?? context.now,
  }
}

/** A new order with its cart, its payment and one purchase a unit. */
export function decideNewOrder(context: DecisionContext, placement: Placement): OrderDecision {
  const { user, items } = placement
  const payment_id = context.newId('transaction')
  const row = orderRow(context, placement, payment_id)
  const { id } = row
  const units = expandItems(items)
  const bought = purchaseRows(context, { order: row, user }, units)
  return {
    order: { ...row, seq: 0 },
    writes: [
      ...insertOf('orders', [row]),
      ...insertOf('transactions', [paymentRow(context, placement, { id: payment_id, order_id: id })]),
      ...insertOf('purchases', bought),
    ],
    changes: bought.flatMap((purchase) => purchaseChanges(id, placement, purchase.status, [purchase])),
    grown: [...new Set([user.id, ...bought.map(({ user_id }) => user_id)])],
  }
}
