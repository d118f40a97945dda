export { auditStatement } from './record.ts'
export { recordRefusedToken } from './refused-tokens.ts'
