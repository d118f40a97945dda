export { moveAmounts, purchasesAreAsRead } from './amounts.ts'
export { type Completion, completionStatements, type RefundChanges } from './complete.ts'
export { enqueueRefunds } from './enqueue.ts'
export { amountOf, purchasesOf, refundAnnouncements, type RefundedPurchase, type RefundRow } from './refund.ts'
