import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  type ColumnSummary,
  dataImportStatuses,
  type StoredSource,
  importPhases,
  noColumns,
  noProducts,
  type PreviewTotals,
  type ProductSummary,
  type RememberedOption,
  type RowCounts,
  rowOutcomes,
  sourceOrigins,
  type StoredOptions,
} from '../../domain/data-imports/data-imports.ts'
import type { ImportPosition } from '../../domain/data-imports/import-position.ts'
import { type RestoredVersions, undoReasons } from '../../domain/data-imports/import-undo.ts'
import type { StoredResult } from '../../domain/orders/external-orders.ts'
import type { StoredFormat } from '../../domain/data-imports/files/format.ts'
import {
  columnQuestions,
  suggestionOrigins,
  type ColumnStatistics,
  type StagedValues,
  type StoredError,
  type StoredWarning,
  type Transform,
  type ValueMap,
} from '../../domain/data-imports/mapping/index.ts'

export const dataImports = sqliteTable('data_imports', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  account_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  source: text({ enum: ['csv', 'xlsx', 'api'] }).notNull(),
  external_source: text(),
  source_suggested_by: text({ enum: sourceOrigins }),
  uses_organization_memory: integer({ mode: 'boolean' }).notNull().default(false),
  status: text({ enum: dataImportStatuses }).notNull(),
  options: text({ mode: 'json' }).$type<StoredOptions>().notNull(),
  remembered_options: text({ mode: 'json' }).$type<readonly RememberedOption[]>(),
  total_rows: integer().notNull(),
  created_orders: integer().notNull(),
  updated_orders: integer().notNull(),
  skipped_orders: integer().notNull(),
  failed_orders: integer().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  file_id: text(),
  phase: text({ enum: importPhases }),
  epoch: integer().notNull().default(0),
  position: text({ mode: 'json' }).$type<ImportPosition>().notNull().default({}),
  heartbeat_at: integer(),
  format: text({ mode: 'json' }).$type<StoredFormat>(),
  canonical_size: integer(),
  detected_source: text({ mode: 'json' }).$type<StoredSource>(),
  valid_rows: integer().notNull().default(0),
  invalid_rows: integer().notNull().default(0),
  processed_rows: integer().notNull().default(0),
  total_orders: integer().notNull().default(0),
  error_code: text(),
  error_message: text(),
  started_at: integer(),
  completed_at: integer(),
  undo_until: integer(),
  undone_orders: integer().notNull().default(0),
  kept_orders: integer().notNull().default(0),
  shared_customer_orders: integer().notNull().default(0),
  stalls: integer().notNull().default(0),
  column_summary: text({ mode: 'json' }).$type<ColumnSummary>().notNull().default(noColumns),
  product_summary: text({ mode: 'json' }).$type<ProductSummary>().notNull().default(noProducts),
  search: text().notNull().default(''),
  files_deleted_at: integer(),
  rows_deleted_at: integer(),
  row_counts: text({ mode: 'json' }).$type<RowCounts>(),
  resume_key: text(),
  stored_results: text({ mode: 'json' }).$type<readonly StoredResult[]>(),
})

export const importColumns = sqliteTable(
  'import_columns',
  {
    import_id: text().notNull(),
    source_index: integer().notNull(),
    id: text().notNull(),
    source_column: text().notNull(),
    sample_values: text({ mode: 'json' }).$type<readonly string[]>().notNull().default([]),
    /** An empty object before the cells are counted. */
    statistics: text({ mode: 'json' }).$type<ColumnStatistics | { filled?: undefined }>().notNull().default({}),
    target_field: text(),
    target_position: integer().notNull().default(0),
    is_ignored: integer({ mode: 'boolean' }).notNull().default(false),
    is_suggested: integer({ mode: 'boolean' }).notNull().default(false),
    suggested_by: text({ enum: suggestionOrigins }),
    confidence: real().notNull().default(0),
    default_value: text(),
    transform: text({ mode: 'json' }).$type<Transform>().notNull().default({ type: 'none' }),
    value_map: text({ mode: 'json' }).$type<ValueMap>(),
    question: text({ enum: columnQuestions }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.source_index] })],
)

