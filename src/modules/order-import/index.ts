export type { NumberedOrder, Outcome } from './outcome.ts'
export { importOrders, type ImportRun } from './import-orders.ts'
