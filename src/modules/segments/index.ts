export { addressOf, type Audience, audienceConditions, audienceReason, type Home as SegmentHome } from './audience.ts'
export { beginning as recalculation, type Calculation, findCalculation, type Step, stepOf } from './calculation.ts'
export { isWhole, type Member, membersAfter } from './members.ts'
export { presentSegmentSummary, type SegmentSummaryRow, segmentSummaryColumns } from './summary.ts'
