import { AppError, fieldError, invalid } from '../errors.ts'
import { type Currency, toMajor } from '../money.ts'
import { isPaid } from '../orders/orders.ts'
import { heldStatuses, isHeld, type PurchaseStatus } from '../orders/purchases.ts'
import { refundLifecycle, type RefundStatus } from './refunds.ts'

export const exceeds = (max_minor: number, currency: string): AppError => {
  const max = toMajor(max_minor)
  return new AppError('validation_error', '1 field is invalid.', {
    errors: [fieldError(['amount'], 'amount_exceeds_available', `At most ${max} ${currency.toUpperCase()}.`)],
    extra: { max_available_refund_amount: max, currency },
  })
}

/** Throws `amount_not_positive`: nothing is paid back only where a purchase is cancelled. */
export function checkPositive(amount: number, isCancelling: boolean): void {
  if (amount > 0 || (amount === 0 && isCancelling)) return
  const detail = isCancelling ? 'From 0.' : 'More than 0; 0 only together with cancel_purchase.'
  throw invalid(fieldError(['amount'], 'amount_not_positive', detail))
}

interface RefundableTarget {
  /** The status of the purchase; null for an order or a payment. */
  purchase_status: PurchaseStatus | null
  /** Null for an order without a payment. */
  payment_status: string | null
  /** The most that can be paid back. */
  max_minor: number
  currency: Currency
}

/** Throws `purchase_not_refundable`, `transaction_not_captured` or `nothing_to_refund`. */
function checkRefundable({ purchase_status, payment_status }: RefundableTarget): void {
  if (purchase_status === 'refunded') throw nothingToRefund()
  if (purchase_status !== null && !isHeld(purchase_status))
    throw new AppError('purchase_not_refundable', `Only a purchase that is ${heldStatuses.join(' or ')} is refunded.`, {
      extra: { current_status: purchase_status },
    })
  if (payment_status === 'refunded') throw nothingToRefund()
  if (payment_status === null || !isPaid(payment_status))
    throw new AppError('transaction_not_captured', 'Only a payment that was captured is paid back.', {
      extra: { current_status: payment_status },
    })
}

export const nothingToRefund = (): AppError =>
  new AppError('nothing_to_refund', 'All of it was paid back or is part of open refund requests.')

/** The amount of a new request: the requested amount, or all that is left. Throws the refusal. */
export function requestedAmount(target: RefundableTarget, asked: number | undefined, isCancelling: boolean): number {
  if (asked !== undefined) checkPositive(asked, isCancelling)
  checkRefundable(target)
  const { max_minor, currency } = target
  if (max_minor === 0 && asked !== 0) throw nothingToRefund()
  const amount = asked ?? max_minor
  if (amount > max_minor) throw exceeds(max_minor, currency)
  return amount
}

/** Throws `invalid_transition` unless the request can become `target`. */
export function checkTransition(status: RefundStatus, target: RefundStatus, what: string): void {
  if (refundLifecycle.allows(status, target)) return
  throw new AppError('invalid_transition', `Refund request in status '${status}' cannot be ${what}.`, {
    extra: { current_status: status, allowed_transitions: refundLifecycle.targetsOf(status) },
  })
}
