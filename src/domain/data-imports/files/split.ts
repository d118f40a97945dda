import { parse } from 'csv-parse/browser/esm/sync'

export const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

/** The format of the records of a file. */
export interface Dialect {
  delimiter: Delimiter
  /** False where a quotation mark is a character like others, such as that of inches. */
  quotes: boolean
}

/** Lines as a text editor shows them; the last one may lack its line break. */
export function splitLines(text: string): string[] {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text
  const lines = plain.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const recordDelimiters = ['\r\n', '\n', '\r']
const notClosed = 'CSV_QUOTE_NOT_CLOSED'

/** The records of whole lines. `isOpen`: behind them a quotation mark opens that the text does not close. */
export function splitRecords(text: string, dialect: Dialect): { records: string[][]; isOpen: boolean } {
  if (!dialect.quotes || !text.includes('"'))
    return { records: splitLines(text).map((line) => line.split(dialect.delimiter)), isOpen: false }
  const records: string[][] = []
  try {
    // Bytes, because the library takes twice the time for text.
    parse(new TextEncoder().encode(text), {
      delimiter: dialect.delimiter,
      record_delimiter: recordDelimiters,
      relax_quotes: true,
      relax_column_count: true,
      on_record: (record: string[]) => void records.push(record),
    })
  } catch (error) {
    if ((error as { code?: unknown }).code !== notClosed) throw error
    return { records, isOpen: true }
  }
  return { records, isOpen: false }
}
