import {
  countCells,
  delimiters,
  otherQuotationMarks,
  splitLines,
  splitRecords,
  unwrapRecord,
  type Delimiter,
  type Dialect,
} from './split.ts'

export interface DetectedDialect extends Dialect {
  /** From 0 to 1. */
  confidence: number
  /** True if the file begins with a line such as `sep=;`. */
  hasSeparatorLine: boolean
  lineBreak: '\r\n' | '\n' | '\r'
}

const separatorLine = /^"?sep=(.)"?[;,\t|]*$/i

function readSeparatorLine(line: string): Delimiter | null {
  const character = separatorLine.exec(line.trimEnd())?.[1] ?? (/^"?sep=\t/i.test(line) ? '\t' : undefined)
  return delimiters.find((delimiter) => delimiter === character) ?? null
}

function detectLineBreak(text: string): '\r\n' | '\n' | '\r' {
  const pairs = text.split('\r\n').length - 1
  const feeds = text.split('\n').length - 1 - pairs
  const returns = text.split('\r').length - 1 - pairs
  if (pairs === 0 && feeds === 0 && returns === 0) return '\r\n'
  if (pairs >= feeds && pairs >= returns) return '\r\n'
  return feeds >= returns ? '\n' : '\r'
}

export function measureFilledWidth(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell.trim() !== '') + 1
}

/** Finds the width that most rows have; of two, the larger. */
export function findCommonWidth(widths: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1)
  let commonWidth = 0
  for (const [width, count] of counts) {
    const commonCount = counts.get(commonWidth) ?? 0
    if (count > commonCount || (count === commonCount && width > commonWidth)) commonWidth = width
  }
  return commonWidth
}

interface Rating extends Dialect {
  fit: number
  score: number
}

function measureRows(text: string, dialect: Dialect): { widths: number[]; isOpen: boolean } {
  const { records: outerRecords, isOpen } = splitRecords(text, dialect)
  const records = dialect.isWrapped ? outerRecords.map((cells) => unwrapRecord(cells, dialect, null)) : outerRecords
  const rows = records.map((cells) => ({ filledWidth: measureFilledWidth(cells), length: cells.length }))
  const isTable = rows.some(({ filledWidth }) => filledWidth > 1)
  return {
    widths: rows.filter(({ filledWidth }) => filledWidth > 0).map(({ length }) => (isTable ? length : 1)),
    isOpen,
  }
}

/** Scores a delimiter: a wrong one does not give many columns in rows of one width. */
function rateDialect(text: string, dialect: Dialect): Rating {
  const { widths, isOpen } = measureRows(text, dialect)
  const commonWidth = findCommonWidth(widths.filter((width) => width > 1))
  if (commonWidth < 2) return { ...dialect, fit: 0, score: 0 }
  // Excel leaves out empty cells at the end, and titles are short, so narrow rows cost less than wide ones.
  const fit =
    widths.reduce((sum, width) => sum + (width === commonWidth ? 1 : width < commonWidth ? 0.3 : 0), 0) / widths.length
  return { ...dialect, fit, score: fit * (1 + Math.log2(commonWidth)) * (isOpen ? 0.98 : 1) }
}

/** One unclosed quotation mark is a mistake. In this many lines the character is not a quotation mark. */
const fewestPlainMarks = 3

/** PHP writes `\\"` for a quotation mark, which breaks cells that are read without it. */
function hasPhpQuotes(text: string, delimiter: Delimiter): boolean {
  if (!text.includes('\\"')) return false
  const count = (hasBackslashes: boolean) => countCells(text, { delimiter, quotes: true, hasBackslashes }).brokenCells
  return count(true) < count(false)
}

/** This share of the rows makes a table. */
const leastShare = 0.6

const fewestWrappedLines = 2
/** A title with a comma looks like two columns. */
const fewestWrappedColumns = 3

/** Reads lines that are quoted as a whole if that makes a table of them. */
function rateWrapped(text: string, dialect: Dialect): Rating | null {
  const wrappedDialect = { ...dialect, isWrapped: true }
  const records = splitRecords(text, wrappedDialect).records.filter((cells) => measureFilledWidth(cells) > 0)
  const [first] = records
  if (!first || first.length > 1 || records.length < fewestWrappedLines) return null
  const widths = records.map((cells) => unwrapRecord(cells, wrappedDialect, null).length)
  const width = findCommonWidth(widths)
  const singleCount = records.filter((cells) => cells.length === 1).length
  if (widths[0] !== width || (width < fewestWrappedColumns && singleCount < records.length)) return null
  const rating = rateDialect(text, wrappedDialect)
  return rating.fit >= leastShare ? rating : null
}

