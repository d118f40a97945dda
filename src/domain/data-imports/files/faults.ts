import { type RowFault, TableError, type TableFaultCode } from '@ecms/table-reader'

type FileFaultCode = 'empty_file' | 'too_many_rows' | 'too_much_text'

/** A file that can be read and not be imported. */
export class FileError extends Error {
  readonly code: FileFaultCode
  /** The number of the line in the file, from 1, or null. */
  readonly line: number | null

  constructor(code: FileFaultCode, message: string, line: number | null = null) {
    super(message)
    this.name = 'FileError'
    this.code = code
    this.line = line
  }
}

/** Names the other sheets of a workbook, one of which may have the orders. Empty without other sheets. */
export function buildSheetHint(otherSheets: readonly string[]): string {
  const names = otherSheets.map((name) => `"${name}"`)
  return names.length === 0 ? '' : ` If another sheet has the orders, name it in the option sheet: ${names.join(', ')}.`
}

/** The options of an import that help against a fault of its file. */
const advice: Partial<Record<TableFaultCode, string>> = {
  wrong_encoding: ' Set encoding to auto.',
  no_header: ' Add a row with column names, or set has_header to false.',
  too_many_open_quotes: ' Set quotes to none, or correct the file.',
}

/** The code and the message with which an import fails. */
export interface FileFault {
  code: string
  message: string
}

function addPlace(message: string, { line, column }: { line: number | null; column: number | null }): string {
  const place = [line === null ? '' : `line ${line}`, column === null ? '' : `column ${column}`].filter(Boolean)
  const namesPlace = place.every((part) => message.toLowerCase().includes(part))
  return namesPlace ? message : `${message} (${place.join(', ')})`
}

export function describeFileFault(error: TableError | FileError): FileFault {
  if (error instanceof FileError)
    return { code: error.code, message: addPlace(error.message, { line: error.line, column: null }) }
  const message = error.message + (advice[error.code] ?? '') + buildSheetHint(error.otherSheets)
  return { code: error.code === 'wrong_encoding' ? 'binary' : error.code, message: addPlace(message, error) }
}

export function describeRowFault({ code, column }: RowFault): string {
  switch (code) {
    case 'open_quote':
      return `The quotation mark in column ${column} is never closed.`
    case 'misplaced_quote':
      return (
        `The quotation marks in column ${column} are misplaced. Put one at each end of the cell and double those ` +
        'inside, or set quotes to none.'
      )
    case 'too_many_cells':
      return (
        `The row has more cells than the ${column - 1} columns of the header. Put quotation marks around cells that ` +
        'contain the delimiter.'
      )
  }
}

/** The canonical copy of a file may have this many bytes, and many times the size of the file. */
const shortCopyBytes = 33_554_432
const maxCopyRatio = 100
export const getMaxCopyBytes = (fileSize: number): number => shortCopyBytes + maxCopyRatio * fileSize

export const maxRows = 1_000_000
