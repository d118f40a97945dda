export { createCapturedRecords } from './captured-records.ts'
export { isVerifiedSender } from './queries.ts'
