-- A staged row wrote an entry of an index that found the rows of an order by their key. Orders are stored by their key
-- instead, and their rows are ranges of row numbers: most files have the rows of an order beside each other.

-- Ranges of rows by their key, as they stand in the files.
create table import_runs (
  import_id text not null,
  first_row integer not null,
  group_key text not null,
  rows_count integer not null,
  primary key (import_id, first_row)
) strict, without rowid;

insert into import_runs (import_id, first_row, group_key, rows_count)
  select import_id, min(row_number), group_key, count(*)
  from (select import_id, group_key, row_number,
      row_number - row_number() over (partition by import_id, group_key order by row_number) as run
    from import_rows where group_key is not null)
  group by import_id, group_key, run;

create table import_orders_by_key (
  import_id text not null references data_imports (id),
  group_key text not null,
  -- That of its first row.
  number integer not null,
  rows_count integer not null,
  -- Its first row, and those that follow without a row of another order between them.
  adjacent_rows integer not null,
  -- created, updated, skipped, error, cancelled; null until it is decided, and for most that were created.
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
  primary key (import_id, group_key)
) strict, without rowid;

insert into import_orders_by_key (import_id, group_key, number, rows_count, adjacent_rows, outcome, order_id,
    order_version, before, undo_outcome, undo_reason, errors, warnings)
  select its.import_id, its.group_key, its.number, its.rows_count, coalesce(import_runs.rows_count, its.rows_count),
    its.outcome, its.order_id, its.order_version, its.before, its.undo_outcome, its.undo_reason, its.errors, its.warnings
  from import_orders its left join import_runs
    on import_runs.import_id = its.import_id and import_runs.first_row = its.number;

-- Rows of an order that do not stand beside its first ones.
create table import_later_rows (
  import_id text not null references data_imports (id),
  -- Of the order.
  number integer not null,
  first_row integer not null,
  rows_count integer not null,
  primary key (import_id, number, first_row)
) strict, without rowid;

insert into import_later_rows (import_id, number, first_row, rows_count)
  select import_runs.import_id, its.number, import_runs.first_row, import_runs.rows_count
  from import_runs join import_orders_by_key its
    on its.import_id = import_runs.import_id and its.group_key = import_runs.group_key
  where import_runs.first_row > its.number;

drop table import_runs;
drop index import_rows_of_group;
drop table import_orders;
alter table import_orders_by_key rename to import_orders;
create index import_orders_of_order on import_orders (order_id) where order_id is not null;
