export { type EditionSummaryRow, editionSummaryColumns, presentEditionSummary } from './summary.ts'
