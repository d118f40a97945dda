import {
  maxTableColumns,
  buildMisplacedQuoteFault,
  buildOpenQuoteFault,
  buildTooManyCellsFault,
  type RowFault,
} from './faults.ts'
import { findLineStarts } from './lines.ts'
import { RecordReader } from './records.ts'
import type { RowKind, ClassifiedRow } from './rows.ts'

/** A row of the canonical copy, which is UTF-8 and RFC 4180 with CRLF. The place of the original precedes its cells. */
export interface CanonicalRow {
  cells: string[]
  kind: RowKind
  fault: RowFault | null
  /** Columns whose values come from a merged cell above them. */
  filled: readonly number[]
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
  if (code === 'open_quote') return buildOpenQuoteFault(Number(column))
  if (code === 'misplaced_quote') return buildMisplacedQuoteFault(Number(column))
  return code === 'too_many_cells' ? buildTooManyCellsFault(Number(column) - 1) : null
}

function formatRow(row: CanonicalRow): string {
  const { line, sourceOffset, sourceLength, kind, fault, filled } = row
  const leading = `${line},${sourceOffset},${sourceLength},${kind},${formatFault(fault)},${filled.join(' ')}`
  return row.cells.length === 0 ? `${leading}\r\n` : `${leading},${row.cells.map(quoteCell).join(',')}\r\n`
}

/** Drops empty cells at the end, and most cells beyond the last possible column. */
export function toCanonicalRow(row: ClassifiedRow): CanonicalRow {
  const last = row.cells.findLastIndex((cell) => cell !== '')
  return {
    cells: row.cells.slice(0, Math.min(last, maxTableColumns) + 1),
    kind: row.kind,
    fault: row.fault,
    filled: row.filled ?? [],
    line: row.line,
    sourceOffset: row.offset,
    sourceLength: row.length,
  }
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
 * Reads the whole rows of a range of the canonical copy. The range begins with a row, and what follows its last whole
 * row is read again with the next range. `isLast`: the range reaches the end of the copy.
 */
export function readCanonical(bytes: Uint8Array, offset: number, isLast: boolean): IndexedRow[] {
  const { starts, end } = findLineStarts(bytes, isLast, 'utf-8')
  const block = { bytes: bytes.subarray(0, end), starts, offset, line: 1, isLast }
  return new RecordReader(utf8).read(block).map((record) => {
    const [line, sourceOffset, sourceLength, kind, fault = '', filled = ''] = record.cells
    return {
      cells: record.cells.slice(leadingCells),
      kind: kind as RowKind,
      fault: parseFault(fault),
      filled: filled === '' ? [] : filled.split(' ').map(Number),
      line: Number(line),
      sourceOffset: Number(sourceOffset),
      sourceLength: Number(sourceLength),
      offset: record.offset,
      length: record.length,
    }
  })
}
