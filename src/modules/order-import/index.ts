export type { AddedCatalogue, OrderBefore, PersonBefore, RecordedOrder, UpdatedBefore } from './before.ts'
export type { NumberedOrder, Outcome } from './outcome.ts'
export { type ImportCtx, importOrders, type ImportRun } from './import-orders.ts'
