export type { AddedCatalogue, OrderBefore, PersonBefore, RecordedOrder, UpdatedBefore } from './before.ts'
export type { GroupDecision } from './decide.ts'
export type { NumberedOrder, Outcome } from './outcome.ts'
export {
  type EngineCtx,
  importOrders,
  type ImportRun,
  type Plan,
  planGroup,
  previewGroup,
  races,
} from './import-orders.ts'
export { rowsOf } from './writes.ts'
export type { OrderRow } from './state.ts'
