export {
  buildRecipientSuppressions,
  countSoftBounce,
  selectSuppressedAddress,
  suppress,
  suppressListed,
  takeBackUnsubscription,
} from './change.ts'
export {
  hashSuppressions,
  hasSuppressionHashes,
  restoreSuppressions,
  buildSuppressionSections,
} from './personal-data.ts'
export {
  selectBulkSuppressionExclusion,
  selectSuppressionExclusion,
  selectChannelBlock,
  type HashedAddress,
  selectHashedSuppression,
  selectSuppression,
  selectUnsubscribedAt,
  findSuppressionReason,
} from './queries.ts'
