export { type ErasedPerson, eraseInImports, forgetForUndo } from './retention/erase.ts'
