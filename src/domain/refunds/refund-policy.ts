import { AppError } from '../errors.ts'
import { formatMoney, toMajor } from '../money.ts'

/** Amounts in minor units, of the currency of each request; null for no such rule. */
export interface RefundPolicy {
  /** The account that requested a refund may not approve it. */
  four_eyes: boolean
  /** The most that a manager approves. */
  manager_limit: number | null
  /** While all refunds of a payment stay below this, new requests are approved at once. */
  auto_approve_below: number | null
}

/** As it is stored: what is missing is not demanded. */
export const readPolicy = (stored: Partial<RefundPolicy>): RefundPolicy => ({
  four_eyes: false,
  manager_limit: null,
  auto_approve_below: null,
  ...stored,
})

interface Review {
  amount_minor: number
  currency: string
  requested_by: string | null
  reviewer: string
  /** Whether the reviewer is an admin there; managers have a limit. */
  isAdmin: boolean
}

/** Throws `four_eyes_required` or `above_limit` when the policy keeps the reviewer from approving. */
export function checkReview(policy: RefundPolicy, review: Review): void {
  if (policy.four_eyes && review.requested_by === review.reviewer)
    throw new AppError('four_eyes_required', 'Another account than the one that requested this refund must approve it.')
  const { manager_limit } = policy
  if (manager_limit !== null && !review.isAdmin && review.amount_minor > manager_limit)
    throw new AppError('above_limit', `Managers approve up to ${formatMoney(manager_limit, review.currency)}.`, {
      extra: { manager_limit: toMajor(manager_limit), currency: review.currency },
    })
}

/**
 * Whether a new request is approved at once. All requests for the payment count together: many small
 * requests are not a way round a review.
 */
export const isApprovedAtOnce = (policy: RefundPolicy, askedOfPayment: number): boolean =>
  policy.auto_approve_below !== null && askedOfPayment < policy.auto_approve_below
