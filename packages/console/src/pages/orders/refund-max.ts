import type { Schema } from '../../api'

type Order = Schema['OrderDetail']

const toMinor = (amount: number): number => Math.round(amount * 100)

const paidStatuses: readonly Schema['Transaction']['status'][] = ['captured', 'partially_refunded']

/** Sums the rests of an order's payments, fees included. Amounts are added in hundredths, which have no fractions. */
export function sumRemainder({ transactions }: Pick<Order, 'transactions'>): number {
  const parts = transactions
    .filter(({ type, status }) => type === 'payment' && paidStatuses.includes(status))
    .map((payment) =>
      Math.max(0, toMinor(payment.amount) - toMinor(payment.refunded_amount) - toMinor(payment.pending_refund_amount)),
    )
  return parts.reduce((sum, part) => sum + part, 0) / 100
}

interface Ticket {
  status: Schema['Purchase']['status']
  price_paid: number
  deposit_paid: number
  handling_fee_paid: number
  refunded_amount: number
  pending_refund_amount: number
}

/** The most that a refund of the whole order can pay back. */
export const findOrderMax = (order: Order, withFees: boolean): number =>
  withFees ? sumRemainder(order) : order.max_available_refund_amount

/** The most that a refund of one ticket can pay back. */
export function findTicketMax(ticket: Ticket, order: Order, withFees: boolean): number {
  const isRefundable =
    ticket.status === 'active' ||
    ticket.status === 'used' ||
    (ticket.status === 'cancelled' && order.status === 'cancelled')
  if (!isRefundable) return 0
  const paid = toMinor(ticket.price_paid) + toMinor(ticket.deposit_paid)
  const fee = withFees ? toMinor(ticket.handling_fee_paid) : 0
  const remainder = paid + fee - toMinor(ticket.refunded_amount) - toMinor(ticket.pending_refund_amount)
  return Math.max(0, Math.min(remainder, toMinor(sumRemainder(order)))) / 100
}
