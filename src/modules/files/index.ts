export type { StoredFile } from './queries.ts'
export { fileReferences } from './references.ts'
export { openStoredObject } from './storage.ts'
