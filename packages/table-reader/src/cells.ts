import { invisibleOrSpace } from './text.ts'

/** Exporters write `="0012"` so that a spreadsheet keeps the cell as text. */
const formulaOfText = /^="((?:[^"]|"")*)"$/
/** Exporters write this mark so that a spreadsheet does not read the cell as a number or a formula. */
const apostropheGuard = /^'(?=[=+\-@＝＋－＠\d\t\r\n])/

/** Spellings of "no value". `null` is missing because it is a family name. */
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
  '#i/t',
  '#n/b',
  '#n/d',
  '#saknas!',
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

/** Most cells begin and end with a letter or a digit and need no cleaning. */
const isBare = (cell: string): boolean =>
  isLetterOrDigit(cell.charCodeAt(0)) && isLetterOrDigit(cell.charCodeAt(cell.length - 1))

/** Searches from both ends, because one pattern would search white space inside of a long cell repeatedly. */
function trimEdges(cell: string): string {
  let [start, end] = [0, cell.length]
  while (start < end && invisibleOrSpace.test(cell.charAt(start))) start++
  while (start < end && invisibleOrSpace.test(cell.charAt(end - 1))) end--
  return cell.slice(start, end)
}

/** Removes white space and marks of exporters around a value. Returns '' for a spelling of "no value". */
export function cleanCell(cell: string): string {
  if (isBare(cell)) return isBlank(cell) ? '' : cell
  const trimmedCell = trimEdges(cell)
  const formula = formulaOfText.exec(trimmedCell)
  const text = formula
    ? trimEdges(formula[1]!.replaceAll('""', '"'))
    : trimEdges(trimmedCell.replace(apostropheGuard, ''))
  return isBlank(text) ? '' : text
}
