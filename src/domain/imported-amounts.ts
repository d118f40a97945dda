import type { ExternalItem, ExternalOrder } from './external-orders.ts'
import {
  type CartTotals,
  type OrderStatus,
  paymentStatusesBefore,
  paymentStatusOf,
  totalsOf,
  type TransactionStatus,
} from './orders.ts'

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
 * The items that make an order's amount, and the amount. Cancelled items of an order that is not cancelled count where
 * they were paid: the source's own total says so, or, where that fits neither way, money was paid back.
 */
export function countedItems(
  order: Priced,
  vatRate: number,
  refundedMinor: number,
): { items: readonly ExternalItem[]; totals: CartTotals } {
  const counting = (items: readonly ExternalItem[]) => ({ items, totals: totalsOf(items, order, vatRate) })
  const all = counting(order.items)
  if (order.status === 'cancelled') return all
  const live = counting(order.items.filter((item) => item.status !== 'cancelled'))
  if (order.amount_minor === live.totals.total_minor && order.amount_minor !== all.totals.total_minor) return live
  return order.amount_minor === all.totals.total_minor || refundedMinor > 0 ? all : live
}

/** The status of a new order's payment of which that much was paid back. */
export function newPaymentStatus(status: OrderStatus, amountMinor: number, refundedMinor: number): TransactionStatus {
  if (refundedMinor === 0) return paymentStatusOf[status]
  return refundedMinor < amountMinor ? 'partially_refunded' : 'refunded'
}

export interface PaidBack {
  status: TransactionStatus
  amount_minor: number
  refunded_minor: number
}

const wasPaidBack = (status: TransactionStatus): boolean => status === 'partially_refunded' || status === 'refunded'

/** Whether the payment came to nothing, so that nothing can be paid back of it. */
export const isDead = (status: TransactionStatus): boolean => status === 'failed' || status === 'cancelled'

/**
 * A payment after its order was imported again with that status and amount, and whether it has the order's amounts. It
 * only goes forward; its amounts stay once money went back, because they are what was paid; and what went back never
 * becomes less.
 */
export function paymentAfter(
  { status, amount_minor, refunded_minor }: PaidBack,
  order: { status: OrderStatus; amount_minor: number; refunded_minor: number | null },
): PaidBack & { follows: boolean } {
  const refunded = Math.max(refunded_minor, order.refunded_minor ?? 0)
  if (refunded > refunded_minor && !isDead(status)) {
    const follows = !wasPaidBack(status)
    const amount = follows ? order.amount_minor : amount_minor
    const target = refunded < amount ? 'partially_refunded' : 'refunded'
    return { status: target, amount_minor: amount, refunded_minor: refunded, follows }
  }
  const target = paymentStatusOf[order.status]
  return paymentStatusesBefore(target).includes(status)
    ? { status: target, amount_minor: order.amount_minor, refunded_minor, follows: true }
    : { status, amount_minor, refunded_minor, follows: false }
}
