import { encodeText } from './encoding/encode.ts'
import { getByteOrderMark } from './encoding/names.ts'
import type { RowFault } from './faults.ts'
import type { CsvFormat, FileFormat, XlsxFormat } from './format.ts'
import { joinBytes } from './lines.ts'

/** A row that was not imported. `raw`: its original bytes; a row of an xlsx file has none. */
export interface FailedRow {
  line: number
  errors: string[]
  cells: string[]
  raw: Uint8Array | null
  fault?: RowFault | null
}

/** The columns that a report adds; first, because rows differ in length. They are no columns when it is read again. */
const reportColumns = ['_line', '_errors'] as const

type WrittenFormat = Pick<CsvFormat, 'encoding' | 'delimiter' | 'quotes' | 'lineBreak'>

const xlsxReportFormat: WrittenFormat = { encoding: 'utf-8', delimiter: ';', quotes: true, lineBreak: '\r\n' }

const getWrittenFormat = (format: FileFormat): WrittenFormat => (format.kind === 'csv' ? format : xlsxReportFormat)

function writeCell(cell: string, { delimiter, quotes }: WrittenFormat): string {
  if (!quotes) return cell.replaceAll(delimiter, ' ').replaceAll(/[\r\n]+/g, ' ')
  return cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** A formula begins with an apostrophe, which reading removes again. */
const guardFormula = (cell: string): string => (/^[=@]|^[+-](?![\d\s.,()]*$)/.test(cell) ? `'${cell}` : cell)

/** `="0012"`, by which exporters keep a cell as it is, runs nothing. */
const isFormula = (cell: string): boolean => guardFormula(cell) !== cell && !/^="(?:[^"]|"")*"$/.test(cell)

/** A row without formulas is repeated byte by byte; one with an open quotation mark cannot be written anew. */
const isSafeToRepeat = ({ cells, fault }: FailedRow): boolean => fault?.code === 'open_quote' || !cells.some(isFormula)

const lineFeed = 10
const carriageReturn = 13

/** Original bytes with a line break at their end; that of the last row of a file may lack one. */
function endWithLineBreak(raw: Uint8Array, written: WrittenFormat): Uint8Array {
  const unit = written.encoding.startsWith('utf-16') ? raw.subarray(-2) : raw.subarray(-1)
  const isEnded =
    unit.some((byte) => byte === lineFeed || byte === carriageReturn) && unit.every((byte) => byte <= carriageReturn)
  return isEnded ? raw : joinBytes([raw, encodeText(written.lineBreak, written.encoding)])
}

function listNames(format: CsvFormat | XlsxFormat): string[] {
  return format.names.map((name, index) => (name === '' ? `Column ${index + 1}` : name))
}

/** How a report begins: as the original does, down to its header. @param header the original bytes of that. */
export function writeReportHeader(format: FileFormat, header: Uint8Array | null): Uint8Array {
  const written = getWrittenFormat(format)
  const { delimiter, encoding, lineBreak } = written
  const mark = format.kind === 'xlsx' || format.markLength > 0 ? getByteOrderMark(encoding) : new Uint8Array()
  const separator = format.kind === 'csv' && format.hasSeparatorLine ? `sep=${delimiter}${lineBreak}` : ''
  const added = reportColumns.join(delimiter) + delimiter
  const names = listNames(format).map((name) => writeCell(name, written))
  const rest = header ? endWithLineBreak(header, written) : encodeText(names.join(delimiter) + lineBreak, encoding)
  return joinBytes([mark, encodeText(separator + added, encoding), rest])
}

/** A row of the report: what is wrong with it, and the original, in which a spreadsheet runs nothing. */
export function writeReportRow(format: FileFormat, row: FailedRow): Uint8Array {
  const written = getWrittenFormat(format)
  const { delimiter, encoding, lineBreak } = written
  const added = `${row.line}${delimiter}${writeCell(guardFormula(row.errors.join(' ')), written)}${delimiter}`
  const texts = row.cells.map((cell) => writeCell(isFormula(cell) ? guardFormula(cell) : cell, written))
  const rest =
    row.raw && isSafeToRepeat(row)
      ? endWithLineBreak(row.raw, written)
      : encodeText(texts.join(delimiter) + lineBreak, encoding)
  return joinBytes([encodeText(added, encoding), rest])
}
