export { type Audience, buildExclusion, buildScope, selectAddress } from './calculation/audience.ts'
export { buildCalculationStart, continueCalculation, findCalculation, takeSteps } from './calculation/calculation.ts'
export { Segment } from './contract.ts'
export { createSegment } from './create.ts'
export { eraseInSegments } from './erase.ts'
export {
  isInRunningAudience,
  isReadable,
  listSegmentMembers,
  removeFromSegments,
  type SegmentMember,
} from './calculation/members.ts'
export { previewMembers } from './calculation/preview.ts'
export { presentSegment, presentSegmentSummary, segmentSummaryFields } from './present.ts'
export { type SegmentRow, selectCalculationWork } from './queries.ts'
