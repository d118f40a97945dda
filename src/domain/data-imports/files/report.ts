import {
  type CsvFormat,
  decodeText,
  encodeText,
  type FileFormat,
  findArchivePlace,
  getByteOrderMark,
  maxColumns,
  parseCsv,
  type RowFault,
  showUndecodable,
} from '@ecms/table-reader'
import { formatCsvCell, guardFormulas } from '../../text/csv.ts'
import { joinBytes } from '../../text/encoding.ts'

/** `raw` has the original bytes; a row of a workbook has none. */
export interface FailedRow {
  line: number
  errors: string[]
  cells: string[]
  raw: Uint8Array | null
  fault?: RowFault | null
}

/**
 * A report begins with these columns, because rows differ in length. Reading it again ignores them. The file is that of an
 * archive.
 */
const reportColumns = ['_line', '_errors'] as const
const fileColumn = '_file'

type ReportFormat = Pick<CsvFormat, 'encoding' | 'delimiter' | 'quotes' | 'lineBreak'>

const xlsxReportFormat: ReportFormat = { encoding: 'utf-8', delimiter: ';', quotes: true, lineBreak: '\r\n' }

function chooseReportFormat(format: FileFormat): ReportFormat {
  if (format.kind === 'csv') return format
  const delimiter = format.kind === 'archive' ? format.files[0]?.format.delimiter : undefined
  return delimiter ? { ...xlsxReportFormat, delimiter } : xlsxReportFormat
}

/** Describes where a line of an archive stands, such as `cleaned.csv:3`. Null for other files. */
export function describePlace(format: FileFormat, line: number): string | null {
  if (format.kind !== 'archive') return null
  const place = findArchivePlace(format, line)
  return `${place.name}:${place.line}`
}

const hasWrongQuotes = (fault: RowFault | null | undefined): boolean =>
  fault?.code === 'open_quote' || fault?.code === 'misplaced_quote'

const isSafe = (cell: string): boolean => guardFormulas(cell) === cell

/** Cells are added to rows of a report, where other kinds of quoting would not be recognized again. */
const hasUsualQuotes = (format: FileFormat): boolean =>
  format.kind === 'csv' && !format.marks && !format.isWrapped && !format.hasBackslashes

/** True if the line was quoted as a whole although the others are not. */
function isWrapped(raw: Uint8Array | null, cells: readonly string[], format: FileFormat): boolean {
  if (!raw || format.kind !== 'csv' || cells.length < 2) return false
  const text = decodeText(raw, format.encoding)
  return /^[\s\ufeff]*"/.test(text) && parseCsv(text, format)[0]?.[1] !== cells[1]
}

/**
 * A row is repeated byte by byte unless it contains formulas, cells that the copy lacks, or an open quotation mark,
 * which would swallow the rows behind it.
 */
const isSafeToRepeat = ({ cells, fault, raw }: FailedRow, format: FileFormat): boolean =>
  !hasWrongQuotes(fault) &&
  hasUsualQuotes(format) &&
  !isWrapped(raw, cells, format) &&
  cells.length <= maxColumns &&
  cells.every(isSafe)

/** The cells of such a row contain its marks. */
const removeWrongQuotes = ({ cells, fault }: FailedRow): readonly string[] =>
  hasWrongQuotes(fault) ? cells.map((cell) => cell.replaceAll('"', '')) : cells

const lineFeed = 10
const carriageReturn = 13

function endWithLineBreak(raw: Uint8Array, reportFormat: ReportFormat): Uint8Array {
  const unit = reportFormat.encoding.startsWith('utf-16') ? raw.subarray(-2) : raw.subarray(-1)
  const isEnded =
    unit.some((byte) => byte === lineFeed || byte === carriageReturn) && unit.every((byte) => byte <= carriageReturn)
  return isEnded ? raw : joinBytes([raw, encodeText(reportFormat.lineBreak, reportFormat.encoding)])
}

function listNames(format: FileFormat): string[] {
  return format.names.map((name, index) => (name === '' ? `Column ${index + 1}` : name))
}

/** @param header the original bytes of the header */
export function writeReportHeader(format: FileFormat, header: Uint8Array | null): Uint8Array {
  const reportFormat = chooseReportFormat(format)
  const { delimiter, encoding, lineBreak } = reportFormat
  // Spreadsheets read UTF-8 without its mark as another encoding.
  const hasMark = encoding === 'utf-8' || (format.kind === 'csv' && format.markLength > 0)
  const mark = hasMark ? getByteOrderMark(encoding) : new Uint8Array()
  const separator = format.kind === 'csv' && format.hasSeparatorLine ? `sep=${delimiter}${lineBreak}` : ''
  const columns = format.kind === 'archive' ? [...reportColumns, fileColumn] : reportColumns
  const addedCells = columns.join(delimiter) + delimiter
  const names = listNames(format)
  const text = names.map((name) => formatCsvCell(name, reportFormat)).join(delimiter) + lineBreak
  const headerCells =
    header && hasUsualQuotes(format) && names.every(isSafe)
      ? endWithLineBreak(header, reportFormat)
      : encodeText(text, encoding)
  return joinBytes([mark, encodeText(separator + addedCells, encoding), headerCells])
}

const hasFragileDigits = /^(?:0\d+|\d{16,})$/

/** Spreadsheets cut leading zeros and long numbers of a CSV file, which a workbook keeps as text. */
const keepDigits = (cell: string): string => (hasFragileDigits.test(cell) ? `="${cell}"` : cell)

export function writeReportRow(format: FileFormat, row: FailedRow): Uint8Array {
  const reportFormat = chooseReportFormat(format)
  const { delimiter, encoding, lineBreak } = reportFormat
  const place = describePlace(format, row.line)
  const addedCells = [
    String(row.line),
    formatCsvCell(row.errors.join(' '), reportFormat),
    ...(place === null ? [] : [formatCsvCell(place, reportFormat)]),
    '',
  ].join(delimiter)
  const cells = format.kind === 'xlsx' ? row.cells.map(keepDigits) : removeWrongQuotes(row)
  const texts = cells.map((cell) => formatCsvCell(showUndecodable(cell), reportFormat))
  const rowCells =
    row.raw && isSafeToRepeat(row, format)
      ? endWithLineBreak(row.raw, reportFormat)
      : encodeText(texts.join(delimiter) + lineBreak, encoding)
  return joinBytes([encodeText(addedCells, encoding), rowCells])
}
