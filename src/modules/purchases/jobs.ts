export { sweepPurchases } from './expire.ts'
