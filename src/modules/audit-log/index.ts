export { auditStatement } from './record.ts'
export { recordRefusedToken } from './record.ts'
