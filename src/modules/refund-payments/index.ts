export { moveAmounts, requireUnchangedPurchases } from './amounts.ts'
export { buildCompletion } from './complete.ts'
export {
  buildRefundAnnouncements,
  buildRefundAudit,
  enqueueRefunds,
  loadPurchases,
  type RefundedPurchase,
  untriedPaymentColumns,
} from './refund.ts'
export { refundVisibility, selectRefundWaits } from './settle.ts'
