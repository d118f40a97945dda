import { type SQL, sql } from 'drizzle-orm'
import type { importRows } from '../../db/schema/data-imports.ts'
import type { DecidedRow, PlacedRow, RowError } from '../../domain/import-mapping/index.ts'

export type StagedRow = typeof importRows.$inferSelect

/** What `data` of a staged row holds. */
export type StagedData = Pick<DecidedRow, 'values' | 'currency_mark'>

/** `data` and `errors` of a row, as they are stored. */
export const stagedColumns = ({ values, currency_mark, errors }: DecidedRow): Pick<StagedRow, 'data' | 'errors'> => ({
  data: JSON.stringify({ values, currency_mark } satisfies StagedData),
  errors: JSON.stringify(errors),
})

/** A staged row as its mapping read it. */
export function placedRow({ data, errors, file_line }: StagedRow): PlacedRow {
  const { values = {}, currency_mark = null } = JSON.parse(data) as Partial<StagedData>
  return { values, currency_mark, errors: JSON.parse(errors) as RowError[], is_ignored: false, line: file_line }
}

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
