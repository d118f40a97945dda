import { joinBytes } from './bytes.ts'
import { createStrictDecoder, type Decoder, type Encoding } from './encoding/names.ts'
import { maxOpenQuotes, maxRecordBytes, type RowFault, TableError } from './faults.ts'
import type { LineBlock } from './lines.ts'
import { hasOpenMark, splitRecords, tidyText, unwrapRecord, type Dialect } from './split.ts'

export interface SourceRecord {
  cells: string[]
  /** The number of its first line in the file, from 1. */
  line: number
  lineCount: number
  offset: number
  length: number
  fault: RowFault | null
  /** Columns, from 0, whose cells were blank and took the value of a merged cell above them. Only in a workbook. */
  filledColumns?: readonly number[]
  /** True if a workbook hides the row. */
  isHidden?: boolean
}

export interface RecordFormat extends Dialect {
  encoding: Encoding
  /** Null until the columns are known. */
  width: number | null
}

const lineBreaks = /\r\n|\n|\r/

/** Only quoted cells contain line breaks, exactly as the file has them. */
function countLines(cells: readonly string[]): number {
  let count = 1
  for (const cell of cells) if (cell.includes('\n') || cell.includes('\r')) count += cell.split(lineBreaks).length - 1
  return count
}

const quoteFully = (cell: string): string => `"${cell.replaceAll('"', '""')}"`

/** Little is read at once behind an open quotation mark, because all of it may have to be read again. */
const shortPart = 16_384

/** Reads blocks one after the other and keeps a record that continues in the next block. */
export class RecordReader {
  readonly #format: RecordFormat
  readonly #decoder: Decoder
  #pending: LineBlock | null = null
  #openQuotes = 0

  constructor(format: RecordFormat) {
    this.#format = format
    this.#decoder = createStrictDecoder(format.encoding)
  }

  read(block: LineBlock): SourceRecord[] {
    const records: SourceRecord[] = []
    let remainingBlock = this.#withPending(block)
    let partLength = remainingBlock.bytes.length
    while (remainingBlock.starts.length > 0) {
      const part = takeFirstLines(remainingBlock, partLength)
      const { next, isFault, isOpen } = this.#readPart(part, records)
      const isWhole = part.starts.length === remainingBlock.starts.length
      if (isOpen && isWhole && !block.isLast && countBytes(part, next) <= maxRecordBytes) {
        this.#pending = dropLines(remainingBlock, next)
        return records
      }
      if (isFault || (isOpen && (isWhole || (next === 0 && part.bytes.length > maxRecordBytes)))) {
        records.push(this.#openQuoteRecord(remainingBlock, next))
        remainingBlock = dropLines(remainingBlock, next + 1)
        partLength = shortPart
      } else {
        remainingBlock = dropLines(remainingBlock, next)
        if (next === 0 || !isOpen) partLength *= 2
      }
    }
    return records
  }

  #withPending(block: LineBlock): LineBlock {
    const before = this.#pending
    this.#pending = null
    if (!before) return block
    const shift = before.bytes.length
    return {
      ...before,
      bytes: joinBytes([before.bytes, block.bytes]),
      starts: [...before.starts, ...block.starts.map((start) => start + shift)],
      isLast: block.isLast,
    }
  }

