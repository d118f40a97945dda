export { buildMappingErasure, buildUndoDataErasure, eraseInImports } from './retention/erase.ts'
