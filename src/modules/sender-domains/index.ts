export { capturedRecords } from './captured-records.ts'
export { isVerifiedSender } from './verified.ts'
