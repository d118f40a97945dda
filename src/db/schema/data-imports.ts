// npm run schema makes this file from migrations/0012_data_imports.sql and src/db/column-types.ts.
//
// Data imports. An import reads its file into a canonical copy, has columns and products mapped, stages its rows, and
// then makes orders of them.

import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** An import of a file or of a list of external orders. External orders bring no file. */
export const dataImports = sqliteTable('data_imports', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  account_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  /** orders or customers. The counts of orders are counts of customers in an import of customers. */
  kind: text({ enum: types.data_imports.kind }).notNull().default('orders'),
  source: text({ enum: types.data_imports.source }).notNull(),
  external_source: text(),
  /** Where external_source comes from: memory, preset, headers; null if the user set it or it is open. */
  source_suggested_by: text({ enum: types.data_imports.source_suggested_by }),
  /** True if a role of the organization began the reading, so that it may take over what any edition remembers. */
  uses_organization_memory: integer({ mode: 'boolean' }).notNull().default(false),
  detected_source: text({ mode: 'json' }).$type<typeof types.data_imports.detected_source.value>(),
  search: text().notNull().default(''),
  status: text({ enum: types.data_imports.status }).notNull(),
  /** The background work that runs; null while there is none. */
  phase: text({ enum: types.data_imports.phase }),
  /** Rises with every start of background work. Writes of an earlier start have no effect. */
  epoch: integer().notNull().default(0),
  /** Where background work continues: JSON of the phase. */
  position: text({ mode: 'json' }).$type<typeof types.data_imports.position.value>().notNull().default({}),
  /** When background work was last alive; null while there is none. */
  heartbeat_at: integer(),
  /**
   * The number of times that background work was restarted since its last step. An import that makes no progress
   * fails.
   */
  stalls: integer().notNull().default(0),
  file_id: text(), // references files (id)
  /** The format of the file (JSON), and the size of its canonical copy in the file store. */
  format: text({ mode: 'json' }).$type<typeof types.data_imports.format.value>(),
  canonical_size: integer(),
  options: text({ mode: 'json' }).$type<typeof types.data_imports.options.value>().notNull(),
  /** The options that were taken from an earlier import (JSON list); null until the file was read. */
  remembered_options: text({ mode: 'json' }).$type<typeof types.data_imports.remembered_options.value>(),
  /** A summary of the mappings for lists, written with each change of them. */
  column_summary: text({ mode: 'json' })
    .$type<typeof types.data_imports.column_summary.value>()
    .notNull()
    .default({ total: 0, mapped: 0, ignored: 0, missing_required: [] }),
  product_summary: text({ mode: 'json' })
    .$type<typeof types.data_imports.product_summary.value>()
    .notNull()
    .default({ total: 0, mapped: 0, ignored: 0, unmapped: 0 }),
  total_rows: integer().notNull(),
  valid_rows: integer().notNull().default(0),
  invalid_rows: integer().notNull().default(0),
  processed_rows: integer().notNull().default(0),
  /** Rows by outcome, as JSON; null where they were not counted. */
  row_counts: text({ mode: 'json' }).$type<typeof types.data_imports.row_counts.value>(),
  total_orders: integer().notNull().default(0),
  created_orders: integer().notNull(),
  updated_orders: integer().notNull(),
  skipped_orders: integer().notNull(),
  failed_orders: integer().notNull(),
  error_code: text(),
  error_message: text(),
  /** Until when the import can be undone; null where there is nothing to undo. */
  undo_until: integer(),
  undone_orders: integer().notNull().default(0),
  kept_orders: integer().notNull().default(0),
  /** Undone orders whose customers kept data of the organization, which the caller of the undo may not change. */
  shared_customer_orders: integer().notNull().default(0),
  started_at: integer(),
  completed_at: integer(),
  /** When the file and its canonical copy were deleted, and when the staged rows were. */
  files_deleted_at: integer(),
  rows_deleted_at: integer(),
  /**
   * A key that all requests with one Idempotency-Key share, while a call with several transactions is not finished.
   */
  resume_key: text(),
  /** The orders that an unfinished call has stored (JSON list of results). */
  stored_results: text({ mode: 'json' }).$type<typeof types.data_imports.stored_results.value>(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** One row per column of the file. */
export const importColumns = sqliteTable(
  'import_columns',
  {
    import_id: text().notNull(), // references data_imports (id)
    source_index: integer().notNull(),
    id: text().notNull(),
    source_column: text().notNull(),
    sample_values: text({ mode: 'json' })
      .$type<typeof types.import_columns.sample_values.value>()
      .notNull()
      .default([]),
    /** Statistics about the cells of the column; an empty object before they are counted. */
    statistics: text({ mode: 'json' }).$type<typeof types.import_columns.statistics.value>().notNull().default({}),
    target_field: text(),
    /**
     * The place of this column among those with its target: a date before its time, a first name before a last name.
     */
    target_position: integer().notNull().default(0),
    is_ignored: integer({ mode: 'boolean' }).notNull().default(false),
    is_suggested: integer({ mode: 'boolean' }).notNull().default(false),
    /** Where a suggestion comes from: memory, preset, header, values; null without one. */
    suggested_by: text({ enum: types.import_columns.suggested_by }),
    confidence: real().notNull().default(0),
    default_value: text(),
    transform: text({ mode: 'json' })
      .$type<typeof types.import_columns.transform.value>()
      .notNull()
      .default({ type: 'none' }),
    value_map: text({ mode: 'json' }).$type<typeof types.import_columns.value_map.value>(),
    /** The question to the user about the column: order_id, status; null without a question. */
    question: text({ enum: types.import_columns.question }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.source_index] })],
)

