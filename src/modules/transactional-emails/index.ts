export { type Confirmation, confirmationStatements, isRecentlyAsked } from './confirmations.ts'
export { receiptMessageOf, type ReceiptOrder, receiptStatements } from './receipts.ts'
export { ringEmails } from './ring.ts'
export { sentAfterAll } from './claim.ts'
