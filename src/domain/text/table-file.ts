import { byteOrderMark, type CsvValue, formatCsvRecord } from './csv.ts'

export const tableFormats = ['csv', 'ndjson'] as const
export type TableFormat = (typeof tableFormats)[number]

/** CSV joins a list with semicolons. */
type CellValue = CsvValue | boolean | readonly string[]

/** A table that is written as a file. */
export interface Table<Column extends string, Row> {
  format: TableFormat
  /** The columns in the order of the file. */
  columns: readonly Column[]
  cells: Readonly<Record<Column, (row: Row) => CellValue>>
  /** Whether a CSV file starts with a byte order mark, by which spreadsheets detect UTF-8. */
  bom: boolean
}

/** No statement blocks the database for long, and a million rows take 500 of the 1,000 queries of an invocation. */
export const rowsPerPage = 2000

function toCsvValue(value: CellValue): CsvValue {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'object' && value !== null ? value.join('; ') : value
}

function formatHeader<Column extends string, Row>({ format, columns, bom }: Table<Column, Row>): string {
  if (format === 'ndjson') return ''
  return (bom ? byteOrderMark : '') + formatCsvRecord(columns)
}

function formatRow<Column extends string, Row>({ format, columns, cells }: Table<Column, Row>, row: Row): string {
  if (format === 'csv') return formatCsvRecord(columns.map((column) => toCsvValue(cells[column](row))))
  return `${JSON.stringify(Object.fromEntries(columns.map((column) => [column, cells[column](row)])))}\n`
}

/** Writes a table page by page, so that its size does not matter. `first` is the first page. */
export async function* streamTable<Column extends string, Row>(
  table: Table<Column, Row>,
  first: readonly Row[],
  others: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string, void> {
  const formatRows = (rows: readonly Row[]): string => rows.map((row) => formatRow(table, row)).join('')
  yield formatHeader(table) + formatRows(first)
  for await (const rows of others) yield formatRows(rows)
}
