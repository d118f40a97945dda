import { lifecycle } from '../lifecycle.ts'

export const refundLifecycle = lifecycle('pending', {
  pending: ['approved', 'rejected', 'cancelled'],
  approved: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  // Providers may report a failure days after a success.
  completed: ['failed'],
  failed: ['approved'],
  rejected: [],
  cancelled: [],
})
export const refundStatuses = refundLifecycle.states
export type RefundStatus = (typeof refundStatuses)[number]

/** Statuses in which the amount is reserved: not paid back yet, and not available to other requests. */
export const reservedStatuses: readonly RefundStatus[] = ['pending', 'approved', 'processing']

export const refundTargets = ['purchase', 'order', 'transaction'] as const
export const refundSources = ['customer', 'admin', 'api', 'provider'] as const
export const refundReasons = [
  'customer_request',
  'event_cancelled',
  'event_changed',
  'duplicate',
  'fraud',
  'product_unavailable',
  'other',
] as const
export type RefundReason = (typeof refundReasons)[number]
