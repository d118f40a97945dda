import { joinBytes } from './bytes.ts'
import { getUnitSize, type Encoding } from './encoding/names.ts'
import { maxLineBytes, TableError } from './faults.ts'

export interface LineBlock {
  bytes: Uint8Array
  starts: number[]
  offset: number
  /** Lines count from 1 as in a text editor, with CRLF, LF or CR at the end of each. */
  line: number
  isLast: boolean
}

export interface LinePosition {
  offset: number
  line: number
}

const blockLength = 262_144
const lineFeed = 10
const carriageReturn = 13

/** Finds where lines begin and where the last whole one ends. A CR at the end may be half of a CRLF. */
function findByteLineStarts(bytes: Uint8Array, isLast: boolean): { starts: number[]; end: number } {
  const starts: number[] = []
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte > carriageReturn || (byte !== lineFeed && byte !== carriageReturn)) continue
    if (byte === carriageReturn) {
      if (at + 1 === bytes.length && !isLast) break
      if (bytes[at + 1] === lineFeed) at++
    }
    starts.push(start)
    start = at + 1
  }
  if (isLast && start < bytes.length) {
    starts.push(start)
    start = bytes.length
  }
  return { starts, end: start }
}

/** Units of UTF-16 are two bytes. */
function findWideLineStarts(
  bytes: Uint8Array,
  isLast: boolean,
  littleEndian: boolean,
): { starts: number[]; end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const starts: number[] = []
  let start = 0
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const unit = view.getUint16(at, littleEndian)
    if (unit !== lineFeed && unit !== carriageReturn) continue
    if (unit === carriageReturn) {
      if (at + 3 >= bytes.length && !isLast) break
      if (at + 3 < bytes.length && view.getUint16(at + 2, littleEndian) === lineFeed) at += 2
    }
    starts.push(start)
    start = at + 2
  }
  if (isLast && start < bytes.length) {
    starts.push(start)
    start = bytes.length
  }
  return { starts, end: start }
}

export function findLineStarts(
  bytes: Uint8Array,
  isLast: boolean,
  encoding: Encoding,
): { starts: number[]; end: number } {
  return getUnitSize(encoding) === 1
    ? findByteLineStarts(bytes, isLast)
    : findWideLineStarts(bytes, isLast, encoding === 'utf-16le')
}

/** @param borders where each line begins, and where the last one ends */
function checkLengths(borders: readonly number[], firstLine: number): void {
  const longIndex = borders.findIndex((border, index) => (borders[index + 1] ?? border) - border > maxLineBytes)
  if (longIndex < 0) return
  const line = firstLine + longIndex
  throw new TableError('line_too_long', `Line ${line} is longer than ${maxLineBytes} bytes.`, { line })
}

/** Cuts a file into blocks of whole lines. Memory holds one block, however long the file is. */
export async function* readLineBlocks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  from: LinePosition,
): AsyncGenerator<LineBlock> {
  let { offset, line } = from
  let parts: Uint8Array[] = []
  let length = 0
  const cut = (isLast: boolean): LineBlock => {
    const bytes = parts.length === 1 ? parts[0]! : joinBytes(parts)
    const { starts, end } = findLineStarts(bytes, isLast, encoding)
    const block = { bytes: bytes.subarray(0, end), starts, offset, line, isLast }
    checkLengths([...starts, end, length], line)
    offset += end
    line += starts.length
    length -= end
    parts = length > 0 ? [bytes.slice(end)] : []
    return block
  }
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length < blockLength) continue
    const block = cut(false)
    if (block.starts.length > 0) yield block
  }
  yield cut(true)
}
