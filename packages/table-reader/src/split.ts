import { parse } from 'csv-parse/browser/esm/sync'

export const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]

/** Quotation marks of other programs: apostrophes as in SQL, and typographic marks of word processors. */
export const otherQuotationMarks = ['single', 'typographic'] as const
export type OtherQuotationMarks = (typeof otherQuotationMarks)[number]

export interface Dialect {
  delimiter: Delimiter
  /** False if quotation marks are ordinary characters, such as those of inches. */
  quotes: boolean
  /** True if `\"` is a quotation mark inside of a quoted cell, as PHP writes it. */
  hasBackslashes?: boolean
  /** True if each line is one quoted cell that contains the cells. */
  isWrapped?: boolean
  /** Marks that quote cells as well as `"` does. */
  marks?: OtherQuotationMarks
}

/** The last line may lack its line break. */
export function splitLines(text: string): string[] {
  const normalizedText = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text
  const lines = normalizedText.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const recordDelimiters = ['\r\n', '\n', '\r']
const notClosed = 'CSV_QUOTE_NOT_CLOSED'

const space = ' \t\u00a0\u2007\u200b\u202f\u2060\u3000'

/** True if a quoted cell has spaces before or behind it. A tab is a space, unless it is the delimiter. */
function hasSpacesAroundQuotes(text: string): boolean {
  const isEdge = (letter: string | undefined): boolean => letter === undefined || ',;|\t\r\n'.includes(letter)
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    let from = at
    while (from > 0 && space.includes(text[from - 1]!)) from--
    if (from < at && (isEdge(text[from - 1]) || text.slice(from, at - 1).includes('\t'))) return true
    let to = at + 1
    while (to < text.length && space.includes(text[to]!)) to++
    if (to > at + 1 && (isEdge(text[to]) || text.slice(at + 2, to).includes('\t'))) return true
  }
  return false
}

const opening: Record<OtherQuotationMarks, string> = { single: "'", typographic: '“”„‟«»‘’‚‹›＂`´' }
const closing: Record<OtherQuotationMarks, string> = { single: "'", typographic: '“”‟«»‘’‹›＂`´' }

const skipSpaces = (text: string, from: number, delimiter: string): number => {
  let at = from
  while (at < text.length && text[at] !== delimiter && space.includes(text[at]!)) at++
  return at
}

const isCellEnd = (letter: string | undefined, delimiter: string): boolean =>
  letter === undefined || letter === delimiter || letter === '\n' || letter === '\r'

/** Excel adds delimiters behind a line that is quoted as a whole. */
function skipBehindQuotes(text: string, from: number, { delimiter, isWrapped }: Dialect): number {
  let at = skipSpaces(text, from, delimiter)
  if (!isWrapped) return at
  while (at < text.length && (delimiters as readonly string[]).includes(text[at]!)) at++
  return isCellEnd(text[at], '\n') ? at : skipSpaces(text, from, delimiter)
}

interface QuotedCell {
  cell: string
  end: number
}

/** Returns the quoted cell that begins at a quotation mark, and where it ends; null for one that does not end well. */
function readQuotedCell(text: string, from: number, dialect: Dialect): QuotedCell | null {
  const quotedCell = readUntilMark(text, from, dialect, true)
  return quotedCell || !dialect.hasBackslashes ? quotedCell : readUntilMark(text, from, dialect, false)
}

/** PHP does not escape a backslash at the end of a cell, so a mark behind one may be that of the end. */
function readUntilMark(text: string, from: number, dialect: Dialect, escapesEnd: boolean): QuotedCell | null {
  let cell = '"'
  let start = from + 1
  for (let at = start; at < text.length; at++) {
    const isBackslash = text[at] === '\\' && text[at + 1] === '"' && dialect.hasBackslashes
    const isEscaped = isBackslash && (escapesEnd || !isCellEnd(text[at + 2], dialect.delimiter))
    if (!isEscaped && text[at] !== '"') continue
    cell += text.slice(start, at)
    if (!isEscaped && text[at + 1] !== '"') {
      const end = skipBehindQuotes(text, at + 1, dialect)
      return isCellEnd(text[end], dialect.delimiter) ? { cell: `${cell}"`, end } : null
    }
    cell += '""'
    at++
    start = at + 1
  }
  return null
}

