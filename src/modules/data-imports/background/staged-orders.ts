import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { splitIntoParameters } from '../../../db/write.ts'

/** The numbers of the rows whose order has one of the keys. */
export const rowsOfKeys = (importId: string, keys: SQL): SQL =>
  sql`(select row_number from import_rows indexed by import_rows_of_order
    where import_id = ${importId} and group_key in ${keys})`

/** A row with the key of its order; a row without a key belongs to no order. */
interface GroupedRow {
  row_number: number
  group_key: string | null
}

/**
 * Adds the rows, which follow all rows before them, to the orders of their keys. An order is made with its first row and
 * has its number.
 */
export function groupRows(importId: string, rows: readonly GroupedRow[]): Statement[] {
  const groups = Map.groupBy(
    rows.filter(({ group_key }) => group_key !== null),
    ({ group_key }) => group_key,
  )
  const orders = [...groups].map(([key, members]) => JSON.stringify([members[0]?.row_number, key, members.length]))
  return splitIntoParameters(orders).map(
    (part): Statement => sql`insert into import_orders (import_id, number, group_key, rows_count)
      select ${importId}, value ->> 0, value ->> 1, value ->> 2 from json_each(${`[${part.join(',')}]`}) where true
      on conflict (import_id, group_key) do update set rows_count = rows_count + excluded.rows_count`,
  )
}
