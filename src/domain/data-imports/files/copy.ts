import { type FileFormat, type FileSource, readRows, type RowPosition, type TableRow } from '@ecms/table-reader'
import { type IndexedRow, writeCanonical } from './canonical.ts'
import { FileError, getMaxCopyBytes, maxRows } from './faults.ts'

export interface CopyPosition {
  /** The first row of the original that is missing in the copy. */
  source: RowPosition
  canonicalOffset: number
  rowCount: number
  hiddenRows: number
  filledRows: number
}

export interface CanonicalChunk {
  bytes: Uint8Array<ArrayBuffer>
  rows: IndexedRow[]
  next: CopyPosition
  isLast: boolean
}

export const getCopyStart = (format: FileFormat): CopyPosition => ({
  source: { ...format.body, isAfterEmptyRow: false },
  canonicalOffset: 0,
  rowCount: 0,
  hiddenRows: 0,
  filledRows: 0,
})

function checkRowCount(count: number, rows: readonly TableRow[]): number {
  const all = count + rows.length
  if (all > maxRows)
    throw new FileError(
      'too_many_rows',
      `The file has more than ${maxRows} rows.`,
      rows[rows.length - (all - maxRows)]!.line,
    )
  return all
}

/** A workbook may name one long text in every cell. */
function checkCopySize(copiedBytes: number, rows: readonly TableRow[], fileSize: number): void {
  let size = copiedBytes
  for (const { cells, line } of rows) {
    for (const { length } of cells) size += length
    if (size > getMaxCopyBytes(fileSize))
      throw new FileError(
        'too_much_text',
        `The cells of the file contain more than ${getMaxCopyBytes(fileSize)} bytes of text, which is far more than ` +
          'the file itself. Remove long texts that repeat in every row, or save it as CSV.',
        line,
      )
  }
}

/**
 * Copies the rows below the header piece by piece. Memory holds one piece, however long the file is, and each piece
 * says where the copy continues.
 */
export async function* readCanonicalChunks(
  file: FileSource,
  format: FileFormat,
  from: CopyPosition = getCopyStart(format),
): AsyncGenerator<CanonicalChunk> {
  let next = from
  for await (const batch of readRows(file, format, from.source)) {
    const rowCount = checkRowCount(next.rowCount, batch.rows)
    checkCopySize(next.canonicalOffset, batch.rows, file.size)
    const { bytes, rows } = writeCanonical(batch.rows, next.canonicalOffset)
    next = {
      source: batch.next,
      canonicalOffset: next.canonicalOffset + bytes.length,
      rowCount,
      hiddenRows: next.hiddenRows + batch.rows.filter(({ isHidden }) => isHidden).length,
      filledRows: next.filledRows + rows.filter(({ filledColumns }) => filledColumns.length > 0).length,
    }
    yield { bytes, rows, next, isLast: batch.isLast }
  }
}
