import { type SQL, sql } from 'drizzle-orm'
import { importRows } from '../../../db/schema/data-imports.ts'
import { storedIn } from '../../../db/select.ts'
import type { PlacedRow, StagedValues } from '../../../domain/data-imports/mapping/index.ts'
import { outcomeOfOrder } from './created-orders.ts'

export type StagedRow = typeof importRows.$inferSelect

/** A staged row as a statement in SQL answers it. */
export interface ReadRow extends Pick<StagedRow, 'row_number' | 'file_line' | 'group_key'> {
  data: string
  errors: string
}

export const stagedValues = ({ values, currency_mark }: StagedValues): StagedValues => ({ values, currency_mark })

/** A staged row as its mapping read it. */
export function placedRow({ data, errors, file_line }: ReadRow): PlacedRow {
  const { values, currency_mark = null } = storedIn(importRows.data, data)
  return { values, currency_mark, errors: storedIn(importRows.errors, errors), is_ignored: false, line: file_line }
}

/** The first row of a row's order: orders are numbered by it. */
export const firstRowOf = (row: SQL): SQL =>
  sql`(select min(first.row_number) from import_rows first
    where first.import_id = ${row}.import_id and first.group_key = ${row}.group_key)`

/** The outcome of a row: its own, otherwise that of its order. */
export const outcomeOf = (row: SQL, importId: string): SQL =>
  sql`coalesce(${row}.outcome, (select ${outcomeOfOrder(sql`its_order`, importId)} from import_orders as its_order
    where its_order.import_id = ${row}.import_id and its_order.number = ${firstRowOf(row)}))`

/**
 * The orders that rows make whose first row is in the range: each is numbered by its first row. A range of rows at a
 * time, once all rows are staged.
 */
export const groupRows = (importId: string, from: number, to: number): SQL =>
  sql`insert into import_orders (import_id, number, group_key, first_row, rows_count)
    select ${importId}, row_number, group_key, row_number,
      (select count(*) from import_rows as others where others.import_id = ${importId}
        and others.group_key = import_rows.group_key)
    from import_rows where import_id = ${importId} and row_number between ${from} and ${to} and group_key is not null
      and not exists (select 1 from import_rows as earlier where earlier.import_id = ${importId}
        and earlier.group_key = import_rows.group_key and earlier.row_number < import_rows.row_number)`
