export { fileVisibility } from './queries.ts'
export { fileReferences } from './references.ts'
export { releaseContent } from './storage.ts'
