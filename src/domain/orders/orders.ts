import { AppError, maxRelatedObjects } from '../errors.ts'
import { lifecycle } from '../lifecycle.ts'
import { formatMoney } from '../money.ts'
import { buildSearchText, buildSortKey } from '../text/fold.ts'

export const orderLifecycle = lifecycle('pending', {
  pending: ['confirmed', 'completed', 'cancelled'],
  confirmed: ['completed', 'cancelled'],
  completed: ['cancelled'],
  cancelled: [],
})
export const orderStatuses = orderLifecycle.states
export type OrderStatus = (typeof orderStatuses)[number]

export const orderTypes = ['online', 'in-person', 'imported'] as const
export const cartStatuses = ['open', 'checkout', 'completed', 'abandoned', 'expired'] as const
export const transactionTypes = ['payment', 'refund', 'deposit_return', 'adjustment'] as const
export const transactionLifecycle = lifecycle('pending', {
  pending: ['authorized', 'captured', 'failed', 'cancelled'],
  authorized: ['captured', 'failed', 'cancelled'],
  captured: ['cancelled', 'partially_refunded', 'refunded'],
  failed: [],
  cancelled: [],
  // A refund that the provider reverses returns the payment to its earlier status.
  partially_refunded: ['refunded', 'captured'],
  refunded: ['partially_refunded', 'captured'],
})
export const transactionStatuses = transactionLifecycle.states
export type TransactionStatus = (typeof transactionStatuses)[number]
export const transactionServices = ['manual', 'test', 'import', 'stripe'] as const
export type TransactionService = (typeof transactionServices)[number]

/** The payment status of an imported order, by its order status. */
export const paymentStatusByOrderStatus: Record<OrderStatus, TransactionStatus> = {
  pending: 'pending',
  confirmed: 'authorized',
  completed: 'captured',
  cancelled: 'cancelled',
}

/** True if the payment was captured once, even if it was refunded since. */
export const wasCaptured = (status: TransactionStatus): boolean =>
  status === 'refunded' || transactionLifecycle.sourcesOf('refunded').includes(status)

export const capturedStatuses: readonly TransactionStatus[] = transactionStatuses.filter(wasCaptured)

/** Lists the statuses from which an order may set its payment to `target`, including `target` itself. */
export const listPaymentStatusesBefore = (target: TransactionStatus): TransactionStatus[] => [
  ...transactionLifecycle.sourcesOf(target).filter((status) => !wasCaptured(status) || !wasCaptured(target)),
  target,
]

/** Statuses in which a payment can be refunded. */
export const paidStatuses: readonly TransactionStatus[] = ['captured', 'partially_refunded']

/** The actions on an order that clients may offer. */
export const orderActions = ['refund', 'cancel', 'resend_receipt'] as const
export type OrderAction = (typeof orderActions)[number]

/** What a caller may accept when an order is cancelled. */
export const acceptableUses = ['used'] as const
type AcceptableUse = (typeof acceptableUses)[number]

/** Throws `invalid_transition` unless the order can be cancelled. */
export function checkCancellable(status: OrderStatus): void {
  if (orderLifecycle.allows(status, 'cancelled')) return
  throw new AppError('invalid_transition', `Order in status '${status}' cannot be cancelled.`, {
    extra: { current_status: status, allowed_transitions: orderLifecycle.targetsOf(status) },
  })
}

/** Throws `order_has_uses` if purchases were used, unless the caller accepts that. Reverted uses do not count. */
export function checkOrderUses(
  purchases: readonly { id: string; status: string; uses_count: number }[],
  accept: readonly AcceptableUse[],
): void {
  const usedPurchases = purchases.filter(({ status, uses_count }) => status === 'used' || uses_count > 0)
  if (usedPurchases.length === 0 || accept.includes('used')) return
  const count = usedPurchases.length === 1 ? 'A purchase' : `${usedPurchases.length} purchases`
  const detail = `${count} of this order ${usedPurchases.length === 1 ? 'was' : 'were'} used. Send \`accept: ["used"]\` to cancel it anyway.`
  throw new AppError('order_has_uses', detail, {
    extra: {
      used_purchases_count: usedPurchases.length,
      used_purchases: usedPurchases.slice(0, maxRelatedObjects).map(({ id }) => id),
    },
  })
}

export const isPaid = (status: string): boolean => (paidStatuses as readonly string[]).includes(status)

export interface PricedItem {
  quantity: number
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
}

export interface CartTotals {
  subtotal_minor: number
  deposit_minor: number
  handling_fee_minor: number
  service_fee_minor: number
  discount_minor: number
  tax_minor: number
  total_minor: number
}

/** Computes the totals of a cart. Prices include VAT of `vatRate` percent, and discounts lower the taxed amount. */
export function computeCartTotals(
  items: readonly PricedItem[],
  fees: { service_fee_minor: number; discount_minor: number },
  vatRate: number,
): CartTotals {
  const sum = (amount: (item: PricedItem) => number) =>
    items.reduce((total, item) => total + item.quantity * amount(item), 0)
  const subtotal_minor = sum((item) => item.price_minor)
  const deposit_minor = sum((item) => item.deposit_minor)
  const handling_fee_minor = sum((item) => item.handling_fee_minor)
  const taxedAmount = Math.max(0, subtotal_minor - fees.discount_minor)
  return {
    subtotal_minor,
    deposit_minor,
    handling_fee_minor,
    service_fee_minor: fees.service_fee_minor,
    discount_minor: fees.discount_minor,
    tax_minor: Math.round((taxedAmount * vatRate) / (100 + vatRate)),
    total_minor: subtotal_minor + deposit_minor + handling_fee_minor + fees.service_fee_minor - fees.discount_minor,
  }
}

export interface SummaryLine {
  key: string
  label: string
  amount_minor: number
  formatted: string
  is_negative: boolean
  is_total: boolean
  note: string
}

/** Builds the lines of a receipt. Lines of 0 are left out, except subtotal and total. */
export function buildSummaryLines(totals: CartTotals, currency: string): SummaryLine[] {
  const buildLine = (key: string, label: string, amount: number, note = ''): SummaryLine => ({
    key,
    label,
    amount_minor: amount,
    formatted: formatMoney(amount, currency),
    is_negative: amount < 0,
    is_total: key === 'total',
    note,
  })
  return [
    buildLine('subtotal', 'Subtotal', totals.subtotal_minor),
    buildLine('deposit', 'Deposit', totals.deposit_minor),
    buildLine('handling_fee', 'Handling fee', totals.handling_fee_minor),
    buildLine('service_fee', 'Service fee', totals.service_fee_minor),
    buildLine('discount', 'Discount', -totals.discount_minor),
    buildLine('tax', 'Tax', totals.tax_minor, 'Contained in the prices.'),
    buildLine('total', 'Total', totals.total_minor),
  ].filter(({ key, amount_minor }) => amount_minor !== 0 || key === 'subtotal' || key === 'total')
}

export const buildNumberKey = (orderNumber: string | null): string | null =>
  orderNumber === null ? null : buildSortKey(orderNumber)

export const buildOrderText = (
  { order_number, id, external_id }: { order_number: string | null; id: string; external_id: string | null },
  transactionIds: readonly string[],
): string => buildSearchText(order_number, id, external_id, ...transactionIds)
