-- Ids of orders where rows are not grouped by them: the same id in two orders of a file is an error.
create index import_rows_by_external_id
  on import_rows (import_id, json_extract(data, '$.values."order.external_id"'), row_number)
  where group_key <> json_extract(data, '$.values."order.external_id"');
