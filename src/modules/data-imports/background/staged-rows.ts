import { type SQL, sql } from 'drizzle-orm'
import type { importRows } from '../../../db/schema/data-imports.ts'
import type { DecidedRow, PlacedRow, RowError } from '../../../domain/data-imports/mapping/index.ts'
import { outcomeOfOrder } from './created-orders.ts'

export type StagedRow = typeof importRows.$inferSelect

/** The content of `data` of a staged row. */
export type StagedData = Pick<DecidedRow, 'values' | 'currency_mark'>

/** A fault of a row. `column` is an index; null for a fault of the whole row. */
export interface ErrorOfRow {
  column: number | null
  /** Null for a row that cannot be read. */
  target_field: string | null
  code: RowError['code'] | 'column_count' | 'open_quote'
  message: string
  value: string | null
}

/** The reason why a row becomes no order. */
export interface WarningOfRow {
  code: 'header_row' | 'total_row' | 'note_row' | 'ignored_by_value_map'
  message: string
}

/** `data` of a row, as JSON; null for a row that cannot be read. */
export const stagedData = (decided: StagedData | null): string =>
  JSON.stringify(decided ? { values: decided.values, currency_mark: decided.currency_mark } : { values: {} })

/** A staged row as its mapping read it. */
export function placedRow({ data, errors, file_line }: Pick<StagedRow, 'data' | 'errors' | 'file_line'>): PlacedRow {
  const { values = {}, currency_mark = null } = JSON.parse(data) as Partial<StagedData>
  return { values, currency_mark, errors: JSON.parse(errors) as RowError[], is_ignored: false, line: file_line }
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
