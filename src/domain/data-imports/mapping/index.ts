export { mapCustomer, type MappedCustomer } from './customers/customer.ts'
export { detectListSource, suggestCustomers } from './customers/list-exports.ts'
export { ColumnCounter, mergeStatistics, countCells, type ColumnStatistics } from './columns/statistics.ts'
export {
  columnQuestions,
  groupings,
  leastConfidence,
  suggestionOrigins,
  toOrigin,
  transformTypes,
  type Grouping,
  type RowGrouping,
  type SuggestedMapping,
  type TargetMapping,
  type Transform,
  type ValueMap,
} from './mapping.ts'
export { detectSource, suggestImport } from './presets/detect.ts'
export { findQuestions } from './suggest/questions.ts'
export { recallMappings, type RememberedColumn } from './suggest/recall.ts'
export { getGroupKey, isLeftOut, mapOrder, type DecidedOrder } from './rows/order.ts'
export { prepareMappings, type PreparedMappings } from './rows/prepare.ts'
export {
  countTuples,
  mergeTuples,
  buildProductKey,
  indexProducts,
  readProduct,
  suggestProduct,
  type ProductTuple,
  indexSimilarNames,
} from './rows/products.ts'
export { buildContentKey, numberRow, readOccurrence } from './rows/row-keys.ts'
export { toWireOrder } from './rows/wire.ts'
export {
  decideRow,
  type DecidedRow,
  type PlacedRow,
  type StagedValues,
  type StoredError,
  type StoredWarning,
} from './rows/row.ts'
export { buildHeaderKey, buildHeaderKeys, isIdKey, isTotalHeader, listAliasTexts } from './targets/aliases.ts'
export { findTargetField, findTargetOfKind, buildTargetFields, listFixedFields } from './targets/fields.ts'
