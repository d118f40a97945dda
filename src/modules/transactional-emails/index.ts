export {
  buildConfirmationEmail,
  buildReturnEmail,
  type Confirmation,
  findReturnRequest,
  isConfirmationRecent,
  isConfirmationWaiting,
  listReturning,
  selectConfirmationEmail,
} from './confirmations.ts'
export {
  buildReceiptStatements,
  loadReceiptState,
  pickReceiptMessage,
  planReceipt,
  type ReceiptOrder,
  receiptRaces,
  withholdReceipts,
} from './receipts.ts'
export { buildRefundEmailStatements } from './refunds.ts'
export { buildSignInCodeEmail, buildSignInEmailDeletion } from './sign-in-codes.ts'
export { buildSignupEmail, canAskAddress, deleteSignupEmails, deleteOldSignupEmails } from './signups.ts'
export { emailStateFields } from './contract.ts'
export { describeNewEmail, emailStateColumns, type EmailStateRow, presentEmailState } from './email-state.ts'
export { enqueueEmails } from './enqueue.ts'
export { chooseFrameSender, loadFrame, transactionalHeaders } from './frame.ts'
export {
  type ComposedTest,
  planTestEmails,
  selectTestTimes,
  type TestComposer,
  type TestReader,
} from './test-messages.ts'
export { recordLateSuccess, selectEmailWaits, selectEmailWork } from './claim.ts'
