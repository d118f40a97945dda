import { AppError } from '../errors.ts'
import { formatMoney, toMajor } from '../money.ts'

/** Amounts are in minor units of the currency of each request; null means that there is no such rule. */
export interface RefundPolicy {
  /** The account that requested a refund may not approve it. */
  four_eyes: boolean
  /** The most that managers may approve. */
  manager_limit: number | null
  /** New requests are approved automatically while all refunds of the payment stay below this amount. */
  auto_approve_below: number | null
}

/** Rules that are not stored do not apply. */
export const readPolicy = (storedPolicy: Partial<RefundPolicy>): RefundPolicy => ({
  four_eyes: false,
  manager_limit: null,
  auto_approve_below: null,
  ...storedPolicy,
})

interface Review {
  amount_minor: number
  currency: string
  requested_by: string | null
  reviewer: string
  /** Admins have no limit. */
  isAdmin: boolean
}

/** Throws `four_eyes_required` or `above_limit` when the policy keeps the reviewer from approving. */
export function checkReview(policy: RefundPolicy, review: Review): void {
  if (policy.four_eyes && review.requested_by === review.reviewer)
    throw new AppError('four_eyes_required', 'Your account requested this refund, so another account must approve it.')
  const { manager_limit } = policy
  if (manager_limit !== null && !review.isAdmin && review.amount_minor > manager_limit)
    throw new AppError('above_limit', `Managers may approve up to ${formatMoney(manager_limit, review.currency)}.`, {
      extra: { manager_limit: toMajor(manager_limit), currency: review.currency },
    })
}

/**
 * True if a new request is approved automatically. `total` covers all requests for the payment, so splitting does not
 * help.
 */
export const isApprovedAutomatically = (policy: RefundPolicy, total: number): boolean =>
  policy.auto_approve_below !== null && total < policy.auto_approve_below
