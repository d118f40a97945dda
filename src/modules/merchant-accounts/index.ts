export { accessOf, accessOfStarted, accessOfWebhook, type MerchantAccount, type PaidThrough } from './access.ts'
