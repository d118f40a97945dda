/** What happened with an order or a customer. */
export const activityKinds = [
  'order_created',
  'order_imported',
  'order_cancelled',
  'purchase_used',
  'purchase_use_reverted',
  'refund_requested',
  'refund_approved',
  'refund_rejected',
  'refund_cancelled',
  'refund_completed',
  'refund_failed',
  'pass_issued',
  'pass_added',
  'pass_voided',
  'consent',
  'email',
  'campaign',
  'campaign_opened',
  'campaign_clicked',
] as const
export type ActivityKind = (typeof activityKinds)[number]
