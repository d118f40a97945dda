export { checkTenant, checkMove, tenantExists } from './tenant.ts'
export { openEditions } from './tenant.ts'
export { type EditionSummaryRow, editionSummaryFields, presentEditionOrNull, presentEditionSummary } from './summary.ts'
export { type TargetEdition, reachedEdition, typeInUse, assignEmail } from './emails.ts'