  /** Reads up to the first open quotation mark. `next` is the line behind the records. */
  #readPart(part: LineBlock, records: SourceRecord[]): { next: number; isFault: boolean; isOpen: boolean } {
    const parsedPart = splitRecords(this.#decode(part.bytes), this.#format)
    let next = 0
    for (const cells of parsedPart.records) {
      const lineCount = countLines(cells)
      if (lineCount > 1 && this.#isSwallowed(part, next, lineCount, cells))
        return { next, isFault: true, isOpen: false }
      records.push(this.#buildWholeRecord(part, next, lineCount, cells))
      next += lineCount
    }
    // Offsets and lines of all later records depend on this.
    if (!parsedPart.isOpen && next !== part.starts.length)
      throw new Error(`${next} of ${part.starts.length} lines read`)
    return { next, isFault: false, isOpen: parsedPart.isOpen }
  }

  /** A cell keeps its quotation marks only if they are doubled in the file. */
  #buildWholeRecord(part: LineBlock, at: number, lineCount: number, cells: string[]): SourceRecord {
    const { quotes, marks } = this.#format
    const rowCells = unwrapRecord(cells, this.#format, this.#format.width)
    const record = buildRecord(part, at, lineCount, rowCells)
    const openAt = marks ? rowCells.findIndex((cell) => hasOpenMark(cell, marks)) : -1
    if (openAt >= 0) return { ...record, fault: { code: 'misplaced_quote', column: openAt + 1 } }
    if (!quotes || !rowCells.some((cell) => cell.startsWith('"'))) return record
    const line = rowCells === cells ? this.#decodeLines(part, at, lineCount) : (cells[0] ?? '')
    const raw = tidyText(line, this.#format)
    let from = 0
    const misplacedAt = rowCells.findIndex((cell) => {
      if (!cell.startsWith('"')) return false
      const quotedText = quoteFully(cell)
      const position = raw.indexOf(quotedText, from)
      from = position + quotedText.length
      return position < 0
    })
    return misplacedAt < 0 ? record : { ...record, fault: { code: 'misplaced_quote', column: misplacedAt + 1 } }
  }

  #decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes)
  }

  #decodeLines(block: LineBlock, first: number, count: number): string {
    return this.#decode(block.bytes.subarray(block.starts[first], block.starts[first + count]))
  }

  /** Detects an open quotation mark that swallowed the records behind it. */
  #isSwallowed(block: LineBlock, at: number, lineCount: number, cells: readonly string[]): boolean {
    if (buildRecord(block, at, lineCount, []).length > maxRecordBytes) return true
    const rawText = tidyText(this.#decodeLines(block, at, lineCount), this.#format)
    return cells.some((cell) => {
      const lines = cell.split(lineBreaks)
      if (lines.length === 1) return false
      // The closing mark is inside of a cell, so the library keeps both marks.
      if (cell.startsWith('"') && !rawText.includes(quoteFully(cell))) return true
      const innerLines = lines.slice(1, -1).filter((line) => line !== '')
      const { width, delimiter } = this.#format
      return (
        width !== null &&
        width > 2 &&
        innerLines.length > 0 &&
        innerLines.every((line) => line.split(delimiter).length === width)
      )
    })
  }

  /** Only the first line is broken. The lines behind it are read by themselves. */
  #openQuoteRecord(block: LineBlock, at: number): SourceRecord {
    const line = block.line + at
    if (++this.#openQuotes > maxOpenQuotes)
      throw new TableError(
        'too_many_open_quotes',
        `More than ${maxOpenQuotes} quotation marks are never closed, the last one in line ${line}.`,
        { line },
      )
    const cells = this.#decodeLines(block, at, 1)
      .replace(/(?<![\r\n])[\r\n]+$/, '')
      .split(this.#format.delimiter)
    const openCell = cells.findIndex((cell) => cell.startsWith('"') && (cell.length === 1 || !cell.endsWith('"')))
    return { ...buildRecord(block, at, 1, cells), fault: { code: 'open_quote', column: Math.max(0, openCell) + 1 } }
  }
}

const countBytes = (part: LineBlock, from: number): number =>
  part.bytes.length - (part.starts[from] ?? part.bytes.length)

function takeFirstLines(block: LineBlock, length: number): LineBlock {
  if (length >= block.bytes.length) return block
  const end = block.starts.findIndex((start) => start >= length)
  const count = end < 0 ? block.starts.length : end
  return { ...block, bytes: block.bytes.subarray(0, block.starts[count]), starts: block.starts.slice(0, count) }
}

function buildRecord(block: LineBlock, at: number, lineCount: number, cells: string[]): SourceRecord {
  const start = block.starts[at]!
  const end = block.starts[at + lineCount] ?? block.bytes.length
  return { cells, line: block.line + at, lineCount, offset: block.offset + start, length: end - start, fault: null }
}

function dropLines(block: LineBlock, at: number): LineBlock {
  const start = block.starts[at] ?? block.bytes.length
  return {
    bytes: block.bytes.subarray(start),
    starts: block.starts.slice(at).map((one) => one - start),
    offset: block.offset + start,
    line: block.line + at,
    isLast: block.isLast,
  }
}
