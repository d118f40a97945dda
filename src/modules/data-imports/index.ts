export { buildStoredResultsErasure, buildUndoDataErasure, eraseInImports } from './retention/erase.ts'
export { eraseInMappings, mappingColumns } from './retention/erase-mappings.ts'
