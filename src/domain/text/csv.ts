export type CsvValue = string | number | null

export interface CsvForm {
  delimiter: string
  /** False for readers that treat quotation marks as ordinary characters. */
  quotes: boolean
}

const standardForm: CsvForm = { delimiter: ',', quotes: true }

/** Spreadsheets may cut a cell at any of these, because the delimiter depends on the country of the computer. */
const separators = /([,;|\t\r\n])/
const formula = /^[" ]*[=+\-@＝＋－＠]/
/** Signed numbers and phone numbers compute nothing. */
const signedNumber = /^[+-][ (]*\d[\d .()]*$/
/** Exporters write `="0012"` to keep a cell as it is. It computes nothing. */
const formulaOfText = /^="(?:[^"]|"")*"$/

/** A dash alone stands for "no value". */
const isHarmless = (part: string): boolean => part === '-' || signedNumber.test(part) || formulaOfText.test(part)

/** Puts an apostrophe before what a spreadsheet would compute, also where it would begin a cell of its own. */
export function guardFormulas(text: string): string {
  const guardedText = text
    .split(separators)
    .map((part) => (formula.test(part) && !isHarmless(part) ? `'${part}` : part))
    .join('')
  return /^[\t\r\n]/.test(guardedText) ? `'${guardedText}` : guardedText
}

/** Reads a cell that `guardFormulas` wrote. */
export const removeFormulaGuard = (cell: string): string =>
  cell.startsWith("'") && guardFormulas(cell.slice(1)) === cell ? cell.slice(1) : cell

/** Most cells begin with a letter or a digit and have no separator, so that nothing in them needs a guard or quotes. */
const plainCell = /^\w[^",;|\t\r\n]*$/

/** Writes a cell of RFC 4180. Cells with a delimiter of any country are quoted, so that every spreadsheet keeps them. */
export function formatCsvCell(cell: CsvValue, { delimiter, quotes }: CsvForm = standardForm): string {
  if (cell === null || typeof cell === 'number') return cell === null ? '' : String(cell)
  if (quotes && plainCell.test(cell)) return cell
  const text = guardFormulas(cell)
  if (!quotes) return text.replaceAll(delimiter, ' ').replaceAll(/[\r\n]+/g, ' ')
  return /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const formatCsvRecord = (cells: readonly CsvValue[]): string =>
  `${cells.map((cell) => formatCsvCell(cell)).join(',')}\r\n`

/** Spreadsheets detect UTF-8 by it. */
export const byteOrderMark = '\u{FEFF}'
