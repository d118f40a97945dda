import { toCanonicalRow, writeCanonical, type CanonicalRow, type IndexedRow } from './canonical.ts'
import { readCsvRecords, inspectCsv } from './csv-file.ts'
import { getMaxCopyBytes, maxRows, ReadError } from './faults.ts'
import type { FileFormat, FormatOptions } from './format.ts'
import type { LinePosition } from './lines.ts'
import type { SourceRecord } from './records.ts'
import { RowClassifier, type ClassifiedRow } from './rows.ts'
import { detectFileKind } from './sniff.ts'
import type { FileSource } from './source.ts'
import { inspectXlsx, readXlsxRecords } from './xlsx/file.ts'

/** Reads only the beginning of the file where that is enough. */
export async function inspectFile(file: FileSource, options: FormatOptions = {}): Promise<FileFormat> {
  return (await detectFileKind(file)) === 'xlsx' ? inspectXlsx(file, options) : inspectCsv(file, options)
}

export interface CopyPosition {
  /** The first record of the original that is missing in the copy. */
  source: LinePosition
  canonicalOffset: number
  rowCount: number
  hiddenRows: number
  filledRows: number
  emptyRows: number
  isAfterEmptyRow: boolean
}

export interface CanonicalChunk {
  bytes: Uint8Array<ArrayBuffer>
  rows: IndexedRow[]
  next: CopyPosition
  isLast: boolean
}

export const getCopyStart = (format: FileFormat): CopyPosition => ({
  source: format.body,
  canonicalOffset: 0,
  rowCount: 0,
  hiddenRows: 0,
  filledRows: 0,
  emptyRows: 0,
  isAfterEmptyRow: false,
})

function readRecords(file: FileSource, format: FileFormat, from: LinePosition): AsyncGenerator<SourceRecord[]> {
  return format.kind === 'csv' ? readCsvRecords(file, format, from) : readXlsxRecords(file, format, from)
}

function checkRowCount(count: number, rows: readonly CanonicalRow[]): number {
  const all = count + rows.length
  if (all > maxRows)
    throw new ReadError('too_many_rows', `The file has more than ${maxRows} rows.`, {
      line: rows[rows.length - (all - maxRows)]!.line,
    })
  return all
}

/** A workbook may name one long text in every cell. */
function checkCopySize(copiedBytes: number, rows: readonly CanonicalRow[], fileSize: number): void {
  let size = copiedBytes
  for (const { cells, line } of rows) {
    for (const { length } of cells) size += length
    if (size > getMaxCopyBytes(fileSize))
      throw new ReadError(
        'too_much_text',
        `The cells of the file contain more than ${getMaxCopyBytes(fileSize)} bytes of text, which is far more than ` +
          'the file itself. Remove long texts that repeat in every row, or save it as CSV.',
        { line },
      )
  }
}

const getRecordEnd = ({ offset, length, line, lineCount }: SourceRecord): LinePosition => ({
  offset: offset + length,
  line: line + lineCount,
})

/**
 * Copies the rows below the header piece by piece. Memory holds one piece, however long the file is, and each piece
 * says where the copy continues.
 */
export async function* readCanonicalChunks(
  file: FileSource,
  format: FileFormat,
  from: CopyPosition = getCopyStart(format),
): AsyncGenerator<CanonicalChunk> {
  const sorter = new RowClassifier(format.names, from)
  let next = from
  const buildChunk = (sorted: readonly ClassifiedRow[], source: LinePosition, isLast: boolean): CanonicalChunk => {
    const copied = sorted.map(toCanonicalRow)
    const rowCount = checkRowCount(next.rowCount, copied)
    checkCopySize(next.canonicalOffset, copied, file.size)
    const { bytes, rows } = writeCanonical(copied, next.canonicalOffset)
    next = {
      source,
      canonicalOffset: next.canonicalOffset + bytes.length,
      rowCount,
      hiddenRows: next.hiddenRows + sorted.filter(({ isHidden }) => isHidden).length,
      filledRows: next.filledRows + copied.filter(({ filled }) => filled.length > 0).length,
      ...sorter.state,
    }
    return { bytes, rows, next, isLast }
  }
  let source = from.source
  for await (const records of readRecords(file, format, from.source)) {
    const sorted = records.flatMap((record) => sorter.add(record))
    const last = records.at(-1)
    if (last) source = getRecordEnd(last)
    const { firstWaitingRow } = sorter
    const goesOn = firstWaitingRow ? { offset: firstWaitingRow.offset, line: firstWaitingRow.line } : source
    if (sorted.length > 0) yield buildChunk(sorted, goesOn, false)
  }
  yield buildChunk(sorter.end(), source, true)
}

export async function readFirstRows(file: FileSource, format: FileFormat, count: number): Promise<IndexedRow[]> {
  const rows: IndexedRow[] = []
  for await (const chunk of readCanonicalChunks(file, format)) {
    rows.push(...chunk.rows)
    if (rows.length >= count) break
  }
  return rows.slice(0, count)
}
