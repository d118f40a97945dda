import { parse } from 'csv-parse/browser/esm/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalRangeLength, readCanonical, type IndexedRow } from '../../src/domain/data-imports/files/canonical.ts'
import { canEncode, encodeText } from '../../src/domain/data-imports/files/encoding/encode.ts'
import {
  createDecoder,
  encodings,
  getByteOrderMark,
  type Encoding,
} from '../../src/domain/data-imports/files/encoding/names.ts'
import type { CsvFormat } from '../../src/domain/data-imports/files/format.ts'
import { readCanonicalChunks, readFirstRows, inspectFile } from '../../src/domain/data-imports/files/read.ts'
import { openBytes } from '../../src/domain/data-imports/files/source.ts'
import { delimiters, splitRecords, type Delimiter } from '../../src/domain/data-imports/files/split.ts'
import { inspectAndRead } from '../support/import-files.ts'

interface WrittenTable {
  cells: string[][]
  delimiter: Delimiter
  lineBreak: string
  encoding: Encoding
  hasMark: boolean
  quotesAll: boolean
  emptyAtEnd: number
  endsWithBreak: boolean
}

const letters = Array.from('abc XYZ019,;|\t"\'\n\r.-+@æøåÄÖßéłśżÓ€’–日🎟')
const width = 4
/** The first cell of a row is never empty, and no cell contains lines that are as wide as the table. */
const row = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ')), minLength: 1, maxLength: 5 }),
    ...Array.from({ length: width - 1 }, () => fc.string({ unit: fc.constantFrom(...letters), maxLength: 10 })),
  )
  .filter((cells) => cells.every((cell) => delimiters.every((delimiter) => cell.split(delimiter).length < width)))

const table: fc.Arbitrary<WrittenTable> = fc
  .record({
    cells: fc.array(row, { minLength: 1, maxLength: 12 }),
    delimiter: fc.constantFrom(...delimiters),
    lineBreak: fc.constantFrom('\r\n', '\n', '\r'),
    encoding: fc.constantFrom(...encodings),
    hasMark: fc.boolean(),
    quotesAll: fc.boolean(),
    emptyAtEnd: fc.nat({ max: 2 }),
    endsWithBreak: fc.boolean(),
  })
  .map((one) => ({
    ...one,
    cells: one.cells.map((cells) =>
      cells.map((cell) => Array.from(cell, (letter) => (canEncode(letter, one.encoding) ? letter : 'x')).join('')),
    ),
  }))

const names = ['Order', 'Name', 'E-mail', 'Note']

