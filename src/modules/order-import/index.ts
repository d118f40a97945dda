export { type AnnouncedOrder, buildOrderEvent, buildUserAnnouncements } from './announcements.ts'
export { PeopleResolver } from './decide-people.ts'
export type { AddedCatalogue, OrderRecord, PersonUndo, UndoData, UpdateUndo } from './undo-data.ts'
export { parseUndoData } from './undo-data.ts'
export type { GroupDecision } from './decide.ts'
export { checkOrder, type OrderEntry, type OrderOutcome } from './check.ts'
export {
  importOrders,
  type GroupPlan,
  type GroupRecord,
  type ImportRun,
  previewOrders,
  planGroup,
  previewGroup,
  races,
  readGroupInTransaction,
} from './import-orders.ts'
export { buildEditionValues, type ImportState, loadPeopleState, type UserRow } from './state.ts'
export { buildDetailStatements, buildImportStatements } from './statements.ts'
export { listInsertedRows, type PurchaseDetails, type Write } from './writes.ts'
