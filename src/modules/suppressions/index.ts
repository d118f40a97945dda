export { addressQuery, countSoftBounce, suppress, type SuppressedPlace, takeBackUnsubscription } from './change.ts'
export { hashedSuppressions, restoredSuppressions, suppressionSections } from './personal-data.ts'
export {
  listedSuppressionExclusion,
  suppressionExclusion,
  suppressionReasonAt,
  suppressionReasonOf,
} from './queries.ts'
