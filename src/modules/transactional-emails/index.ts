export {
  buildConfirmationEmail,
  buildReturnEmail,
  type Confirmation,
  findReturnRequest,
  isConfirmationRecent,
} from './confirmations.ts'
export { pickReceiptMessage, type ReceiptOrder, buildReceiptStatements } from './receipts.ts'
export { buildRefundEmailStatements } from './refunds.ts'
export { enqueueEmails } from './enqueue.ts'
export { recordLateSuccess, selectEmailWaits } from './claim.ts'
