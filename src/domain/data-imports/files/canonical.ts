import { readCsvRange, type RowFault, type RowKind, type TableRow } from '@ecms/table-reader'

/** A row of the canonical copy, which is UTF-8 and RFC 4180 with CRLF. The place of the original precedes its cells. */
export interface CanonicalRow {
  cells: string[]
  kind: RowKind
  fault: RowFault | null
  /** Columns whose values come from a merged cell above them. */
  filledColumns: readonly number[]
  /** Line of the original file from 1; for a workbook, the number of the row. */
  line: number
  /** The range of the original bytes; both are 0 for a workbook. */
  sourceOffset: number
  sourceLength: number
}

export interface IndexedRow extends CanonicalRow {
  /** The range in the canonical copy, in bytes. */
  offset: number
  length: number
}

/** A range of this length contains at least one whole row, wherever it begins. */
export const canonicalRangeLength = 1_048_576

const leadingCells = 6

const quoteCell = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const formatFault = (fault: RowFault | null): string => (fault ? `${fault.code}:${fault.column}` : '')

function parseFault(text: string): RowFault | null {
  const [code, column] = text.split(':')
  return code ? { code: code as RowFault['code'], column: Number(column) } : null
}

function formatRow({ line, offset, length, kind, fault, filledColumns, cells }: TableRow): string {
  const fieldsBefore = `${line},${offset},${length},${kind},${formatFault(fault)},${filledColumns.join(' ')}`
  return cells.length === 0 ? `${fieldsBefore}\r\n` : `${fieldsBefore},${cells.map(quoteCell).join(',')}\r\n`
}

const encoder = new TextEncoder()
const bytesPerUnit = 3

/** Rows are encoded in one shared buffer, because V8 collects buffers late and the runtime keeps their memory. */
let sharedBuffer = new Uint8Array()
/** The buffers of longer rows are not shared. */
const maxBufferLength = 4_194_304

function borrowBuffer(length: number): Uint8Array<ArrayBuffer> {
  if (length <= sharedBuffer.length) return sharedBuffer
  const wider = new Uint8Array(length)
  if (length <= maxBufferLength) sharedBuffer = wider
  return wider
}

/** @param offset of the first byte in the copy. */
export function writeCanonical(
  rows: readonly TableRow[],
  offset: number,
): { bytes: Uint8Array<ArrayBuffer>; rows: IndexedRow[] } {
  const texts = rows.map(formatRow)
  const bytes = borrowBuffer(texts.reduce((sum, { length }) => sum + length, 0) * bytesPerUnit)
  let at = 0
  const indexedRows = rows.map((row, index): IndexedRow => {
    const { cells, kind, fault, filledColumns, line } = row
    const { written } = encoder.encodeInto(texts[index]!, bytes.subarray(at))
    const place = { sourceOffset: row.offset, sourceLength: row.length, offset: offset + at, length: written }
    at += written
    return { cells, kind, fault, filledColumns, line, ...place }
  })
  return { bytes: bytes.slice(0, at), rows: indexedRows }
}

/**
 * Reads the whole rows of a range of the canonical copy. The range begins with a row, and what follows its last whole
 * row is read again with the next range.
 * @param isLast true if the range reaches the end of the copy
 */
export function readCanonical(bytes: Uint8Array, offset: number, isLast: boolean): IndexedRow[] {
  return readCsvRange(bytes, offset, isLast).map((record) => {
    const [line, sourceOffset, sourceLength, kind, fault = '', filledColumns = ''] = record.cells
    return {
      cells: record.cells.slice(leadingCells),
      kind: kind as RowKind,
      fault: parseFault(fault),
      filledColumns: filledColumns === '' ? [] : filledColumns.split(' ').map(Number),
      line: Number(line),
      sourceOffset: Number(sourceOffset),
      sourceLength: Number(sourceLength),
      offset: record.offset,
      length: record.length,
    }
  })
}
