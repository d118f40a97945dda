import { encodeText } from './encoding/encode.ts'
import { getByteOrderMark } from './encoding/names.ts'
import type { RowFault } from './faults.ts'
import type { CsvFormat, FileFormat, XlsxFormat } from './format.ts'
import { joinBytes } from './lines.ts'

/** `raw` has the original bytes; a row of a workbook has none. */
export interface FailedRow {
  line: number
  errors: string[]
  cells: string[]
  raw: Uint8Array | null
  fault?: RowFault | null
}

/** A report begins with these columns, because rows differ in length. Reading it again ignores them. */
const reportColumns = ['_line', '_errors'] as const

type ReportFormat = Pick<CsvFormat, 'encoding' | 'delimiter' | 'quotes' | 'lineBreak'>

const xlsxReportFormat: ReportFormat = { encoding: 'utf-8', delimiter: ';', quotes: true, lineBreak: '\r\n' }

const chooseReportFormat = (format: FileFormat): ReportFormat => (format.kind === 'csv' ? format : xlsxReportFormat)

function writeCell(cell: string, { delimiter, quotes }: ReportFormat): string {
  if (!quotes) return cell.replaceAll(delimiter, ' ').replaceAll(/[\r\n]+/g, ' ')
  return cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Puts an apostrophe before formulas. Reading removes it again. */
const guardFormula = (cell: string): string => (/^[=@]|^[+-](?![\d\s.,()]*$)/.test(cell) ? `'${cell}` : cell)

/** Exporters write `="0012"` to keep a cell as it is. It runs nothing. */
const isFormula = (cell: string): boolean => guardFormula(cell) !== cell && !/^="(?:[^"]|"")*"$/.test(cell)

/** A row without formulas is repeated byte by byte. A row with an open quotation mark cannot be written again. */
const isSafeToRepeat = ({ cells, fault }: FailedRow): boolean => fault?.code === 'open_quote' || !cells.some(isFormula)

const lineFeed = 10
const carriageReturn = 13

function endWithLineBreak(raw: Uint8Array, reportFormat: ReportFormat): Uint8Array {
  const unit = reportFormat.encoding.startsWith('utf-16') ? raw.subarray(-2) : raw.subarray(-1)
  const isEnded =
    unit.some((byte) => byte === lineFeed || byte === carriageReturn) && unit.every((byte) => byte <= carriageReturn)
  return isEnded ? raw : joinBytes([raw, encodeText(reportFormat.lineBreak, reportFormat.encoding)])
}

function listNames(format: CsvFormat | XlsxFormat): string[] {
  return format.names.map((name, index) => (name === '' ? `Column ${index + 1}` : name))
}

/** @param header the original bytes of the header */
export function writeReportHeader(format: FileFormat, header: Uint8Array | null): Uint8Array {
  const reportFormat = chooseReportFormat(format)
  const { delimiter, encoding, lineBreak } = reportFormat
  const mark = format.kind === 'xlsx' || format.markLength > 0 ? getByteOrderMark(encoding) : new Uint8Array()
  const separator = format.kind === 'csv' && format.hasSeparatorLine ? `sep=${delimiter}${lineBreak}` : ''
  const addedCells = reportColumns.join(delimiter) + delimiter
  const names = listNames(format).map((name) => writeCell(name, reportFormat))
  const headerCells = header
    ? endWithLineBreak(header, reportFormat)
    : encodeText(names.join(delimiter) + lineBreak, encoding)
  return joinBytes([mark, encodeText(separator + addedCells, encoding), headerCells])
}

export function writeReportRow(format: FileFormat, row: FailedRow): Uint8Array {
  const reportFormat = chooseReportFormat(format)
  const { delimiter, encoding, lineBreak } = reportFormat
  const addedCells = `${row.line}${delimiter}${writeCell(guardFormula(row.errors.join(' ')), reportFormat)}${delimiter}`
  const texts = row.cells.map((cell) => writeCell(isFormula(cell) ? guardFormula(cell) : cell, reportFormat))
  const rowCells =
    row.raw && isSafeToRepeat(row)
      ? endWithLineBreak(row.raw, reportFormat)
      : encodeText(texts.join(delimiter) + lineBreak, encoding)
  return joinBytes([encodeText(addedCells, encoding), rowCells])
}