function write(one: WrittenTable): Uint8Array {
  const quoteCell = (cell: string): string =>
    one.quotesAll || cell.includes(one.delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  const lines = [names, ...one.cells].map(
    (cells) => cells.map(quoteCell).join(one.delimiter) + one.delimiter.repeat(one.emptyAtEnd),
  )
  const text = lines.join(one.lineBreak) + (one.endsWithBreak ? one.lineBreak : '')
  const mark = one.hasMark ? getByteOrderMark(one.encoding) : new Uint8Array()
  return Uint8Array.from([...mark, ...encodeText(text, one.encoding)])
}

const padded = (cells: readonly string[]): string[] => Array.from({ length: width }, (_, at) => cells[at] ?? '')

const buildOptions = ({ encoding, delimiter }: WrittenTable) => ({ encoding, delimiter, hasHeader: true, quotes: true })

describe('a table in any dialect and encoding', () => {
  it('is read as it was written, in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (one, chunkLength) => {
        const { format, rows } = await inspectAndRead(openBytes(write(one), chunkLength), buildOptions(one))
        expect(format.names).toEqual(names)
        expect(rows.map(({ cells }) => padded(cells))).toEqual(one.cells)
        expect(rows.every(({ kind, fault }) => kind === 'data' && fault === null)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('has rows at the stored positions of its copy, and of the original', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (one) => {
        const bytes = write(one)
        const { rows, copy } = await inspectAndRead(openBytes(bytes), buildOptions(one))
        expect(readCanonical(copy, 0, true)).toEqual(rows)
        expect(rows.at(-1)!.offset + rows.at(-1)!.length).toBe(copy.length)
        for (const [index, { offset, length, sourceOffset, sourceLength }] of rows.entries()) {
          expect(readCanonical(copy.subarray(offset, offset + length), offset, true)).toEqual([rows[index]])
          const original = createDecoder(one.encoding).decode(bytes.subarray(sourceOffset, sourceOffset + sourceLength))
          expect(splitRecords(original, { delimiter: one.delimiter, quotes: true }).records.map(padded)).toEqual([
            one.cells[index],
          ])
        }
      }),
      { numRuns: 150 },
    )
  })

  it('has line numbers as in a text editor', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (one) => {
        const bytes = write(one)
        const { rows } = await inspectAndRead(openBytes(bytes), buildOptions(one))
        const markLength = one.hasMark ? getByteOrderMark(one.encoding).length : 0
        for (const { line, sourceOffset } of rows) {
          const above = createDecoder(one.encoding).decode(bytes.subarray(markLength, sourceOffset))
          expect(line).toBe(above.split(/\r\n|\n|\r/).length)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('text without quotation marks', () => {
  it('is split as csv-parse splits it', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'ø', ' ', ',', ';', '\n', '\r', '\r\n'), maxLength: 40 })
    fc.assert(
      fc.property(plain, (text) => {
        const expected: string[][] = parse(new TextEncoder().encode(text), {
          delimiter: ';',
          record_delimiter: ['\r\n', '\n', '\r'],
          relax_column_count: true,
        })
        expect(splitRecords(text, { delimiter: ';', quotes: true }).records).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})

/** The text is larger than several blocks, with notes of several lines and a few open quotation marks. */
function longFile(count: number): { text: string; rows: { cells: string[]; fault: boolean }[] } {
  const rows = Array.from({ length: count }, (_, index) => {
    const note = index % 7 === 3 ? `"line one of ${index}\r\nline ""two"";\r\n\r\nø"` : `note ${'x'.repeat(index % 40)}`
    const fault = index % 5000 === 4999
    const cells = fault ? [`${index}`, '"open', 'æ'] : [`${index}`, `name ${index}`, note]
    return { text: cells.join(';'), cells, fault }
  })
  return {
    text: `id;name;note\r\n${rows.map(({ text }) => text).join('\r\n')}\r\n`,
    rows: rows.map(({ cells, fault }) => ({
      cells: cells.map((cell) => (cell.startsWith('"l') ? cell.slice(1, -1).replaceAll('""', '"') : cell)),
      fault,
    })),
  }
}

const plainRow = ({ cells, fault }: IndexedRow) => ({ cells, fault: fault !== null })

describe('a file that is longer than a block', () => {
  const { text, rows: expected } = longFile(30_000)
  const file = openBytes(new TextEncoder().encode(text), 10_007)

  it('is read completely, with rows across the borders of blocks', async () => {
    const { rows } = await inspectAndRead(file)
    expect(rows.map(plainRow)).toEqual(expected)
  })

  it('continues after any piece of its copy with the same result', async () => {
    const format = await inspectFile(file)
    const chunks = await Array.fromAsync(readCanonicalChunks(file, format))
    expect(chunks.length).toBeGreaterThan(4)
    expect(chunks.at(-1)!.next.rowCount).toBe(expected.length)
    for (const [index, { next }] of chunks.slice(0, -1).entries()) {
      const position = JSON.parse(JSON.stringify(next)) as typeof next
      const rest = await Array.fromAsync(readCanonicalChunks(file, format, position))
      expect(rest.flatMap(({ rows }) => rows)).toEqual(chunks.slice(index + 1).flatMap(({ rows }) => rows))
    }
  })

  it('has a copy that is read by ranges, each from the end of the last complete row', async () => {
    const { rows, copy } = await inspectAndRead(file)
    const read: IndexedRow[] = []
    let offset = 0
    while (offset < copy.length) {
      const end = Math.min(copy.length, offset + canonicalRangeLength / 4)
      const part = readCanonical(copy.subarray(offset, end), offset, end === copy.length)
      read.push(...part)
      offset = part.at(-1)!.offset + part.at(-1)!.length
    }
    expect(read).toEqual(rows)
  })

  it('shows its first rows without being read further', async () => {
    let handedOut = 0
    const counted = {
      ...file,
      async *stream(offset: number, length: number) {
        for await (const chunk of file.stream(offset, length)) {
          handedOut += chunk.length
          yield chunk
        }
      },
    }
    const format = await inspectFile(file)
    expect((await readFirstRows(counted, format, 20)).map(plainRow)).toEqual(expected.slice(0, 20))
    expect(handedOut).toBeLessThan(file.size / 4)
    expect((format as CsvFormat).delimiter).toBe(';')
  })
})