function rateQuoted(text: string, delimiter: Delimiter): Rating {
  const dialect = { delimiter, quotes: true, ...(hasPhpQuotes(text, delimiter) ? { hasBackslashes: true } : {}) }
  const rating = rateDialect(text, dialect)
  return (text.includes('"') ? rateWrapped(text, dialect) : null) ?? rating
}

const fewestMarkedCells = 2

/**
 * Takes other quotation marks if most cells have them, all cells of the header, or apostrophes a cell in each row, and
 * if the table is not whole without them.
 */
function rateMarks(text: string, delimiter: Delimiter, usualRating: Rating): Rating | null {
  const lines = splitLines(text).filter((line) => line.trim() !== '')
  for (const marks of otherQuotationMarks) {
    const dialect = { delimiter, quotes: true, marks }
    const { markedCells, filledCells } = countCells(text, dialect)
    if (markedCells === 0) continue
    const rating = rateDialect(text, dialect)
    const header = countCells(lines[0] ?? '', dialect)
    const isUsual =
      markedCells >= fewestMarkedCells && (markedCells * 2 >= filledCells || header.markedCells === header.filledCells)
    if (isUsual && rating.fit >= leastShare) return rating
    const isInEachRow = marks === 'single' && markedCells >= fewestMarkedCells && markedCells >= lines.length - 1
    if (rating.fit > usualRating.fit || (isInEachRow && rating.fit === usualRating.fit && rating.score > 0))
      return rating
  }
  return null
}

/** Ignores quotation marks where they break a table that is whole without them. */
function rateQuotes(text: string, delimiter: Delimiter): Rating {
  const quotedRating = rateQuoted(text, delimiter)
  const markedRating = rateMarks(text, delimiter, quotedRating)
  if (markedRating || !text.includes('"')) return markedRating ?? quotedRating
  if (quotedRating.fit === 1) return quotedRating
  const plainRating = rateDialect(text, { delimiter, quotes: false })
  if (plainRating.fit < 1) return quotedRating
  const openingLines = splitLines(text).filter((line) => line.split(delimiter).some((cell) => cell.startsWith('"')))
  return openingLines.length >= fewestPlainMarks ? plainRating : quotedRating
}

/** @param text whole lines from the beginning of a file */
export function detectDialect(
  text: string,
  options: { delimiter?: Delimiter; quotes?: boolean } = {},
): DetectedDialect {
  const first = splitLines(text.slice(0, 200))[0] ?? ''
  const separator = readSeparatorLine(first)
  const lineBreak = detectLineBreak(text)
  const body = separator ? text.slice(text.search(/[\r\n]|$/)).replace(/^(\r\n|\n|\r)/, '') : text
  const rate = (candidates: readonly Delimiter[]): Rating[] =>
    candidates
      .map((delimiter) =>
        options.quotes === undefined
          ? rateQuotes(body, delimiter)
          : options.quotes
            ? rateQuoted(body, delimiter)
            : rateDialect(body, { delimiter, quotes: false }),
      )
      .toSorted((one, other) => other.score - one.score)
  const separatorFit = separator && !options.delimiter ? rate([separator])[0]!.fit : 1
  // A program may write the line of its country above a table with another delimiter.
  const isWrongSeparator = separatorFit < leastShare && rate(delimiters)[0]!.fit === 1
  const delimiterSetting = options.delimiter ?? (isWrongSeparator ? undefined : (separator ?? undefined))
  const ratings = rate(delimiterSetting ? [delimiterSetting] : delimiters)
  const bestRating = ratings[0]!
  const secondRating = ratings[1]
  const details = { lineBreak, hasSeparatorLine: separator !== null }
  if (bestRating.score === 0)
    return {
      ...details,
      delimiter: delimiterSetting ?? ',',
      quotes: options.quotes ?? true,
      confidence: delimiterSetting ? 1 : 0.5,
    }
  const confidence = delimiterSetting
    ? 1
    : secondRating
      ? Math.round((1 - (0.5 * secondRating.score) / bestRating.score) * 100) / 100
      : 1
  const { fit: _fit, score: _score, ...dialect } = bestRating
  return { ...details, ...dialect, confidence }
}

export const hasColumns = (text: string): boolean =>
  delimiters.some((delimiter) => {
    const { widths } = measureRows(text, { delimiter, quotes: true })
    const commonWidth = findCommonWidth(widths)
    return commonWidth > 1 && widths.filter((width) => width === commonWidth).length >= widths.length * leastShare
  })
