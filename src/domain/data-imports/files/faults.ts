export type ReadFaultCode =
  | 'empty_file'
  | 'binary'
  | 'unreadable_file'
  | 'password_protected'
  | 'broken_xlsx'
  | 'no_header'
  | 'too_many_rows'
  | 'too_many_columns'
  | 'line_too_long'
  | 'too_many_open_quotes'
  | 'too_much_text'
  | 'unknown_sheet'
  | 'too_many_merged_cells'

/** Line and column count from 1; null for a fault without a place in the file. */
export interface ReadFault {
  code: ReadFaultCode
  message: string
  line: number | null
  column: number | null
}

export class ReadError extends Error {
  readonly fault: ReadFault

  constructor(code: ReadFaultCode, message: string, place: { line?: number; column?: number } = {}) {
    super(message)
    this.name = 'ReadError'
    this.fault = { code, message, line: place.line ?? null, column: place.column ?? null }
  }
}

type RowFaultCode = 'open_quote' | 'misplaced_quote' | 'too_many_cells'

export interface RowFault {
  code: RowFaultCode
  column: number
  message: string
}

export const buildOpenQuoteFault = (column: number): RowFault => ({
  code: 'open_quote',
  column,
  message: `The quotation mark in column ${column} is never closed.`,
})

export const buildMisplacedQuoteFault = (column: number): RowFault => ({
  code: 'misplaced_quote',
  column,
  message:
    `The quotation marks in column ${column} are misplaced. Put one at each end of the cell and double those inside, or ` +
    'set quotes to none.',
})

export const buildTooManyCellsFault = (width: number): RowFault => ({
  code: 'too_many_cells',
  column: width + 1,
  message:
    `The row has more cells than the ${width} columns of the header. Put quotation marks around cells that contain ` +
    'the delimiter.',
})

/** Names the other sheets of a workbook, one of which may have the orders. Empty without other sheets. */
export function buildSheetHint(sheetNames: readonly string[] = [], sheetName?: string): string {
  const names = sheetNames.filter((name) => name !== sheetName).map((name) => `"${name}"`)
  return names.length === 0 ? '' : ` If another sheet has the orders, name it in the option sheet: ${names.join(', ')}.`
}

/** The canonical copy of a file may have this many bytes, and many times the size of the file. */
const shortCopyBytes = 33_554_432
const maxCopyRatio = 100
export const getMaxCopyBytes = (fileSize: number): number => shortCopyBytes + maxCopyRatio * fileSize

export const maxRows = 1_000_000
export const maxTableColumns = 200
export const maxLineBytes = 262_144
/** A quotation mark with more bytes behind it counts as unclosed. */
export const maxRecordBytes = 65_536
/** Each open quotation mark makes a part of the file be read again. */
export const maxOpenQuotes = 100
