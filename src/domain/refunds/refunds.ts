import { lifecycle } from '../lifecycle.ts'

export const refundLifecycle = lifecycle('pending', {
  pending: ['approved', 'rejected', 'cancelled'],
  approved: ['processing', 'completed'],
  processing: ['completed', 'failed'],
  // A provider may report a failure days after the success.
  completed: ['failed'],
  failed: ['approved'],
  rejected: [],
  cancelled: [],
})
export const refundStatuses = refundLifecycle.states
export type RefundStatus = (typeof refundStatuses)[number]

/** Statuses in which the amount is reserved, so that other requests cannot have it. */
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
