import { sql } from 'drizzle-orm'

/** Builds the section of an export with the rows of imported files that made the customer's orders. */
export const buildImportedRowsSection = (userId: string) => ({
  name: 'import_rows' as const,
  columns: sql`import_rows.import_id, import_rows.row_number, file_line as row,
    coalesce(import_rows.outcome, import_orders.outcome) as outcome, import_orders.order_id,
    json_extract(data, '$.values') as values_json`,
  from: sql`import_orders cross join import_rows
    on import_rows.import_id = import_orders.import_id and import_rows.group_key = import_orders.group_key`,
  where: sql`import_orders.order_id in (select id from orders where user_id = ${userId}
    union select order_id from purchases where user_id = ${userId})`,
  key: sql`import_rows.import_id || printf(' %010d', import_rows.row_number)`,
})