/** Other marks close a cell only at its end, because they are apostrophes too, and in the line where they open it. */
function readMarkedCell(
  text: string,
  from: number,
  marks: OtherQuotationMarks,
  delimiter: string,
): QuotedCell | number {
  let at = from + 1
  for (; at < text.length && text[at] !== '\n' && text[at] !== '\r'; at++) {
    if (!closing[marks].includes(text[at]!)) continue
    if (text[at + 1] === text[at] && !isCellEnd(text[skipSpaces(text, at + 2, delimiter)], delimiter)) at++
    const end = skipSpaces(text, at + 1, delimiter)
    if (!isCellEnd(text[end], delimiter)) continue
    const content = text
      .slice(from + 1, at)
      .replaceAll("\\'", "'")
      .replaceAll("''", "'")
    return { cell: `"${content.replaceAll('"', '""')}"`, end }
  }
  return at
}

interface TextCell {
  text: string
  /** True if marks other than `"` quote it. */
  isMarked: boolean
  /** True if quotation marks stand where none can be. */
  isBroken: boolean
  /** The delimiter or the first character of the line break behind it. */
  next: string
}

/** Walks through the cells of a text whose quoted cells may stand between spaces, and normalizes their marks. */
function* walkCells(text: string, dialect: Dialect): Generator<TextCell> {
  const { delimiter, marks } = dialect
  let at = 0
  // A mark that is never closed in its line tells the same of all marks behind it, which are not searched again.
  let closedFrom = 0
  while (at < text.length) {
    const start = skipSpaces(text, at, delimiter)
    let quotedCell = text[start] === '"' ? readQuotedCell(text, start, dialect) : null
    let isMarked = false
    if (!quotedCell && marks && start >= closedFrom && start < text.length && opening[marks].includes(text[start]!)) {
      const cell = readMarkedCell(text, start, marks, delimiter)
      if (typeof cell === 'number') closedFrom = cell
      else [quotedCell, isMarked] = [cell, true]
    }
    let end = quotedCell?.end ?? start
    if (!quotedCell) while (!isCellEnd(text[end], delimiter)) end++
    const content = quotedCell?.cell ?? text.slice(at, end)
    yield { text: content, isMarked, isBroken: !quotedCell && content.includes('"'), next: text[end] ?? '' }
    at = end + 1
  }
}

/** The second form is a mark that a program read as windows-1252 and wrote as UTF-8. */
const byteOrderMarks = /\ufeff|ï»¿/g

/**
 * Removes byte order marks and spaces around quoted cells, and writes all quotation marks as RFC 4180 does. Line breaks
 * stay where they are.
 */
export function tidyText(text: string, dialect: Dialect): string {
  const content = text.replaceAll(byteOrderMarks, '')
  const isUsual = !dialect.hasBackslashes && !dialect.marks && !dialect.isWrapped
  if (!dialect.quotes || (isUsual && !hasSpacesAroundQuotes(content))) return content
  const parts: string[] = []
  for (const cell of walkCells(content, dialect)) parts.push(cell.text, cell.next)
  return parts.join('')
}

/** True if a cell begins with a mark that does not end in its line. Spreadsheets put an apostrophe before a number. */
export const hasOpenMark = (cell: string, marks: OtherQuotationMarks): boolean =>
  cell !== '' && opening[marks].includes(cell[0]!) && !/^'[=+\-@\d]/.test(cell)

/** Counts the cells that are quoted by other marks, that are not empty, and that have misplaced marks. */
export function countCells(
  text: string,
  dialect: Dialect,
): { markedCells: number; filledCells: number; brokenCells: number } {
  const counts = { markedCells: 0, filledCells: 0, brokenCells: 0 }
  for (const cell of walkCells(text.replaceAll(byteOrderMarks, ''), dialect)) {
    if (cell.isMarked) counts.markedCells++
    if (cell.text.trim() !== '') counts.filledCells++
    if (cell.isBroken) counts.brokenCells++
  }
  return counts
}

/** Splits a record whose only cell contains the cells, because its line was quoted as a whole. */
export function unwrapRecord(cells: string[], dialect: Dialect, width: number | null): string[] {
  const [cell = '', ...others] = cells
  if (others.some((other) => other !== '') || !dialect.quotes || !cell.includes(dialect.delimiter)) return cells
  const { records, isOpen } = splitRecords(cell, { ...dialect, isWrapped: false })
  const [innerCells = []] = records
  if (isOpen || records.length !== 1) return cells
  return dialect.isWrapped || innerCells.length === width ? innerCells : cells
}

/** Splits a text into records. `isOpen` is true if a quotation mark opens behind them and is never closed. */
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
