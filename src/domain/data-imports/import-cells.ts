/** The characters of a date, an amount, a number or a language. A longer cell is none of these, and is not searched. */
export const maxParsedLength = 100

/** White space and invisible characters, which are removed at both ends. */
const edge = /[\s\u00a0\u200b-\u200f\u2060\ufeff]/
const formulaOfText = /^="((?:[^"]|"")*)"$/
/** Marks of exporters that keep a spreadsheet from reading a cell as a number or a formula. */
const apostropheGuard = /^'(?=[=+\-@\d])/

/** Spellings for a cell without a value. The word null is a family name. */
const blanks = new Set([
  '-',
  '--',
  '---',
  '–',
  '—',
  './.',
  'n/a',
  '#n/a',
  '#nv',
  'n.a.',
  'k.a.',
  'n.v.t.',
  'b/d',
  'info requested',
  '\\n',
  '(null)',
  '<null>',
  '[null]',
  '#null!',
])

const longestBlank = Math.max(...Array.from(blanks, ({ length }) => length))

const isBlank = (text: string): boolean =>
  text === '' || (text.length <= longestBlank && blanks.has(text.toLowerCase()))

const isLetterOrDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Most cells begin and end with a letter or a digit: they have neither guards nor white space around them. */
const isBare = (cell: string): boolean =>
  isLetterOrDigit(cell.charCodeAt(0)) && isLetterOrDigit(cell.charCodeAt(cell.length - 1))

/** Searches from both ends, because one pattern would search white space inside of a long cell repeatedly. */
function trimEdges(cell: string): string {
  let [start, end] = [0, cell.length]
  while (start < end && edge.test(cell.charAt(start))) start++
  while (start < end && edge.test(cell.charAt(end - 1))) end--
  return cell.slice(start, end)
}

/** The value of a cell: without surrounding white space and marks of exporters; empty for "no value". */
export function cleanCell(cell: string): string {
  if (isBare(cell)) return isBlank(cell) ? '' : cell
  const trimmed = trimEdges(cell)
  const formula = formulaOfText.exec(trimmed)
  const text = formula ? trimEdges(formula[1]!.replaceAll('""', '"')) : trimmed.replace(apostropheGuard, '')
  return isBlank(text) ? '' : text
}
