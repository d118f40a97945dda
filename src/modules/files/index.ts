export type { StoredFile } from './queries.ts'
export { fileReferences } from './references.ts'
export { openStoredObject, releaseContent } from './storage.ts'
