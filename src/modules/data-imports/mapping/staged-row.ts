import type { DecidedRow, PlacedRow, RowError } from '../../../domain/import-mapping/index.ts'

/** What is wrong with a row of a file. `column` is an index; null for what no column says. */
export interface ErrorOfRow {
  column: number | null
  /** Null for a row that cannot be read. */
  target_field: string | null
  code: RowError['code'] | 'column_count' | 'open_quote'
  message: string
  value: string | null
}

/** Why no order is made of a row. */
export interface WarningOfRow {
  code: 'total_row' | 'note_row' | 'ignored_by_value_map'
  message: string
}

type Data = Pick<DecidedRow, 'values' | 'currency_mark'>

/** What a row means, as JSON; nothing of one that cannot be read. */
export const stagedData = (decided: Data | null): string =>
  JSON.stringify(decided ? { values: decided.values, currency_mark: decided.currency_mark } : { values: {} })

interface StoredRow {
  file_line: number
  data: string
  errors: string
}

/** A staged row as `toExternalOrder` takes it. */
export function placedRowOf({ file_line, data, errors }: StoredRow): PlacedRow {
  const { values = {}, currency_mark = null } = JSON.parse(data) as Partial<Data>
  const faults = JSON.parse(errors) as ErrorOfRow[]
  // An order does not mind which target the fault of a whole row has.
  const known = faults.map((error) => ({ ...error, target_field: error.target_field ?? '' })) as RowError[]
  return { values, currency_mark, errors: known, is_ignored: false, line: file_line }
}
