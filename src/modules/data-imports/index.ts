export { eraseInImports, buildUndoDataErasure } from './retention/erase.ts'
