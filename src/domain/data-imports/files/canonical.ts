import { maxTableColumns, buildOpenQuoteFault, buildTooManyCellsFault, type RowFault } from './faults.ts'
import { findLineStarts } from './lines.ts'
import { RecordReader } from './records.ts'
import type { RowKind, SortedRow } from './rows.ts'

/** A row of the canonical copy: UTF-8, RFC 4180, ended by CRLF, with the place of the original before its cells. */
export interface CanonicalRow {
  cells: string[]
  kind: RowKind
  fault: RowFault | null
  /** Line of the original file, from 1; of an xlsx file, the number of the row. */
  line: number
  /** The place of the original bytes; both are 0 for an xlsx file. */
  sourceOffset: number
  sourceLength: number
}

export interface IndexedRow extends CanonicalRow {
  /** The place in the canonical copy, in bytes. */
  offset: number
  length: number
}

/** A range of the canonical copy of this length holds at least one whole row, wherever a row begins in it. */
export const canonicalRangeLength = 1_048_576

const leadingCells = 5

const quoteCell = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const formatFault = (fault: RowFault | null): string => (fault ? `${fault.code}:${fault.column}` : '')

function parseFault(text: string): RowFault | null {
  const [code, column] = text.split(':')
  if (code === 'open_quote') return buildOpenQuoteFault(Number(column))
  return code === 'too_many_cells' ? buildTooManyCellsFault(Number(column) - 1) : null
}

function formatRow(row: CanonicalRow): string {
  const leading = `${row.line},${row.sourceOffset},${row.sourceLength},${row.kind},${formatFault(row.fault)}`
  return row.cells.length === 0 ? `${leading}\r\n` : `${leading},${row.cells.map(quoteCell).join(',')}\r\n`
}

/** The cells without empty ones at the end, and without most cells beyond the last possible column. */
export function toCanonicalRow(row: SortedRow): CanonicalRow {
  const last = row.cells.findLastIndex((cell) => cell !== '')
  return {
    cells: row.cells.slice(0, Math.min(last, maxTableColumns) + 1),
    kind: row.kind,
    fault: row.fault,
    line: row.line,
    sourceOffset: row.offset,
    sourceLength: row.length,
  }
}

const encoder = new TextEncoder()
const bytesPerUnit = 3

/** Rows are encoded in the same buffer: V8 collects buffers late, and the runtime keeps their memory. */
let sharedBuffer = new Uint8Array()
/** The buffer of longer rows is not kept. */
const maxBufferLength = 4_194_304

function borrowBuffer(length: number): Uint8Array<ArrayBuffer> {
  if (length <= sharedBuffer.length) return sharedBuffer
  const wider = new Uint8Array(length)
  if (length <= maxBufferLength) sharedBuffer = wider
  return wider
}

/** @param offset of the first byte in the copy. */
export function writeCanonical(
  rows: readonly CanonicalRow[],
  offset: number,
): { bytes: Uint8Array<ArrayBuffer>; rows: IndexedRow[] } {
  const texts = rows.map(formatRow)
  const bytes = borrowBuffer(texts.reduce((sum, { length }) => sum + length, 0) * bytesPerUnit)
  let at = 0
  const placed = rows.map((row, index) => {
    const { written } = encoder.encodeInto(texts[index]!, bytes.subarray(at))
    const place = { offset: offset + at, length: written }
    at += written
    return { ...row, ...place }
  })
  return { bytes: bytes.slice(0, at), rows: placed }
}

const utf8 = { encoding: 'utf-8', delimiter: ',', quotes: true, width: null } as const

/**
 * The whole rows in a range of the canonical copy that begins with a row. What follows the last of them is read again
 * with the next range. `isLast`: the range reaches the end of the copy.
 */
export function readCanonical(bytes: Uint8Array, offset: number, isLast: boolean): IndexedRow[] {
  const { starts, end } = findLineStarts(bytes, isLast, 'utf-8')
  const block = { bytes: bytes.subarray(0, end), starts, offset, line: 1, isLast }
  return new RecordReader(utf8).read(block).map((record) => {
    const [line, sourceOffset, sourceLength, kind, fault = ''] = record.cells
    return {
      cells: record.cells.slice(leadingCells),
      kind: kind as RowKind,
      fault: parseFault(fault),
      line: Number(line),
      sourceOffset: Number(sourceOffset),
      sourceLength: Number(sourceLength),
      offset: record.offset,
      length: record.length,
    }
  })
}
