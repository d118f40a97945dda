-- Data imports. An import reads its file into a canonical copy, has columns and products mapped, stages its rows, and
-- then makes orders of them.

-- An import of a file or of a list of external orders. External orders bring no file.
create table data_imports (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  account_id text,
  name text not null,
  name_key text not null,
  -- orders or customers. The counts of orders are counts of customers in an import of customers.
  kind text not null default 'orders',
  source text not null,
  external_source text,
  -- Where external_source comes from: memory, preset, headers; null if the user set it or it is open.
  source_suggested_by text,
  -- True if a role of the organization began the reading, so that it may take over what any edition remembers.
  uses_organization_memory integer not null default 0 check (uses_organization_memory in (0, 1)),
  detected_source text,
  search text not null default '',
  status text not null,
  -- The background work that runs; null while there is none.
  phase text,
  -- Rises with every start of background work. Writes of an earlier start have no effect.
  epoch integer not null default 0,
  -- Where background work continues: JSON of the phase.
  position text not null default '{}' check (json_valid(position)),
  -- When background work was last alive; null while there is none.
  heartbeat_at integer,
  -- The number of times that background work was restarted since its last step. An import that makes no progress fails.
  stalls integer not null default 0,
  file_id text references files (id),
  -- The format of the file (JSON), and the size of its canonical copy in the file store.
  format text check (format is null or json_valid(format)),
  canonical_size integer,
  options text not null check (json_valid(options)),
  -- The options that were taken from an earlier import (JSON list); null until the file was read.
  remembered_options text check (remembered_options is null or json_valid(remembered_options)),
  -- A summary of the mappings for lists, written with each change of them.
  column_summary text not null
  default '{"total":0,"mapped":0,"ignored":0,"missing_required":[]}' check (json_valid(column_summary)),
  product_summary text not null
  default '{"total":0,"mapped":0,"ignored":0,"unmapped":0}' check (json_valid(product_summary)),
  total_rows integer not null,
  valid_rows integer not null default 0,
  invalid_rows integer not null default 0,
  processed_rows integer not null default 0,
  -- Rows by outcome, as JSON; null where they were not counted.
  row_counts text check (row_counts is null or json_valid(row_counts)),
  total_orders integer not null default 0,
  created_orders integer not null,
  updated_orders integer not null,
  skipped_orders integer not null,
  failed_orders integer not null,
  error_code text,
  error_message text,
  -- Until when the import can be undone; null where there is nothing to undo.
  undo_until integer,
  undone_orders integer not null default 0,
  kept_orders integer not null default 0,
  -- Undone orders whose customers kept data of the organization, which the caller of the undo may not change.
  shared_customer_orders integer not null default 0,
  started_at integer,
  completed_at integer,
  -- When the file and its canonical copy were deleted, and when the staged rows were.
  files_deleted_at integer,
  rows_deleted_at integer,
  -- A key that all requests with one Idempotency-Key share, while a call with several transactions is not finished.
  resume_key text,
  -- The orders that an unfinished call has stored (JSON list of results).
  stored_results text check (stored_results is null or json_valid(stored_results)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves lists of an organization ordered by creation.
create index data_imports_by_created on data_imports (organization_id, created_at, id);
-- Finds imports that wait for a mapping, for the health of an edition.
create index data_imports_in_mapping on data_imports (edition_id, modified_at)
  where status in ('mapping_columns', 'mapping_products');
-- Serves lists of an edition ordered by creation.
create index data_imports_of_edition on data_imports (edition_id, created_at, id);
-- Finds background work whose heartbeat stopped.
create index data_imports_working on data_imports (heartbeat_at) where heartbeat_at is not null;
-- Finds what uses a file before the file is deleted.
create index data_imports_of_file on data_imports (file_id) where file_id is not null;
-- Counts how many imports an organization has running.
create index data_imports_running on data_imports (organization_id) where phase is not null;
-- Finds the unfinished call that a request repeats.
create unique index data_imports_by_resume_key on data_imports (resume_key) where resume_key is not null;
-- Finds calls that nobody has finished.
create index data_imports_interrupted on data_imports (modified_at)
  where status = 'importing' and resume_key is not null;
-- Finds ended imports whose rows are due for deletion.
create index data_imports_ended on data_imports (modified_at)
  where rows_deleted_at is null and file_id is not null
    and status in ('completed', 'completed_with_errors', 'failed', 'cancelled', 'undone');
-- Finds calls whose undo data are due for deletion.
create index data_imports_calls_to_sweep on data_imports (modified_at)
  where source = 'api' and undo_until is not null and rows_deleted_at is null;

-- One row per column of the file.
create table import_columns (
  import_id text not null references data_imports (id),
  source_index integer not null,
  id text not null,
  source_column text not null,
  sample_values text not null default '[]' check (json_valid(sample_values)),
  -- Statistics about the cells of the column; an empty object before they are counted.
  statistics text not null default '{}' check (json_valid(statistics)),
  target_field text,
  -- The place of this column among those with its target: a date before its time, a first name before a last name.
  target_position integer not null default 0,
  is_ignored integer not null default 0 check (is_ignored in (0, 1)),
  is_suggested integer not null default 0 check (is_suggested in (0, 1)),
  -- Where a suggestion comes from: memory, preset, header, values; null without one.
  suggested_by text,
  confidence real not null default 0,
  default_value text,
  transform text not null default '{"type":"none"}' check (json_valid(transform)),
  value_map text check (value_map is null or json_valid(value_map)),
  -- The question to the user about the column: order_id, status; null without a question.
  question text,
  primary key (import_id, source_index)
) strict, without rowid;

-- Target fields that get the same value in every row.
create table import_constants (
  import_id text not null references data_imports (id),
  target_field text not null,
  value text not null,
  suggested_by text,
  primary key (import_id, target_field)
) strict, without rowid;

-- The last mapping of each header of a source by its owner, an edition or its organization. A header that a
-- file has twice has two keys.
create table import_header_history (
  owner_id text not null,
  organization_id text not null references organizations (id),
  -- orders or customers.
  kind text not null default 'orders',
  external_source text not null,
  header_key text not null,
  -- Null for a column that was not mapped, and empty for one that was ignored.
  target_field text,
  target_position integer not null,
  default_value text,
  transform text not null check (json_valid(transform)),
  value_map text check (value_map is null or json_valid(value_map)),
  used_at integer not null,
  primary key (owner_id, kind, external_source, header_key)
) strict, without rowid;

-- Finds what the imports of an organization remember of a person who is erased.
create index import_header_history_of_organization on import_header_history (organization_id);

-- The constants and options of the last import of a source, by the edition or organization that remembers them.
create table import_source_history (
  owner_id text not null,
  organization_id text not null references organizations (id),
  -- orders or customers.
  kind text not null default 'orders',
  external_source text not null,
  constants text not null check (json_valid(constants)),
  options text not null check (json_valid(options)),
  used_at integer not null,
  primary key (owner_id, kind, external_source)
) strict, without rowid;
-- Finds what the imports of an organization remember of a person who is erased.
create index import_source_history_of_organization on import_source_history (organization_id);

-- The last decision of an edition's users about a product of a file. Ids of the catalogue may be deleted since.
create table import_product_history (
  edition_id text not null references editions (id),
  product_key text not null,
  action text not null,
  product_id text,
  variant_id text,
  location_id text,
  option_ids text not null check (json_valid(option_ids)),
  used_at integer not null,
  primary key (edition_id, product_key)
) strict, without rowid;

-- One row per data row of the file, as the mapping reads it.
create table import_rows (
  import_id text not null references data_imports (id),
  row_number integer not null,
  -- The line of the file, as a text editor shows it.
  file_line integer not null,
  -- Where the record stands in the canonical copy.
  byte_offset integer not null,
  byte_length integer not null,
  -- Rows with the same key are one order; null for rows that are ignored or cannot be grouped.
  group_key text,
  data text not null check (json_valid(data)),
  errors text not null default '[]' check (json_valid(errors)),
  warnings text not null default '[]' check (json_valid(warnings)),
  -- created, updated, skipped, error, ignored, cancelled; null until it is decided, and for rows with the outcome of
  -- their order.
  outcome text,
  primary key (import_id, row_number)
) strict, without rowid;
-- Finds the rows of an order.
create index import_rows_of_order on import_rows (import_id, group_key, row_number);
-- Finds the same id in two orders of a file, where rows are not grouped by it.
create index import_rows_by_external_id
  on import_rows (import_id, json_extract(data, '$.values."order.external_id"'), row_number)
  where group_key <> json_extract(data, '$.values."order.external_id"');
-- Finds the same ticket code in two orders of a file.
create index import_rows_by_ticket on import_rows (import_id, json_extract(data, '$.values."item.vendor_code"'), row_number)
  where json_extract(data, '$.values."item.vendor_code"') is not null;
-- Serves the report of errors, and lists of rows with errors.
create index import_rows_with_errors on import_rows (import_id, row_number) where errors <> '[]';
-- Serves lists of one outcome. Created orders are most rows of most imports and are found without it.
create index import_rows_by_outcome on import_rows (import_id, outcome, row_number)
  where outcome in ('updated', 'skipped', 'ignored', 'cancelled');

-- One row per order that the file contains, and per order that a call created or updated.
create table import_orders (
  import_id text not null references data_imports (id),
  -- The number of its first row, or its place in the call.
  number integer not null,
  -- Values that the rows of the order have in common; null for an order of a call.
  group_key text,
  rows_count integer not null,
  -- created, updated, skipped, error, ignored, cancelled; null until it is decided.
  outcome text,
  order_id text,
  -- The customer, in an import of customers.
  user_id text,
  -- The version of the order after the import wrote it, and what an undo restores.
  order_version integer,
  undo_data text check (undo_data is null or json_valid(undo_data)),
  -- undone, kept; null until an undo has decided.
  undo_outcome text,
  undo_reason text,
  -- The versions from which and to which an undo restored the order and its purchases, so that an earlier import still
  -- recognizes them (JSON).
  restored_versions text check (restored_versions is null or json_valid(restored_versions)),
  errors text not null default '[]' check (json_valid(errors)),
  warnings text not null default '[]' check (json_valid(warnings)),
  primary key (import_id, number)
) strict, without rowid;
-- Finds the order of a row.
create unique index import_orders_by_key on import_orders (import_id, group_key) where group_key is not null;
-- Finds the imports that changed an order.
create index import_orders_of_order on import_orders (order_id) where order_id is not null;
-- Finds what imports of customers stored of a customer, for an erasure and for undos.
create index import_orders_of_customer on import_orders (user_id) where user_id is not null;
-- Finds orders that an import gave to another customer, for the erasure of the former one.
create index import_orders_of_former_customer on import_orders (undo_data ->> '$.updated.order.user_id')
  where undo_data ->> '$.updated.order.user_id' is not null;

-- Distinct products as the file names them.
create table import_products (
  import_id text not null references data_imports (id),
  position integer not null,
  id text not null,
  product_key text not null,
  product text not null,
  -- The sort key of `product`.
  name_key text not null,
  variant text,
  location text,
  options text not null default '[]' check (json_valid(options)),
  rows_count integer not null,
  action text,
  product_id text references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  option_ids text not null default '[]' check (json_valid(option_ids)),
  -- A product of the edition with nearly the same name, as JSON with id and name. The user has to decide.
  similar_product text check (similar_product is null or json_valid(similar_product)),
  is_suggested integer not null default 0 check (is_suggested in (0, 1)),
  confidence real not null default 0,
  primary key (import_id, position)
) strict, without rowid;
-- A product of the file has one row.
create unique index import_products_by_key on import_products (import_id, product_key);
-- Finds the mappings to a location before it is deleted.
create index import_products_of_location on import_products (location_id) where location_id is not null;

-- The outcome that an import would have for its orders, counted in the background before it starts.
create table import_previews (
  import_id text primary key references data_imports (id),
  -- `data_imports.version`. Another version is counted anew.
  version integer not null,
  -- Orders up to this number are counted.
  last_number integer not null,
  -- The number of orders by action, as JSON.
  totals text not null check (json_valid(totals)),
  -- The number of rows without an order id that look like orders that exist.
  lookalikes integer not null,
  -- When counting last made progress.
  counted_at integer not null
) strict, without rowid;
