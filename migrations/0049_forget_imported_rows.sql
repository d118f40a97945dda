-- Imports let personal data go: their files and rows 30 days after their end, and what is of a person with the person.

-- When the file of an import and its canonical copy were deleted, and when its staged rows were.
alter table data_imports add column files_deleted_at integer;
alter table data_imports add column rows_deleted_at integer;
-- Rows by outcome, as JSON; null where they were not counted.
alter table data_imports add column row_counts text check (row_counts is null or json_valid(row_counts));

-- Imports that are over and still have rows.
create index data_imports_ended on data_imports (modified_at)
  where rows_deleted_at is null and file_id is not null
    and status in ('completed', 'completed_with_errors', 'failed', 'cancelled', 'undone');

-- Rows by what became of them. Those that became new orders are most rows of most imports, and are found without it.
create index import_rows_by_outcome on import_rows (import_id, outcome, row_number)
  where outcome in ('updated', 'skipped', 'ignored', 'cancelled');

-- How far a person was looked for in the rows of imports: an import and a row.
alter table erasures add column import_after text not null default '';

-- What would become of the orders of an import, counted in parts while it waits for its start.
create table import_previews (
  import_id text not null references data_imports (id),
  part integer not null,
  -- Of the import: another version is counted anew.
  version integer not null,
  last_number integer not null,
  -- One letter an order.
  actions text not null,
  created_at integer not null,
  primary key (import_id, part)
) strict, without rowid;
