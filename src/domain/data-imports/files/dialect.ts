import { delimiters, splitLines, splitRecords, unwrapRecord, type Delimiter, type Dialect } from './split.ts'

export interface DetectedDialect extends Dialect {
  /** From 0 to 1. */
  confidence: number
  /** The file begins with a line such as `sep=;`. */
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
  let best = 0
  for (const [width, count] of counts) {
    const bestCount = counts.get(best) ?? 0
    if (count > bestCount || (count === bestCount && width > best)) best = width
  }
  return best
}

interface Rating extends Dialect {
  fit: number
  score: number
}

function measureRows(text: string, dialect: Dialect): { widths: number[]; isOpen: boolean } {
  const { records: outer, isOpen } = splitRecords(text, dialect)
  const records = dialect.isWrapped ? outer.map((cells) => unwrapRecord(cells, dialect, null)) : outer
  return { widths: records.filter((cells) => measureFilledWidth(cells) > 0).map(({ length }) => length), isOpen }
}

/** Scores a delimiter: a wrong one does not give many columns in rows of one width. */
function rateDialect(text: string, dialect: Dialect): Rating {
  const { widths, isOpen } = measureRows(text, dialect)
  const common = findCommonWidth(widths.filter((width) => width > 1))
  if (common < 2) return { ...dialect, fit: 0, score: 0 }
  // Excel leaves out empty cells at the end, and titles are short, so narrow rows cost less than wide ones.
  const fit = widths.reduce((sum, width) => sum + (width === common ? 1 : width < common ? 0.3 : 0), 0) / widths.length
  return { ...dialect, fit, score: fit * (1 + Math.log2(common)) * (isOpen ? 0.98 : 1) }
}

/** One unclosed quotation mark is a mistake. In this many lines the character is not a quotation mark. */
const fewestPlainMarks = 3

/** PHP writes `\\"` for a quotation mark. At the end of a cell, it may be a backslash before the closing mark. */
const phpQuote = /\\"[^,;|\t\r\n]/
const emptyCell = /(^|[,;|\t\r\n])""(?=[,;|\t\r\n]|$)/g

const hasPhpQuotes = (text: string): boolean => phpQuote.test(text) && !text.replaceAll(emptyCell, '$1').includes('""')

const fewestWrappedLines = 2

/** Reads lines that are quoted as a whole if that makes one table of all of them. */
function rateQuoted(text: string, delimiter: Delimiter): Rating {
  const dialect = { delimiter, quotes: true, ...(hasPhpQuotes(text) ? { hasBackslashes: true } : {}) }
  const lines = splitLines(text).filter((line) => line.trim() !== '')
  const areQuoted = lines.every((line) => line.startsWith('"') && line.trimEnd().endsWith('"'))
  if (lines.length >= fewestWrappedLines && areQuoted && rateDialect(text, dialect).score === 0) {
    const wrapped = rateDialect(text, { ...dialect, isWrapped: true })
    if (wrapped.fit === 1) return wrapped
  }
  return rateDialect(text, dialect)
}

/** Ignores quotation marks where they break a table that is whole without them. */
function rateQuotes(text: string, delimiter: Delimiter): Rating {
  const quotedRating = rateQuoted(text, delimiter)
  if (quotedRating.fit === 1 || !text.includes('"')) return quotedRating
  const plainRating = rateDialect(text, { delimiter, quotes: false })
  if (plainRating.fit < 1) return quotedRating
  const linesWithMarks = splitLines(text).filter((line) => line.split(delimiter).some((cell) => cell.startsWith('"')))
  return linesWithMarks.length >= fewestPlainMarks ? plainRating : quotedRating
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
  const delimiterSetting = options.delimiter ?? separator
  const ratings = (delimiterSetting ? [delimiterSetting] : delimiters)
    .map((delimiter) =>
      options.quotes === undefined
        ? rateQuotes(body, delimiter)
        : options.quotes
          ? rateQuoted(body, delimiter)
          : rateDialect(body, { delimiter, quotes: false }),
    )
    .toSorted((one, other) => other.score - one.score)
  const best = ratings[0]!
  const second = ratings[1]
  const details = { lineBreak, hasSeparatorLine: separator !== null }
  if (best.score === 0)
    return {
      ...details,
      delimiter: delimiterSetting ?? ',',
      quotes: options.quotes ?? true,
      confidence: delimiterSetting ? 1 : 0.5,
    }
  const confidence = delimiterSetting ? 1 : second ? Math.round((1 - (0.5 * second.score) / best.score) * 100) / 100 : 1
  const { fit: _fit, score: _score, ...dialect } = best
  return { ...details, ...dialect, confidence }
}

const leastShare = 0.6

export const hasColumns = (text: string): boolean =>
  delimiters.some((delimiter) => {
    const { widths } = measureRows(text, { delimiter, quotes: true })
    const common = findCommonWidth(widths)
    return common > 1 && widths.filter((width) => width === common).length >= widths.length * leastShare
  })
