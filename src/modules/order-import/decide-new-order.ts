import { newPaymentStatus } from '../../domain/data-imports/imported-amounts.ts'
import { isPaid, orderSearch, ownSearch } from '../../domain/orders/orders.ts'
import { unitsOf } from '../../domain/orders/reconcile-purchases.ts'
import { contactSearch } from '../../domain/accounts/users.ts'
import {
  cartItemRows,
  orderColumns,
  type OrderDecision,
  type Placement,
  placeOf,
  providerColumns,
  purchaseChanges,
  purchaseRows,
} from './order-rows.ts'
import { type DecisionContext, insertOf } from './writes.ts'

/** The order's row, as far as its payment is known. */
function orderRow(context: DecisionContext, placement: Placement, transactionId: string) {
  const { order, user, totals, import_number } = placement
  const { newId, now, source, import_id } = context
  const id = newId('order')
  const own = ownSearch({ ...order, id }, [transactionId])
  const payment = newPaymentStatus(order.status, totals.total_minor, order.refunded_minor ?? 0)
  return {
    id,
    ...placeOf(context),
    user_id: user.id,
    ...orderColumns(placement),
    has_payment: isPaid(payment),
    type: 'imported' as const,
    currency: order.currency,
    completed_transaction_id: order.status === 'completed' ? transactionId : null,
    external_source: source,
    external_id: order.external_id,
    search_own: own,
    search: orderSearch(own, contactSearch(user)),
    version: 1,
    created_at: order.created_at ?? now,
    modified_at: now,
    import_id,
    import_number,
    counted_together: true,
  }
}

function paymentRow(context: DecisionContext, { order, totals }: Placement, orderId: string, id: string) {
  const refunded_minor = order.refunded_minor ?? 0
  return {
    id,
    order_id: orderId,
    organization_id: context.edition.organization_id,
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
  const { order, user, items, totals } = placement
  const transactionId = context.newId('transaction')
  const row = orderRow(context, placement, transactionId)
  const { id, created_at } = row
  const cart = { order_id: id, id: context.newId('cart'), status: 'completed' as const, coupon_code: order.coupon_code }
  const bought = purchaseRows(context, { order: row, user }, unitsOf(items))
  return {
    order: { ...row, seq: 0 },
    writes: [
      ...insertOf('orders', [row]),
      ...insertOf('carts', [{ ...cart, ...totals, created_at }]),
      ...insertOf('cartItems', cartItemRows(context, id, placement)),
      ...insertOf('transactions', [paymentRow(context, placement, id, transactionId)]),
      ...insertOf('purchases', bought),
    ],
    changes: bought.flatMap((purchase) => purchaseChanges(id, placement, purchase.status, [purchase])),
    grown: [...new Set([user.id, ...bought.map(({ user_id }) => user_id)])],
  }
}
