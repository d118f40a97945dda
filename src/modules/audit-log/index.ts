export { recordAudit } from './record.ts'
export { recordRefusedToken } from './record.ts'