export const importConstants = sqliteTable(
  'import_constants',
  {
    import_id: text().notNull(),
    target_field: text().notNull(),
    value: text().notNull(),
    suggested_by: text({ enum: suggestionOrigins }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.target_field] })],
)

export const importHeaderHistory = sqliteTable(
  'import_header_history',
  {
    owner_id: text().notNull(),
    organization_id: text().notNull(),
    external_source: text().notNull(),
    header_key: text().notNull(),
    target_field: text(),
    target_position: integer().notNull(),
    default_value: text(),
    transform: text({ mode: 'json' }).$type<Transform>().notNull(),
    value_map: text({ mode: 'json' }).$type<ValueMap>(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.owner_id, table.external_source, table.header_key] })],
)

export const importSourceHistory = sqliteTable(
  'import_source_history',
  {
    owner_id: text().notNull(),
    organization_id: text().notNull(),
    external_source: text().notNull(),
    constants: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
    options: text({ mode: 'json' }).$type<StoredOptions>().notNull(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.owner_id, table.external_source] })],
)

export const importProductHistory = sqliteTable(
  'import_product_history',
  {
    edition_id: text().notNull(),
    product_key: text().notNull(),
    action: text({ enum: ['map', 'create', 'ignore'] }).notNull(),
    product_id: text(),
    variant_id: text(),
    location_id: text(),
    option_ids: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.product_key] })],
)

export const importRows = sqliteTable(
  'import_rows',
  {
    import_id: text().notNull(),
    row_number: integer().notNull(),
    file_line: integer().notNull(),
    byte_offset: integer().notNull(),
    byte_length: integer().notNull(),
    group_key: text(),
    data: text({ mode: 'json' }).$type<StagedValues>().notNull(),
    errors: text({ mode: 'json' }).$type<readonly StoredError[]>().notNull().default([]),
    warnings: text({ mode: 'json' }).$type<readonly StoredWarning[]>().notNull().default([]),
    outcome: text({ enum: rowOutcomes }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.row_number] })],
)

export const importOrders = sqliteTable(
  'import_orders',
  {
    import_id: text().notNull(),
    /** That of its first row. */
    number: integer().notNull(),
    group_key: text(),
    rows_count: integer().notNull(),
    outcome: text({ enum: rowOutcomes }),
    order_id: text(),
    order_version: integer(),
    undo_data: text(),
    undo_outcome: text({ enum: ['undone', 'kept'] }),
    undo_reason: text({ enum: undoReasons }),
    restored_versions: text({ mode: 'json' }).$type<RestoredVersions>(),
    errors: text().notNull().default('[]'),
    warnings: text().notNull().default('[]'),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.number] })],
)

export const importProducts = sqliteTable(
  'import_products',
  {
    import_id: text().notNull(),
    position: integer().notNull(),
    id: text().notNull(),
    product_key: text().notNull(),
    product: text().notNull(),
    name_key: text().notNull(),
    variant: text(),
    location: text(),
    options: text({ mode: 'json' }).$type<readonly string[]>().notNull().default([]),
    rows_count: integer().notNull(),
    action: text({ enum: ['map', 'create', 'ignore'] }),
    product_id: text(),
    variant_id: text(),
    location_id: text(),
    option_ids: text({ mode: 'json' }).$type<readonly string[]>().notNull().default([]),
    similar_product: text({ mode: 'json' }).$type<{ id: string; name: string }>(),
    is_suggested: integer({ mode: 'boolean' }).notNull().default(false),
    confidence: real().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.position] })],
)

export const importPreviews = sqliteTable('import_previews', {
  import_id: text().primaryKey(),
  version: integer().notNull(),
  last_number: integer().notNull(),
  totals: text({ mode: 'json' }).$type<PreviewTotals>().notNull(),
  lookalikes: integer().notNull(),
  counted_at: integer().notNull(),
})
