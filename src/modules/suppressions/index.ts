export {
  buildRecipientSuppressions,
  countSoftBounce,
  selectSuppressedAddress,
  suppress,
  suppressListed,
  takeBackUnsubscription,
} from './change.ts'
export { type ReplacedAddress, suppressNewAddress } from './merge.ts'
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
