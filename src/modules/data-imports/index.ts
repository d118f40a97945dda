export { buildStoredResultsErasure, buildUndoDataErasure, eraseInImports } from './retention/erase.ts'
export { buildImportedRowsSection } from './retention/export-rows.ts'
export { presentValues } from './reports/present-values.ts'
export { eraseInMappings, mappingColumns } from './retention/erase-mappings.ts'
