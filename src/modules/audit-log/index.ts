export { hideContacts } from './erase.ts'
export { recordAudit } from './record.ts'
export { recordRefusedToken } from './record.ts'
