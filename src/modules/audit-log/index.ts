export { hideContacts } from './erase.ts'
export { type ErasedPerson, recordAudit, recordErasure, recordForOrganizations, recordRefusedToken } from './record.ts'
