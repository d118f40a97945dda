import { AppError, describeErrors, fieldError, invalid } from '../errors.ts'
import { type Currency, toMajor } from '../money.ts'
import { capturedStatuses, isPaid } from '../orders/orders.ts'
import { heldStatuses, isHeld, type PurchaseStatus } from '../orders/purchases.ts'
import { refundLifecycle, type RefundStatus } from './refunds.ts'

export const buildExceedsError = (max_minor: number, currency: string): AppError => {
  const max = toMajor(max_minor)
  const errors = [
    fieldError(['amount'], 'amount_exceeds_available', `At most ${max} ${currency.toUpperCase()} can be refunded.`),
  ]
  return new AppError('validation_error', describeErrors(errors), {
    errors,
    extra: { max_available_refund_amount: max, currency },
  })
}

/** Throws `amount_not_positive`. Only a request that cancels a purchase may have an amount of 0. */
export function checkPositive(amount: number, isCancelling: boolean): void {
  if (amount > 0 || (amount === 0 && isCancelling)) return
  const detail = isCancelling
    ? 'The amount must be 0 or more.'
    : 'The amount must be more than 0. An amount of 0 needs `cancel_purchase`.'
  throw invalid(fieldError(['amount'], 'amount_not_positive', detail))
}

interface RefundLimits {
  /** The purchase that is refunded; null for an order or a payment. */
  purchase: { status: PurchaseStatus; is_refundable: boolean } | null
  /** Null for an order without a payment. */
  payment_status: string | null
  /** The most that can be paid back. */
  max_minor: number
  currency: Currency
}

/** Throws `purchase_not_refundable`, `transaction_not_captured` or `nothing_to_refund`. */
function checkRefundable({ purchase, payment_status }: RefundLimits): void {
  if (purchase?.status === 'refunded') throw nothingToRefund()
  const isVoid = payment_status === null || !capturedStatuses.some((status) => status === payment_status)
  if (purchase && (!purchase.is_refundable || (!isHeld(purchase.status) && isVoid)))
    throw new AppError(
      'purchase_not_refundable',
      `Only purchases that are ${heldStatuses.join(' or ')}, or cancelled with their order, can be refunded.`,
      { extra: { current_status: purchase.status } },
    )
  if (payment_status === 'refunded') throw nothingToRefund()
  if (payment_status === null || !isPaid(payment_status))
    throw new AppError('transaction_not_captured', 'Only captured payments can be refunded.', {
      extra: { current_status: payment_status },
    })
}

export const nothingToRefund = (): AppError =>
  new AppError('nothing_to_refund', 'Everything has been refunded or is part of open refund requests.')

/**
 * Chooses the amount of a request: the requested amount, or by default everything that is left. Throws when there is
 * less.
 */
export function chooseAmount(limits: RefundLimits, requestedAmount: number | undefined, isCancelling: boolean): number {
  if (requestedAmount !== undefined) checkPositive(requestedAmount, isCancelling)
  checkRefundable(limits)
  const { max_minor, currency } = limits
  if (max_minor === 0 && requestedAmount !== 0) throw nothingToRefund()
  const amount = requestedAmount ?? max_minor
  if (amount > max_minor) throw buildExceedsError(max_minor, currency)
  return amount
}

/**
 * Throws `invalid_transition` unless the request can become `target`. `participle` completes the error: cannot be ….
 */
export function checkRefundTransition(status: RefundStatus, target: RefundStatus, participle: string): void {
  if (refundLifecycle.allows(status, target)) return
  throw new AppError('invalid_transition', `Refund request in status '${status}' cannot be ${participle}.`, {
    extra: { current_status: status, allowed_transitions: refundLifecycle.targetsOf(status) },
  })
}
