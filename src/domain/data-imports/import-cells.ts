/** White space at the ends, and marks that nobody sees. */
const edge = /[\s\u00a0\u200b-\u200f\u2060\ufeff]/
const formulaOfText = /^="((?:[^"]|"")*)"$/
/** By which exporters keep a spreadsheet from reading a cell as a number or a formula. */
const apostropheGuard = /^'(?=[=+\-@\d])/

/** How people and programs write that a cell has no value. The word null is a family name. */
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

/** One pattern for both ends would look at white space inside of a long cell again and again. */
function withoutEdges(cell: string): string {
  let [start, end] = [0, cell.length]
  while (start < end && edge.test(cell.charAt(start))) start++
  while (start < end && edge.test(cell.charAt(end - 1))) end--
  return cell.slice(start, end)
}

/** What a cell says: without white space around it, without the guards of exporters; empty for "no value". */
export function cleanCell(cell: string): string {
  if (isBare(cell)) return isBlank(cell) ? '' : cell
  const trimmed = withoutEdges(cell)
  const formula = formulaOfText.exec(trimmed)
  const text = formula ? withoutEdges(formula[1]!.replaceAll('""', '"')) : trimmed.replace(apostropheGuard, '')
  return isBlank(text) ? '' : text
}
