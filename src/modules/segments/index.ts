export { type Audience, buildExclusion, selectAddress } from './calculation/audience.ts'
export { buildCalculationStart, continueCalculation, findCalculation } from './calculation/calculation.ts'
export { isInRunningAudience, isReadable, listSegmentMembers, removeFromSegments } from './calculation/members.ts'
export { presentSegmentSummary, segmentSummaryFields } from './present.ts'
