export { authenticate, type RefusedUse } from './authenticate.ts'
