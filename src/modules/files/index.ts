export { fileVisibility, selectScanWork } from './queries.ts'
export { fileReferences } from './references.ts'
export { countBytes, releaseContent } from './storage.ts'
