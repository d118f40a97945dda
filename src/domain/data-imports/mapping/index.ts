export { ColumnCounter, mergeStatistics, statisticsOf, type ColumnStatistics } from './columns/statistics.ts'
export {
  groupings,
  transformTypes,
  type Grouping,
  type SuggestedMapping,
  type TargetMapping,
  type Transform,
  type ValueMap,
} from './mapping.ts'
export { suggestImport } from './presets/detect.ts'
export { groupKeyOf, toExternalOrder, type DecidedOrder } from './rows/order.ts'
export { prepareMappings, type PreparedMappings } from './rows/prepare.ts'
export { countTuples, mergeTuples, productKey, productOf, suggestProduct, type ProductTuple } from './rows/products.ts'
export { toWireOrder } from './rows/wire.ts'
export { decideRow, type PlacedRow, type StagedValues, type StoredError, type StoredWarning } from './rows/row.ts'
export { aliasTextsOf } from './targets/catalogue.ts'
export { targetFieldOf, targetFieldsOf } from './targets/fields.ts'
export { headerKey } from './targets/headers.ts'
