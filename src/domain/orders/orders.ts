import { fold, buildSearchText } from '../text/fold.ts'
import { lifecycle } from '../lifecycle.ts'
import { formatMoney } from '../money.ts'

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
  // A refund that its provider takes back leads to where the payment was before.
  partially_refunded: ['refunded', 'captured'],
  refunded: ['partially_refunded', 'captured'],
})
export const transactionStatuses = transactionLifecycle.states
export type TransactionStatus = (typeof transactionStatuses)[number]
export const transactionServices = ['manual', 'test', 'import', 'stripe'] as const
export type TransactionService = (typeof transactionServices)[number]

/** The status of the payment of an imported order, by the order's status. */
export const paymentStatusOf: Record<OrderStatus, TransactionStatus> = {
  pending: 'pending',
  confirmed: 'authorized',
  completed: 'captured',
  cancelled: 'cancelled',
}

/** Whether the order was paid once, also where it was paid back since. */
export const wasCaptured = (status: TransactionStatus): boolean =>
  status === 'refunded' || transactionLifecycle.sourcesOf('refunded').includes(status)

/** Statuses of a payment that was captured once. */
export const capturedStatuses: readonly TransactionStatus[] = transactionStatuses.filter(wasCaptured)

/** Statuses in which an order may set the status or the amounts of its payment: those before it, and itself. */
export const paymentStatusesBefore = (target: TransactionStatus): TransactionStatus[] => [
  ...transactionLifecycle.sourcesOf(target).filter((status) => !wasCaptured(status) || !wasCaptured(target)),
  target,
]

/** Statuses of a payment of which something can be paid back. */
export const paidStatuses: readonly TransactionStatus[] = ['captured', 'partially_refunded']

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

/** Amounts of a cart in minor units. `vatRate` in per cent is contained in the prices; discounts lower the taxed amount. */
export function totalsOf(
  items: readonly PricedItem[],
  fees: { service_fee_minor: number; discount_minor: number },
  vatRate: number,
): CartTotals {
  const sum = (amount: (item: PricedItem) => number) =>
    items.reduce((total, item) => total + item.quantity * amount(item), 0)
  const subtotal_minor = sum((item) => item.price_minor)
  const deposit_minor = sum((item) => item.deposit_minor)
  const handling_fee_minor = sum((item) => item.handling_fee_minor)
  const taxed = Math.max(0, subtotal_minor - fees.discount_minor)
  return {
    subtotal_minor,
    deposit_minor,
    handling_fee_minor,
    service_fee_minor: fees.service_fee_minor,
    discount_minor: fees.discount_minor,
    tax_minor: Math.round((taxed * vatRate) / (100 + vatRate)),
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

/** The cart as a receipt shows it: lines of nothing are left out, but for the first and the last. */
export function summaryLines(totals: CartTotals, currency: string): SummaryLine[] {
  const line = (key: string, label: string, amount: number, note = ''): SummaryLine => ({
    key,
    label,
    amount_minor: amount,
    formatted: formatMoney(amount, currency),
    is_negative: amount < 0,
    is_total: key === 'total',
    note,
  })
  return [
    line('subtotal', 'Subtotal', totals.subtotal_minor),
    line('deposit', 'Deposit', totals.deposit_minor),
    line('handling_fee', 'Handling fee', totals.handling_fee_minor),
    line('service_fee', 'Service fee', totals.service_fee_minor),
    line('discount', 'Discount', -totals.discount_minor),
    line('tax', 'Tax', totals.tax_minor, 'Contained in the prices.'),
    line('total', 'Total', totals.total_minor),
  ].filter(({ key, amount_minor }) => amount_minor !== 0 || key === 'subtotal' || key === 'total')
}

/**
 * What an order number is sorted by: folded, with the length of each number before its digits, so that A-2 sorts before
 *
 */
export const numberKey = (orderNumber: string | null): string | null =>
  orderNumber === null
    ? null
    : fold(orderNumber).replaceAll(/\d+/g, (digits) => {
        const number = digits.replace(/^0+(?=\d)/, '')
        return `${String(number.length).padStart(2, '0')}${number}`
      })

/** The text by which an order is found. */
export const buildOrderText = (
  { order_number, id, external_id }: { order_number: string | null; id: string; external_id: string | null },
  transactionIds: readonly string[],
): string => buildSearchText(order_number, id, external_id, ...transactionIds)
