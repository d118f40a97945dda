export { selectAddress, countSoftBounce, suppress, takeBackUnsubscription } from './change.ts'
export {
  hashSuppressions,
  hasSuppressionHashes,
  restoreSuppressions,
  buildSuppressionSections,
} from './personal-data.ts'
export {
  selectBulkSuppressionExclusion,
  selectSuppressionExclusion,
  selectSuppressionReason,
  findSuppressionReason,
} from './queries.ts'
export { suppressRecipients } from './suppress-recipients.ts'
