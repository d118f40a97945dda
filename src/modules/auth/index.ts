export { authenticate, isOneOfSecrets, readBearerToken, type RefusedUse } from './authenticate.ts'
