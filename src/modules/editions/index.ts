export { openEditions } from './open.ts'
export { type EditionSummaryRow, editionSummaryColumns, presentEditionSummary } from './summary.ts'
