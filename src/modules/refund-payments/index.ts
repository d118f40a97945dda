export { moveAmounts, requireUnchangedPurchases } from './amounts.ts'
export { buildCompletion } from './complete.ts'
export { enqueueRefunds } from './enqueue.ts'
export {
  buildRefundAnnouncements,
  buildRefundAudit,
  loadPurchases,
  type RefundedPurchase,
  untriedPaymentColumns,
} from './refund.ts'
export { refundVisibility, selectRefundWaits, selectRefundWork } from './settle.ts'
