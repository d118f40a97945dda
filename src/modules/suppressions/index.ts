export { addressQuery, countSoftBounce, suppress, takeBackUnsubscription } from './change.ts'
export { hashedSuppressions, hasHashes, restoredSuppressions, suppressionSections } from './personal-data.ts'
export {
  listedSuppressionExclusion,
  suppressionExclusion,
  suppressionReasonAt,
  suppressionReasonOf,
} from './queries.ts'
export { suppressRecipients } from './suppress-recipients.ts'
