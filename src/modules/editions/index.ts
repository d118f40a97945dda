export { checkHome, checkMove, homeStands } from './home.ts'
export { openEditions } from './open.ts'
export { type EditionSummaryRow, editionSummaryColumns, presentEditionSummary } from './summary.ts'
export { type EditionHome, reachedEdition, triggerStatements, typeInUse, useEmail } from './emails.ts'
