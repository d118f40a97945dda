export { type ErasedPerson, eraseInImports } from './retention/erase.ts'
