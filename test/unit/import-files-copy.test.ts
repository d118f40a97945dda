import { encodeText, inspectFile, openBytes, parseCsv } from '@ecms/table-reader'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDecoder } from '../../packages/table-reader/src/encoding/names.ts'
import { buildLongFile, buildOptions, pad, table, write } from '../../packages/table-reader/test/support/tables.ts'
import { buildTextRow, buildWorkbook } from '../../packages/table-reader/test/support/xlsx.ts'
import { canonicalRangeLength, type IndexedRow, readCanonical } from '../../src/domain/data-imports/files/canonical.ts'
import { getCopyStart, readCanonicalChunks } from '../../src/domain/data-imports/files/copy.ts'
import { getMaxCopyBytes } from '../../src/domain/data-imports/files/faults.ts'
import { catchFault, inspectAndRead } from '../support/import-files.ts'

const openText = (text: string) => openBytes(new TextEncoder().encode(text))

describe('the copy of a file', () => {
  it('has rows at their stored positions, and names those of the original', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (one) => {
        const bytes = write(one)
        const { rows, copy } = await inspectAndRead(openBytes(bytes), buildOptions(one))
        expect(readCanonical(copy, 0, true)).toEqual(rows)
        expect(rows.at(-1)!.offset + rows.at(-1)!.length).toBe(copy.length)
        for (const [index, { offset, length, sourceOffset, sourceLength }] of rows.entries()) {
          expect(readCanonical(copy.subarray(offset, offset + length), offset, true)).toEqual([rows[index]])
          const original = createDecoder(one.encoding).decode(bytes.subarray(sourceOffset, sourceOffset + sourceLength))
          expect(parseCsv(original, { delimiter: one.delimiter, quotes: true }).map(pad)).toEqual([one.cells[index]])
        }
      }),
      { numRuns: 150 },
    )
  })

  it('keeps the faults of rows', async () => {
    const { rows, copy } = await inspectAndRead(openText('id,name,note\n1,"Ann"x,y\n2,"Bo\n3,a,b,c\n'))
    expect(readCanonical(copy, 0, true)).toEqual(rows)
    expect(rows.map(({ fault }) => fault)).toEqual([
      { code: 'misplaced_quote', column: 2 },
      { code: 'open_quote', column: 2 },
      { code: 'too_many_cells', column: 4 },
    ])
  })

  const { text, rows: expected } = buildLongFile(30_000)
  const longFile = openBytes(new TextEncoder().encode(text), 10_007)

  it('continues after any piece with the same result', async () => {
    const format = await inspectFile(longFile)
    const chunks = await Array.fromAsync(readCanonicalChunks(longFile, format))
    expect(chunks.length).toBeGreaterThan(4)
    expect(chunks.at(-1)!.next.rowCount).toBe(expected.length)
    for (const [index, { next }] of chunks.slice(0, -1).entries()) {
      const position = JSON.parse(JSON.stringify(next)) as typeof next
      const rest = await Array.fromAsync(readCanonicalChunks(longFile, format, position))
      expect(rest.flatMap(({ rows }) => rows)).toEqual(chunks.slice(index + 1).flatMap(({ rows }) => rows))
    }
  })

  it('is read by ranges, each from the end of the last complete row', async () => {
    const { rows, copy } = await inspectAndRead(longFile)
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

  it('counts the rows that a sheet hides', async () => {
    const hide = (row: string) => row.replace('<row ', '<row hidden="1" ')
    const rows =
      buildTextRow(1, ['Order', 'Name']) +
      hide(buildTextRow(2, ['A-1', 'Ann'])) +
      buildTextRow(3, ['A-2', 'Bo']) +
      hide(buildTextRow(4, []))
    const file = openBytes(buildWorkbook({ sheets: [{ name: 'x', rows }] }))
    const chunks = await Array.fromAsync(readCanonicalChunks(file, await inspectFile(file)))
    expect(chunks.at(-1)?.next).toMatchObject({ rowCount: 2, hiddenRows: 1, filledRows: 0 })
  })
})

