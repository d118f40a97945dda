export { imageAddresses as presentImage } from '../../domain/files/files.ts'
export { findServedFile, type StoredFile } from './queries.ts'
export { fileReferences } from './references.ts'
export { derivedPrefix, openStoredObject } from './storage.ts'
