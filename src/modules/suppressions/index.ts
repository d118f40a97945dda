export { addressQuery, countSoftBounce, suppress, type SuppressedPlace, takeBackUnsubscription } from './change.ts'
export { hashedSuppressions, restoredSuppressions, suppressionSections } from './personal-data.ts'
export { deadAddressReason, listedSuppressionExclusion, suppressionExclusion, suppressionReasonOf } from './queries.ts'