describe('a file beyond the limits of the copy', () => {
  it('is read up to a million rows, and refused with the line of the next one', async () => {
    const file = openText('name\na\nb\nc\n')
    const format = await inspectFile(file)
    const copyAfter = (rowCount: number) =>
      Array.fromAsync(readCanonicalChunks(file, format, { ...getCopyStart(format), rowCount }))
    expect((await copyAfter(999_997)).at(-1)!.next.rowCount).toBe(1_000_000)
    expect(await catchFault(copyAfter(999_998))).toEqual({
      code: 'too_many_rows',
      message: 'The file has more than 1000000 rows. (line 4)',
    })
  })

  it('is refused when the texts of its cells are much larger than the file', async () => {
    const sharedStrings = `<si><t>${'x'.repeat(60_000)}</t></si>`
    const header = buildTextRow(1, ['Order', 'Name'])
    const rows = Array.from(
      { length: 1200 },
      (_, index) => `<row r="${index + 2}">${'<c t="s"><v>0</v></c>'.repeat(2)}</row>`,
    )
    const bytes = buildWorkbook({ sharedStrings, sheets: [{ name: 'x', rows: header + rows.join('') }] })
    const fault = await catchFault(inspectAndRead(openBytes(bytes)))
    expect(fault).toMatchObject({ code: 'too_much_text', message: /save it as CSV/i })
  })

  it('is refused before the copy is full of long texts that are merged over very many rows', async () => {
    const header = buildTextRow(1, ['Order', 'Name', 'Ticket', 'Price'])
    const long = buildTextRow(2, ['x'.repeat(30_000), 'y'.repeat(30_000), 'z'.repeat(30_000), 'a'])
    const rows = Array.from({ length: 3000 }, (_, index) => buildTextRow(index + 3, ['', '', '', 'b'])).join('')
    const ranges = ['A', 'B', 'C'].map((column) => `<mergeCell ref="${column}2:${column}900000"/>`).join('')
    const after = `<mergeCells count="3">${ranges}</mergeCells>`
    const file = openBytes(buildWorkbook({ sheets: [{ name: 'x', rows: header + long + rows, after }] }), 65_536)
    const format = await inspectFile(file)
    let largest = 0
    const copying = async () => {
      for await (const { next } of readCanonicalChunks(file, format)) largest = next.canonicalOffset
    }
    expect(await catchFault(copying())).toMatchObject({ code: 'too_much_text' })
    expect(largest).toBeLessThan(getMaxCopyBytes(file.size) * 1.1)
  })
})

describe('the fault of a file that cannot be read', () => {
  const orders = buildTextRow(1, ['Order', 'Name']) + buildTextRow(2, ['1', 'Ann'])
  const cover = buildTextRow(2, ['Festival', '12', '12-06-2026']) + buildTextRow(4, ['Orders', '12', ''])
  const readSheets = (first: string, sheet?: string) => {
    const sheets = [
      { name: 'Cover', rows: first },
      { name: 'Orders', rows: orders },
    ]
    return inspectAndRead(openBytes(buildWorkbook({ sheets })), sheet === undefined ? {} : { sheet })
  }

  it.each([
    [
      'no header',
      () => inspectAndRead(openText('1;ann@example.test;9,50\n2;bob@example.test;8,00\n')),
      'no_header',
      'The file has no header: row 1 already contains data. Add a row with column names, or set has_header to false. (line 1, column 1)',
    ],
    [
      'a cover sheet',
      () => readSheets(cover),
      'no_header',
      'The file has no header: row 2 already contains data. Add a row with column names, or set has_header to false. If another sheet has the orders, name it in the option sheet: "Orders". (line 2)',
    ],
    [
      'an empty sheet',
      () => readSheets(buildTextRow(1, []), 'Cover'),
      'empty_file',
      'The sheet "Cover" has no rows. If another sheet has the orders, name it in the option sheet: "Orders".',
    ],
    [
      'open quotation marks',
      () => inspectAndRead(openText(`id,name,email\n${'1,"open,a@example.test\n'.repeat(200)}`), { quotes: true }),
      'too_many_open_quotes',
      'More than 100 quotation marks are never closed, the last one in line 102. Set quotes to none, or correct the file.',
    ],
    [
      'another encoding',
      () => inspectAndRead(openBytes(encodeText('\ufeffid,name\n1,Ann\n', 'utf-16le')), { encoding: 'utf-8' }),
      'binary',
      'The file is not text in utf-8: it contains NUL characters. Set encoding to auto.',
    ],
    [
      'a NUL character',
      () => inspectAndRead(openText('id;name\n1;a\0;P\n')),
      'binary',
      'The file is not text: line 2 contains a NUL character.',
    ],
  ])('says what to do: %s', async (_, reading, code, message) => {
    expect(await catchFault(reading())).toEqual({ code, message })
  })
})
