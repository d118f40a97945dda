import type { ExternalItem, ExternalOrder } from '../orders/external-orders.ts'
import {
  type CartTotals,
  type OrderStatus,
  listPaymentStatusesBefore,
  paymentStatusByOrderStatus,
  computeCartTotals,
  type TransactionStatus,
} from '../orders/orders.ts'

/** Splits a total to the cent. The first units cost one minor unit more if it cannot be divided. */
export function splitLine(totalMinor: number, quantity: number): { quantity: number; price_minor: number }[] {
  const price_minor = Math.floor(totalMinor / quantity)
  const unitsWithExtraCent = totalMinor - price_minor * quantity
  return [
    { quantity: unitsWithExtraCent, price_minor: price_minor + 1 },
    { quantity: quantity - unitsWithExtraCent, price_minor },
  ].filter((part) => part.quantity > 0)
}

type Priced = Pick<ExternalOrder, 'items' | 'status' | 'amount_minor' | 'service_fee_minor' | 'discount_minor'>

/**
 * Picks the items that make up an order's amount. Cancelled items count if they were paid: the source's total includes
 * them or, when it matches neither sum, something was refunded. They also count when the other items add up to less
 * than zero, and in a cancelled order that has no other items.
 */
export function pickCountedItems(
  order: Priced,
  vatRate: number,
  refundedMinor: number,
): { items: readonly ExternalItem[]; totals: CartTotals } {
  const withTotals = (items: readonly ExternalItem[]) => ({ items, totals: computeCartTotals(items, order, vatRate) })
  const all = withTotals(order.items)
  const countedItems = withTotals(order.items.filter((item) => item.status !== 'cancelled'))
  if ((order.status === 'cancelled' && countedItems.items.length === 0) || countedItems.totals.total_minor < 0)
    return all
  if (order.amount_minor === countedItems.totals.total_minor && order.amount_minor !== all.totals.total_minor)
    return countedItems
  return order.amount_minor === all.totals.total_minor || refundedMinor > 0 ? all : countedItems
}

export function decidePaymentStatus(
  status: OrderStatus,
  amountMinor: number,
  refundedMinor: number,
): TransactionStatus {
  if (refundedMinor === 0) return paymentStatusByOrderStatus[status]
  return refundedMinor < amountMinor ? 'partially_refunded' : 'refunded'
}

export interface PaymentAmounts {
  status: TransactionStatus
  amount_minor: number
  refunded_minor: number
  /** The amount that open refund requests reserve. */
  reserved_minor: number
}

export const sumRefundedAndReserved = (payment: Pick<PaymentAmounts, 'refunded_minor' | 'reserved_minor'>): number =>
  payment.refunded_minor + payment.reserved_minor

/** True if money of the payment went back, or is reserved for a refund. */
const hasRefunds = (payment: PaymentAmounts): boolean =>
  sumRefundedAndReserved(payment) > 0 || payment.status === 'partially_refunded' || payment.status === 'refunded'

/** Nothing can be paid back from such a payment. */
export const hasFailed = (status: TransactionStatus): boolean => status === 'failed' || status === 'cancelled'

export interface PaymentAfter {
  status: TransactionStatus
  amount_minor: number
  refunded_minor: number
}

/**
 * Decides a payment after its order is imported again, and whether it follows the order's amounts. A payment only goes
 * forward. Once money went back or is reserved for a refund, the amounts stay what was paid. The refunded amount never
 * decreases.
 */
export function decidePayment(
  payment: PaymentAmounts,
  order: { status: OrderStatus; amount_minor: number; refunded_minor: number | null },
): { payment: PaymentAfter; follows: boolean } {
  const { status, amount_minor, refunded_minor } = payment
  const refundedMinor = order.refunded_minor ?? 0
  const target = paymentStatusByOrderStatus[order.status]
  if (refundedMinor > refunded_minor && !hasFailed(status)) {
    const follows = !hasRefunds(payment)
    const amount = follows ? order.amount_minor : amount_minor
    const after = refundedMinor < amount ? 'partially_refunded' : 'refunded'
    return { payment: { status: after, amount_minor: amount, refunded_minor: refundedMinor }, follows }
  }
  return hasRefunds(payment) || !listPaymentStatusesBefore(target).includes(status)
    ? { payment: { status, amount_minor, refunded_minor }, follows: false }
    : { payment: { status: target, amount_minor: order.amount_minor, refunded_minor }, follows: true }
}