/** Target fields that get the same value in every row. */
export const importConstants = sqliteTable(
  'import_constants',
  {
    import_id: text().notNull(), // references data_imports (id)
    target_field: text().notNull(),
    value: text().notNull(),
    suggested_by: text({ enum: types.import_constants.suggested_by }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.target_field] })],
)

/**
 * The last mapping of each header of a source by its owner, an edition or its organization. A header that a file
 * has twice has two keys.
 */
export const importHeaderHistory = sqliteTable(
  'import_header_history',
  {
    owner_id: text().notNull(),
    organization_id: text().notNull(), // references organizations (id)
    /** orders or customers. */
    kind: text({ enum: types.import_header_history.kind }).notNull().default('orders'),
    external_source: text().notNull(),
    header_key: text().notNull(),
    /** Null for a column that was not mapped, and empty for one that was ignored. */
    target_field: text(),
    target_position: integer().notNull(),
    default_value: text(),
    transform: text({ mode: 'json' }).$type<typeof types.import_header_history.transform.value>().notNull(),
    value_map: text({ mode: 'json' }).$type<typeof types.import_header_history.value_map.value>(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.owner_id, table.kind, table.external_source, table.header_key] })],
)

/** The constants and options of the last import of a source, by the edition or organization that remembers them. */
export const importSourceHistory = sqliteTable(
  'import_source_history',
  {
    owner_id: text().notNull(),
    organization_id: text().notNull(), // references organizations (id)
    /** orders or customers. */
    kind: text({ enum: types.import_source_history.kind }).notNull().default('orders'),
    external_source: text().notNull(),
    constants: text({ mode: 'json' }).$type<typeof types.import_source_history.constants.value>().notNull(),
    options: text({ mode: 'json' }).$type<typeof types.import_source_history.options.value>().notNull(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.owner_id, table.kind, table.external_source] })],
)

/** The last decision of an edition's users about a product of a file. Ids of the catalogue may be deleted since. */
export const importProductHistory = sqliteTable(
  'import_product_history',
  {
    edition_id: text().notNull(), // references editions (id)
    product_key: text().notNull(),
    action: text({ enum: types.import_product_history.action }).notNull(),
    product_id: text(),
    variant_id: text(),
    location_id: text(),
    option_ids: text({ mode: 'json' }).$type<typeof types.import_product_history.option_ids.value>().notNull(),
    used_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.product_key] })],
)

