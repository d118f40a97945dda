import type { ExternalItem, ExternalOrder } from '../orders/external-orders.ts'
import {
  type CartTotals,
  type OrderStatus,
  listPaymentStatusesBefore,
  paymentStatusByOrderStatus,
  computeCartTotals,
  type TransactionStatus,
} from '../orders/orders.ts'

/** A line's total as units to the cent: the first ones cost one minor unit more where it cannot be divided. */
export function splitLine(totalMinor: number, quantity: number): { quantity: number; price_minor: number }[] {
  const price_minor = Math.floor(totalMinor / quantity)
  const dearer = totalMinor - price_minor * quantity
  return [
    { quantity: dearer, price_minor: price_minor + 1 },
    { quantity: quantity - dearer, price_minor },
  ].filter((part) => part.quantity > 0)
}

type Priced = Pick<ExternalOrder, 'items' | 'status' | 'amount_minor' | 'service_fee_minor' | 'discount_minor'>

/**
 * The items that make an order's amount, and the amount. Cancelled items count where they were paid: the source's own
 * total says so or, where that fits neither way, money was paid back. They count too where the others alone would make
 * less than nothing, and in a cancelled order that has no others.
 */
export function countedItems(
  order: Priced,
  vatRate: number,
  refundedMinor: number,
): { items: readonly ExternalItem[]; totals: CartTotals } {
  const counting = (items: readonly ExternalItem[]) => ({ items, totals: computeCartTotals(items, order, vatRate) })
  const all = counting(order.items)
  const live = counting(order.items.filter((item) => item.status !== 'cancelled'))
  if ((order.status === 'cancelled' && live.items.length === 0) || live.totals.total_minor < 0) return all
  if (order.amount_minor === live.totals.total_minor && order.amount_minor !== all.totals.total_minor) return live
  return order.amount_minor === all.totals.total_minor || refundedMinor > 0 ? all : live
}

/** The status of a new order's payment, by its refunded amount. */
export function newPaymentStatus(status: OrderStatus, amountMinor: number, refundedMinor: number): TransactionStatus {
  if (refundedMinor === 0) return paymentStatusByOrderStatus[status]
  return refundedMinor < amountMinor ? 'partially_refunded' : 'refunded'
}

export interface PaymentAmounts {
  status: TransactionStatus
  amount_minor: number
  refunded_minor: number
  /** The amount that open refund requests have reserved. */
  reserved_minor: number
}

/** The refunded and reserved amounts of a payment. */
export const takenBack = (payment: Pick<PaymentAmounts, 'refunded_minor' | 'reserved_minor'>): number =>
  payment.refunded_minor + payment.reserved_minor

/** Whether refunds depend on the amounts of a payment. */
const isSettled = (payment: PaymentAmounts): boolean =>
  takenBack(payment) > 0 || payment.status === 'partially_refunded' || payment.status === 'refunded'

/** Whether the payment failed, so that nothing of it can be paid back. */
export const isDead = (status: TransactionStatus): boolean => status === 'failed' || status === 'cancelled'

export interface PaymentAfter {
  status: TransactionStatus
  amount_minor: number
  refunded_minor: number
}

/**
 * A payment after its order was imported again with that status and amount, and whether it has the order's amounts. It
 * only goes forward; once money went back or is reserved for a refund, its amounts stay, because they are what was
 * paid; and what went back never becomes less.
 */
export function paymentAfter(
  payment: PaymentAmounts,
  order: { status: OrderStatus; amount_minor: number; refunded_minor: number | null },
): { payment: PaymentAfter; follows: boolean } {
  const { status, amount_minor, refunded_minor } = payment
  const refunded = order.refunded_minor ?? 0
  const target = paymentStatusByOrderStatus[order.status]
  if (refunded > refunded_minor && !isDead(status)) {
    const follows = !isSettled(payment)
    const amount = follows ? order.amount_minor : amount_minor
    const after = refunded < amount ? 'partially_refunded' : 'refunded'
    return { payment: { status: after, amount_minor: amount, refunded_minor: refunded }, follows }
  }
  return isSettled(payment) || !listPaymentStatusesBefore(target).includes(status)
    ? { payment: { status, amount_minor, refunded_minor }, follows: false }
    : { payment: { status: target, amount_minor: order.amount_minor, refunded_minor }, follows: true }
}
