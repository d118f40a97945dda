import { parse } from 'csv-parse/browser/esm/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDecoder } from '../src/encoding/names.ts'
import {
  type CsvFormat,
  type CsvRecord,
  getByteOrderMark,
  inspectFile,
  openBytes,
  parseCsv,
  readCsvRange,
  readRows,
  type TableRow,
} from '../src/index.ts'
import { inspectAndRead } from './support/read.ts'
import { buildLongFile, buildOptions, names, pad, table, write } from './support/tables.ts'

describe('a table in any dialect and encoding', () => {
  it('is read as it was written, in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (one, chunkLength) => {
        const { format, rows } = await inspectAndRead(openBytes(write(one), chunkLength), buildOptions(one))
        expect(format.names).toEqual(names)
        expect(rows.map(({ cells }) => pad(cells))).toEqual(one.cells)
        expect(rows.every(({ kind, fault }) => kind === 'data' && fault === null)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('has rows at their places in the file', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (one) => {
        const bytes = write(one)
        const { rows } = await inspectAndRead(openBytes(bytes), buildOptions(one))
        for (const [index, { offset, length }] of rows.entries()) {
          const original = createDecoder(one.encoding).decode(bytes.subarray(offset, offset + length))
          expect(parseCsv(original, { delimiter: one.delimiter, quotes: true }).map(pad)).toEqual([one.cells[index]])
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
        for (const { line, offset } of rows) {
          const above = createDecoder(one.encoding).decode(bytes.subarray(markLength, offset))
          expect(line).toBe(above.split(/\r\n|\n|\r/).length)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('text without quotation marks', () => {
  it('is split as csv-parse splits it', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'ø', ' ', ',', ';', '\n', '\r', '\r\n'), maxLength: 40 })
    fc.assert(
      fc.property(texts, (text) => {
        const expected: string[][] = parse(new TextEncoder().encode(text), {
          delimiter: ';',
          record_delimiter: ['\r\n', '\n', '\r'],
          relax_column_count: true,
        })
        expect(parseCsv(text, { delimiter: ';', quotes: true })).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a range of a CSV file in UTF-8', () => {
  it('is read up to its last whole record, so that the next range goes on there', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ø', ' ', ',', '"', '\n', '\r\n'), maxLength: 8 })
    const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(records, fc.integer({ min: 80, max: 200 }), (written, rangeLength) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
        const bytes = new TextEncoder().encode(written.map((cells) => `${cells.map(quote).join(',')}\r\n`).join(''))
        const read: CsvRecord[] = []
        for (let offset = 0; offset < bytes.length;) {
          const end = Math.min(bytes.length, offset + rangeLength)
          const part = readCsvRange(bytes.subarray(offset, end), offset, end === bytes.length)
          read.push(...part)
          offset = part.at(-1)!.offset + part.at(-1)!.length
        }
        expect(read.map(({ cells }) => cells)).toEqual(written)
      }),
    )
  })
})

const pickCells = ({ cells, fault }: TableRow) => ({ cells, fault: fault !== null })

describe('a file that is longer than a block', () => {
  const { text, rows: expected } = buildLongFile(30_000)
  const file = openBytes(new TextEncoder().encode(text), 10_007)

  it('is read completely, with rows across the borders of blocks', async () => {
    const { rows } = await inspectAndRead(file)
    expect(rows.map(pickCells)).toEqual(expected)
  })

  it('continues after any batch with the same result', async () => {
    const format = await inspectFile(file)
    const batches = await Array.fromAsync(readRows(file, format))
    expect(batches.length).toBeGreaterThan(4)
    expect(batches.map(({ isLast }) => isLast)).toEqual(batches.map((_, index) => index === batches.length - 1))
    for (const [index, { next }] of batches.slice(0, -1).entries()) {
      const position = JSON.parse(JSON.stringify(next)) as typeof next
      const rest = await Array.fromAsync(readRows(file, format, position))
      expect(rest.flatMap(({ rows }) => rows)).toEqual(batches.slice(index + 1).flatMap(({ rows }) => rows))
    }
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
    for await (const { rows } of readRows(counted, format)) {
      expect(rows.slice(0, 20).map(pickCells)).toEqual(expected.slice(0, 20))
      break
    }
    expect(handedOut).toBeLessThan(file.size / 4)
    expect((format as CsvFormat).delimiter).toBe(';')
  })
})
