export { decideDates, type DateFormat } from './columns/date-format.ts'
export { decideNumbers, type FormatDecision, type NumberFormat } from './columns/number-format.ts'
export { columnCounter, mergeStatistics, statisticsOf, type ColumnStatistics } from './columns/statistics.ts'
export {
  groupings,
  leastConfidence,
  transformTypes,
  type Grouping,
  type MappedValue,
  type SuggestedMapping,
  type TargetMapping,
  type Transform,
  type ValueMap,
} from './mapping.ts'
export { suggestImport, type DetectedSource, type ImportSuggestion } from './presets/detect.ts'
export { groupKeyOf, toExternalOrder, type DecidedOrder, type OrderDecision } from './rows/order.ts'
export { prepareMappings, type PreparedMappings } from './rows/prepare.ts'
export { countTuples, mergeTuples, productKey, productOf, suggestProduct, type ProductTuple } from './rows/products.ts'
export { toWireOrder } from './rows/wire.ts'
export { decideRow, type DecidedRow, type PlacedRow, type RowError } from './rows/row.ts'
export { aliasTextsOf } from './targets/catalogue.ts'
export { targetFieldOf, targetFieldsOf, type TargetField } from './targets/fields.ts'
export { headerKey } from './targets/headers.ts'
