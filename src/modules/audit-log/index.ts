export { hideContacts } from './erase.ts'
export { recordAudit, recordForOrganizations, recordRefusedToken } from './record.ts'
