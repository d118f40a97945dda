-- Imports of files. An import reads its file into a canonical copy, has its columns and products mapped, stages its rows
-- and then makes orders of them.

-- Null for imports of external orders, which bring no file.
alter table data_imports add column file_id text references files (id);
alter table data_imports add column phase text;
-- Moves with every start of background work: what an earlier start still writes affects nothing.
alter table data_imports add column epoch integer not null default 0;
-- Where the background work of the phase goes on: JSON of the phase.
alter table data_imports add column position text not null default '{}' check (json_valid(position));
-- When background work of the import was last seen; null while there is none.
alter table data_imports add column heartbeat_at integer;
-- How the file is read: JSON of the file's format, and the canonical copy in the file store.
alter table data_imports add column format text check (format is null or json_valid(format));
alter table data_imports add column canonical_key text;
alter table data_imports add column canonical_size integer;
alter table data_imports add column detected_source text;
alter table data_imports add column valid_rows integer not null default 0;
alter table data_imports add column invalid_rows integer not null default 0;
alter table data_imports add column processed_rows integer not null default 0;
alter table data_imports add column total_orders integer not null default 0;
alter table data_imports add column error_code text;
alter table data_imports add column error_message text;
alter table data_imports add column started_at integer;
alter table data_imports add column completed_at integer;
-- Until when the import can be undone; null where there is nothing to undo.
alter table data_imports add column undo_until integer;
alter table data_imports add column undone_orders integer not null default 0;
alter table data_imports add column kept_orders integer not null default 0;

create index data_imports_of_edition on data_imports (edition_id, created_at, id);
-- Background work without a heartbeat is found here.
create index data_imports_working on data_imports (heartbeat_at) where heartbeat_at is not null;

-- One row a column of the file.
create table import_columns (
  import_id text not null references data_imports (id),
  source_index integer not null,
  id text not null,
  source_column text not null,
  sample_values text not null default '[]' check (json_valid(sample_values)),
  statistics text not null default '{}' check (json_valid(statistics)),
  target_field text,
  -- The place of this column among those of its target: a date before its time, a first name before a last name.
  target_position integer not null default 0,
  is_ignored integer not null default 0 check (is_ignored in (0, 1)),
  is_suggested integer not null default 0 check (is_suggested in (0, 1)),
  confidence real not null default 0,
  default_value text,
  transform text not null default '{"type":"none"}' check (json_valid(transform)),
  value_map text check (value_map is null or json_valid(value_map)),
  primary key (import_id, source_index)
) strict, without rowid;

-- Targets that take the same value for every row.
create table import_constants (
  import_id text not null references data_imports (id),
  target_field text not null,
  value text not null,
  primary key (import_id, target_field)
) strict, without rowid;

-- What an organisation mapped a header to before; an empty target for a column that it left out.
create table import_header_history (
  organization_id text not null references organizations (id),
  header_key text not null,
  target_field text not null,
  used_at integer not null,
  primary key (organization_id, header_key)
) strict, without rowid;

-- One row a data row of the file, as the mapping reads it.
create table import_rows (
  import_id text not null references data_imports (id),
  row_number integer not null,
  -- The line of the file, as a text editor shows it.
  file_line integer not null,
  -- Its record in the canonical copy.
  byte_offset integer not null,
  byte_length integer not null,
  -- Rows of one key are one order; null for rows that are ignored or cannot be grouped.
  group_key text,
  data text not null check (json_valid(data)),
  errors text not null default '[]' check (json_valid(errors)),
  warnings text not null default '[]' check (json_valid(warnings)),
  -- created, updated, skipped, error, ignored, cancelled; null until it is decided.
  outcome text,
  primary key (import_id, row_number)
) strict, without rowid;

create index import_rows_of_group on import_rows (import_id, group_key, row_number) where group_key is not null;

-- One row an order that the rows make, numbered by its first row.
create table import_orders (
  import_id text not null references data_imports (id),
  number integer not null,
  group_key text not null,
  first_row integer not null,
  rows_count integer not null,
  -- created, updated, skipped, error, cancelled; null until it is decided.
  outcome text,
  order_id text,
  -- Of the order that this import wrote: the version that it had afterwards, and what an undo puts back.
  order_version integer,
  before text check (before is null or json_valid(before)),
  -- undone, kept; null until an undo has decided.
  undo_outcome text,
  undo_reason text,
  errors text not null default '[]' check (json_valid(errors)),
  warnings text not null default '[]' check (json_valid(warnings)),
  primary key (import_id, number)
) strict, without rowid;

create index import_orders_of_order on import_orders (order_id) where order_id is not null;

-- Distinct products as the file names them.
create table import_products (
  import_id text not null references data_imports (id),
  position integer not null,
  id text not null,
  product_key text not null,
  product text not null,
  variant text,
  location text,
  options text not null default '[]' check (json_valid(options)),
  rows_count integer not null,
  action text,
  product_id text references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  option_ids text not null default '[]' check (json_valid(option_ids)),
  is_suggested integer not null default 0 check (is_suggested in (0, 1)),
  confidence real not null default 0,
  primary key (import_id, position)
) strict, without rowid;

create unique index import_products_by_key on import_products (import_id, product_key);
