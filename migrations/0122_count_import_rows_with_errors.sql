-- Rows of an import with errors are counted, so that a list of rows need not read them. `invalid_rows` has those that were
-- staged with errors; here is how many more there are since, because their orders were refused. A row without errors, which
-- most rows are, writes nothing here. A trigger on added rows would have each row read once more.
create table import_row_errors (
  import_id text primary key,
  rows_count integer not null
) strict, without rowid;

create trigger import_rows_with_errors_changed after update of errors on import_rows
  when (new.errors <> '[]') <> (old.errors <> '[]')
begin
  insert into import_row_errors (import_id, rows_count) values (new.import_id, iif(new.errors <> '[]', 1, -1))
    on conflict (import_id) do update set rows_count = rows_count + excluded.rows_count;
end;

-- Rows are deleted all, from the first on: when they are staged again, and when their time is over.
create trigger import_rows_deleted after delete on import_rows when old.row_number = 1
begin
  delete from import_row_errors where import_id = old.import_id;
end;

insert into import_row_errors (import_id, rows_count)
  select import_id, n - invalid_rows from (
    select import_id, count(*) as n from import_rows where errors <> '[]' group by import_id)
  join data_imports on data_imports.id = import_id where n <> invalid_rows;
