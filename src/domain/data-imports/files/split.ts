import { parse } from 'csv-parse/browser/esm/sync'

export const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

export interface Dialect {
  delimiter: Delimiter
  /** False if quotation marks are ordinary characters, such as those of inches. */
  quotes: boolean
  /** Whether `\\"` is a quotation mark inside of a quoted cell, as PHP writes it. */
  hasBackslashes?: boolean
  /** Whether each line is one quoted cell that contains the cells. */
  isWrapped?: boolean
}

/** The last line may lack its line break. */
export function splitLines(text: string): string[] {
  const normalized = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text
  const lines = normalized.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const recordDelimiters = ['\r\n', '\n', '\r']
const notClosed = 'CSV_QUOTE_NOT_CLOSED'

const spacesAroundQuotes = /(?:^|[,;|\t\r\n]) +"|" +(?:[,;|\t\r\n]|$)/

const skipSpaces = (text: string, from: number): number => {
  let at = from
  while (text[at] === ' ') at++
  return at
}

const isCellEnd = (letter: string | undefined, delimiter: string): boolean =>
  letter === undefined || letter === delimiter || letter === '\n' || letter === '\r'

/** Returns the quoted cell that begins at a quotation mark, and where it ends; null for one that does not end well. */
function readQuotedCell(
  text: string,
  from: number,
  { delimiter, hasBackslashes }: Dialect,
): { cell: string; end: number } | null {
  let cell = '"'
  let start = from + 1
  for (let at = start; at < text.length; at++) {
    const isEscaped = text[at] === '\\' && text[at + 1] === '"' && hasBackslashes
    if (!isEscaped && text[at] !== '"') continue
    cell += text.slice(start, at)
    if (!isEscaped && text[at + 1] !== '"') {
      const end = skipSpaces(text, at + 1)
      return isCellEnd(text[end], delimiter) ? { cell: `${cell}"`, end } : null
    }
    cell += '""'
    at++
    start = at + 1
  }
  return null
}

/**
 * Removes byte order marks and spaces around quoted cells, and doubles the quotation marks that PHP escapes. Line breaks
 * stay where they are.
 */
export function tidyText(text: string, dialect: Dialect): string {
  const source = text.replaceAll('\ufeff', '')
  if (!dialect.quotes || !(dialect.hasBackslashes || spacesAroundQuotes.test(source))) return source
  const parts: string[] = []
  let at = 0
  while (at < source.length) {
    const start = skipSpaces(source, at)
    const quoted = source[start] === '"' ? readQuotedCell(source, start, dialect) : null
    let end = quoted?.end ?? start
    if (!quoted) while (!isCellEnd(source[end], dialect.delimiter)) end++
    parts.push(quoted ? quoted.cell : source.slice(at, end), source[end] ?? '')
    at = end + 1
  }
  return parts.join('')
}

/** Splits a record whose only cell contains the cells, as of a line that was quoted as a whole. */
export function unwrapRecord(cells: string[], dialect: Dialect, width: number | null): string[] {
  const [cell = ''] = cells
  if (cells.length !== 1 || !dialect.quotes || !cell.includes(dialect.delimiter)) return cells
  const { records, isOpen } = splitRecords(cell, dialect)
  const [inner = []] = records
  if (isOpen || records.length !== 1) return cells
  return dialect.isWrapped || inner.length === width ? inner : cells
}

/** `isOpen`: a quotation mark opens behind the records and is never closed. */
export function splitRecords(original: string, dialect: Dialect): { records: string[][]; isOpen: boolean } {
  const text = tidyText(original, dialect)
  if (!dialect.quotes || !text.includes('"'))
    return { records: splitLines(text).map((line) => line.split(dialect.delimiter)), isOpen: false }
  const records: string[][] = []
  try {
    // The library takes twice as long for text as for bytes.
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
