export { type ErasedPerson, eraseInImports, buildUndoDataErasure } from './retention/erase.ts'
