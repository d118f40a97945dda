import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { slices } from '../../../db/write.ts'

/**
 * The orders `its` of an import, in the order of their numbers: each begins at its row `head`. They are stored by their
 * keys, so that conditions on numbers are conditions on `head.row_number`.
 */
export const ordersByNumber = (importId: string): SQL =>
  sql`import_rows as head cross join import_orders as its on head.import_id = ${importId}
    and its.import_id = ${importId} and its.group_key = head.group_key and its.number = head.row_number`

/** The keys of the rows that the condition selects. */
export const keysOfRows = (importId: string, condition: SQL): SQL =>
  sql`(select group_key from import_rows where import_id = ${importId} and ${condition})`

/**
 * `columns` of the rows `own` of the orders that `chosen` selects. It answers `number`, `rows_count` and `adjacent_rows` of
 * each order, and what `columns` has of `its`.
 */
export const rowsOfOrders = (importId: string, chosen: SQL, columns = sql`own.row_number`): SQL =>
  sql`with its as materialized (${chosen})
    select ${columns} from its cross join import_rows as own on own.import_id = ${importId}
      and own.row_number between its.number and its.number + its.adjacent_rows - 1
    union all
    select ${columns} from its cross join import_later_rows as later on its.adjacent_rows < its.rows_count
      and later.import_id = ${importId} and later.number = its.number
      cross join import_rows as own on own.import_id = ${importId}
        and own.row_number between later.first_row and later.first_row + later.rows_count - 1`

/** The rows of the orders with one of the keys. */
export const rowsOfKeys = (importId: string, keys: SQL): SQL =>
  sql`(${rowsOfOrders(importId, sql`select number, rows_count, adjacent_rows from import_orders where import_id = ${importId} and group_key in ${keys}`)})`

/** A row with the key of its order; without a key it is of none. */
interface GroupedRow {
  row_number: number
  group_key: string | null
}

/** Rows that stand beside each other and have one key: the key, the first row, and how many they are. */
type AdjacentRows = [key: string, first: number, count: number]

function runsOf(rows: readonly GroupedRow[]): AdjacentRows[] {
  const runs: AdjacentRows[] = []
  for (const { group_key, row_number } of rows) {
    if (group_key === null) continue
    const last = runs.at(-1)
    if (last?.[0] === group_key && last[1] + last[2] === row_number) last[2]++
    else runs.push([group_key, row_number, 1])
  }
  return runs
}

/**
 * Adds the rows, which follow all rows before them, to the orders of their keys. An order is made with its first row and
 * has its number.
 */
export function groupRows(importId: string, rows: readonly GroupedRow[]): Statement[] {
  return slices(runsOf(rows).map((run) => JSON.stringify(run))).flatMap((part): Statement[] => {
    const runs = `[${part.join(',')}]`
    return [
      sql`insert into import_orders (import_id, group_key, number, rows_count, adjacent_rows)
        select ${importId}, value ->> 0, value ->> 1, value ->> 2, value ->> 2 from json_each(${runs}) where true
        on conflict (import_id, group_key) do update set rows_count = rows_count + excluded.rows_count,
          adjacent_rows = adjacent_rows + iif(number + adjacent_rows = excluded.number, excluded.rows_count, 0)`,
      sql`insert into import_later_rows (import_id, number, first_row, rows_count)
        select ${importId}, its.number, value ->> 1, value ->> 2 from json_each(${runs}) cross join import_orders as its
          on its.import_id = ${importId} and its.group_key = value ->> 0
        where value ->> 1 >= its.number + its.adjacent_rows`,
    ]
  })
}
