export type TableFaultCode =
  | 'empty_file'
  | 'binary'
  | 'wrong_encoding'
  | 'unreadable_file'
  | 'password_protected'
  | 'broken_xlsx'
  | 'no_header'
  | 'too_many_columns'
  | 'line_too_long'
  | 'too_many_open_quotes'
  | 'unknown_sheet'
  | 'too_many_merged_cells'

interface Details {
  line?: number
  column?: number
  otherSheets?: readonly string[]
}

/** A file that cannot be read. The message says why, in a sentence for the owner of the file. */
export class TableError extends Error {
  readonly code: TableFaultCode
  /** Counts from 1. Null for a fault without a place in the file. */
  readonly line: number | null
  readonly column: number | null
  /** The other visible sheets of a workbook, of which one may be the table. */
  readonly otherSheets: readonly string[]

  constructor(code: TableFaultCode, message: string, { line, column, otherSheets }: Details = {}) {
    super(message)
    this.name = 'TableError'
    this.code = code
    this.line = line ?? null
    this.column = column ?? null
    this.otherSheets = otherSheets ?? []
  }
}

/**
 * A row whose cells are uncertain. `open_quote`: a quotation mark is never closed, so the cells are those of its line.
 * `misplaced_quote`: quotation marks stand where none can be. `too_many_cells`: the row is wider than the table.
 */
export interface RowFault {
  code: 'open_quote' | 'misplaced_quote' | 'too_many_cells'
  /** The first column, from 1, that the fault concerns. */
  column: number
}

export const maxColumns = 200
export const maxLineBytes = 262_144
/** A quotation mark with more bytes behind it counts as unclosed. */
export const maxRecordBytes = 65_536
/** Each open quotation mark makes a part of the file be read again. */
export const maxOpenQuotes = 100