/** One row per data row of the file, as the mapping reads it. */
export const importRows = sqliteTable(
  'import_rows',
  {
    import_id: text().notNull(), // references data_imports (id)
    row_number: integer().notNull(),
    /** The line of the file, as a text editor shows it. */
    file_line: integer().notNull(),
    /** Where the record stands in the canonical copy. */
    byte_offset: integer().notNull(),
    byte_length: integer().notNull(),
    /** Rows with the same key are one order; null for rows that are ignored or cannot be grouped. */
    group_key: text(),
    data: text({ mode: 'json' }).$type<typeof types.import_rows.data.value>().notNull(),
    errors: text({ mode: 'json' }).$type<typeof types.import_rows.errors.value>().notNull().default([]),
    warnings: text({ mode: 'json' }).$type<typeof types.import_rows.warnings.value>().notNull().default([]),
    /**
     * created, updated, skipped, error, ignored, cancelled; null until it is decided, and for rows with the outcome of
     * their order.
     */
    outcome: text({ enum: types.import_rows.outcome }),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.row_number] })],
)

/** One row per order that the file contains, and per order that a call created or updated. */
export const importOrders = sqliteTable(
  'import_orders',
  {
    import_id: text().notNull(), // references data_imports (id)
    /** The number of its first row, or its place in the call. */
    number: integer().notNull(),
    /** Values that the rows of the order have in common; null for an order of a call. */
    group_key: text(),
    rows_count: integer().notNull(),
    /** created, updated, skipped, error, ignored, cancelled; null until it is decided. */
    outcome: text({ enum: types.import_orders.outcome }),
    order_id: text(),
    /** The customer, in an import of customers. */
    user_id: text(),
    /** The version of the order after the import wrote it, and what an undo restores. */
    order_version: integer(),
    undo_data: text(),
    /** undone, kept; null until an undo has decided. */
    undo_outcome: text({ enum: types.import_orders.undo_outcome }),
    undo_reason: text({ enum: types.import_orders.undo_reason }),
    /**
     * The versions from which and to which an undo restored the order and its purchases, so that an earlier import
     * still recognizes them (JSON).
     */
    restored_versions: text({ mode: 'json' }).$type<typeof types.import_orders.restored_versions.value>(),
    errors: text().notNull().default('[]'),
    warnings: text().notNull().default('[]'),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.number] })],
)

/** Distinct products as the file names them. */
export const importProducts = sqliteTable(
  'import_products',
  {
    import_id: text().notNull(), // references data_imports (id)
    position: integer().notNull(),
    id: text().notNull(),
    product_key: text().notNull(),
    product: text().notNull(),
    /** The sort key of `product`. */
    name_key: text().notNull(),
    variant: text(),
    location: text(),
    options: text({ mode: 'json' }).$type<typeof types.import_products.options.value>().notNull().default([]),
    rows_count: integer().notNull(),
    action: text({ enum: types.import_products.action }),
    product_id: text(), // references products (id)
    variant_id: text(), // references variants (id)
    location_id: text(), // references locations (id)
    option_ids: text({ mode: 'json' }).$type<typeof types.import_products.option_ids.value>().notNull().default([]),
    /** A product of the edition with nearly the same name, as JSON with id and name. The user has to decide. */
    similar_product: text({ mode: 'json' }).$type<typeof types.import_products.similar_product.value>(),
    is_suggested: integer({ mode: 'boolean' }).notNull().default(false),
    confidence: real().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.position] })],
)

/** The outcome that an import would have for its orders, counted in the background before it starts. */
export const importPreviews = sqliteTable('import_previews', {
  import_id: text().primaryKey(), // references data_imports (id)
  /** `data_imports.version`. Another version is counted anew. */
  version: integer().notNull(),
  /** Orders up to this number are counted. */
  last_number: integer().notNull(),
  /** The number of orders by action, as JSON. */
  totals: text({ mode: 'json' }).$type<typeof types.import_previews.totals.value>().notNull(),
  /** The number of rows without an order id that look like orders that exist. */
  lookalikes: integer().notNull(),
  /** When counting last made progress. */
  counted_at: integer().notNull(),
})
