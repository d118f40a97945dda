export { checkTenant, checkMove, requireTenant } from './tenant.ts'
export { openEditions } from './tenant.ts'
export { type EditionSummaryRow, editionSummaryFields, presentEditionOrNull, presentEditionSummary } from './summary.ts'
export { type TargetEdition, findReachedEdition, findTypeInUse, assignEmail } from './emails.ts'
