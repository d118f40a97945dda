import { readCsvRecords } from './csv-file.ts'
import { maxColumns, type RowFault } from './faults.ts'
import type { CsvFormat, XlsxFormat } from './format.ts'
import type { LinePosition } from './lines.ts'
import type { SourceRecord } from './records.ts'
import { type ClassifiedRow, RowClassifier, type RowKind } from './rows.ts'
import type { FileSource } from './source.ts'
import { readXlsxRecords } from './xlsx/file.ts'

type TableFormat = CsvFormat | XlsxFormat

export interface TableRow {
  /** The texts as the file has them, without empty ones at the end. `cleanCell` removes what exporters add. */
  cells: string[]
  kind: RowKind
  fault: RowFault | null
  /** Columns, from 0, whose cells were blank and took the value of a merged cell above them. */
  filledColumns: readonly number[]
  /** True if a workbook hides the row. */
  isHidden: boolean
  /** The number of its first line in a text editor, or of the row in a sheet, from 1. Lines of an archive count on. */
  line: number
  /** The range of its bytes in the file. Both are 0 for a workbook or an archive. */
  offset: number
  length: number
}

/** Where reading continues. It can be stored as JSON. */
export interface RowPosition extends LinePosition {
  isAfterEmptyRow: boolean
}

export interface RowBatch {
  rows: TableRow[]
  next: RowPosition
  /** True if the file ends here. */
  isLast: boolean
}

/** Most cells beyond the last possible column are dropped. One is left, so that the row is still too long. */
export function cutCells(cells: readonly string[]): string[] {
  const last = cells.findLastIndex((cell) => cell !== '')
  return cells.slice(0, Math.min(last, maxColumns) + 1)
}

function toTableRow({ cells, kind, fault, filledColumns, isHidden, line, offset, length }: ClassifiedRow): TableRow {
  return {
    cells: cutCells(cells),
    kind,
    fault,
    filledColumns: filledColumns ?? [],
    isHidden: isHidden ?? false,
    line,
    offset,
    length,
  }
}

function readRecords(file: FileSource, format: TableFormat, from: LinePosition): AsyncGenerator<SourceRecord[]> {
  return format.kind === 'csv' ? readCsvRecords(file, format, from) : readXlsxRecords(file, format, from)
}

const getRecordEnd = ({ offset, length, line, lineCount }: SourceRecord): LinePosition => ({
  offset: offset + length,
  line: line + lineCount,
})

export async function* readTableRows(
  file: FileSource,
  format: TableFormat,
  from: RowPosition,
): AsyncGenerator<RowBatch> {
  const classifier = new RowClassifier(format.names, from.isAfterEmptyRow)
  const buildBatch = (rows: readonly ClassifiedRow[], { offset, line }: LinePosition, isLast: boolean): RowBatch => ({
    rows: rows.map(toTableRow),
    next: { offset, line, isAfterEmptyRow: classifier.isAfterEmptyRow },
    isLast,
  })
  let end: LinePosition = from
  for await (const records of readRecords(file, format, from)) {
    const rows = records.flatMap((record) => classifier.add(record))
    const last = records.at(-1)
    if (last) end = getRecordEnd(last)
    // A row whose kind is not certain yet is read again.
    if (rows.length > 0) yield buildBatch(rows, classifier.firstWaitingRow ?? end, false)
  }
  yield buildBatch(classifier.end(), end, true)
}
