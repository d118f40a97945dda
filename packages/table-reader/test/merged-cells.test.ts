import { describe, expect, it } from 'vitest'
import { encodeText, inspectFile, openBytes, readRows } from '../src/index.ts'
import { measureFloor } from './support/measure-floor.ts'
import { catchFault, inspectAndRead, readAll } from './support/read.ts'
import { buildTextRow, buildWorkbook, type WorkbookDraft } from './support/xlsx.ts'

const header = buildTextRow(1, ['Order', 'Name', 'Ticket', 'Price'])
const tickets =
  buildTextRow(2, ['A-1', 'Ann', 'Day', '10']) +
  buildTextRow(3, ['', '', 'Camping', '20']) +
  buildTextRow(4, ['', '', 'Parking', '']) +
  buildTextRow(5, ['B-2', 'Bo', 'Day', '10'])

const merged = (...ranges: string[]): string =>
  `<mergeCells count="${ranges.length}">${ranges.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`

const build = (after: string, rows = header + tickets, more: Partial<WorkbookDraft> = {}) =>
  buildWorkbook({ sheets: [{ name: 'x', rows, after }], ...more })

async function read(bytes: Uint8Array, chunkLength = 1000) {
  const { rows } = await inspectAndRead(openBytes(bytes, chunkLength))
  return rows.map(({ cells }) => cells.join('|'))
}

const filled = ['A-1|Ann|Day|10', 'A-1|Ann|Camping|20', 'A-1|Ann|Parking', 'B-2|Bo|Day|10']
const unfilled = ['A-1|Ann|Day|10', '||Camping|20', '||Parking', 'B-2|Bo|Day|10']

describe('cells that are merged over the rows of an order', () => {
  it('give their value to each of these rows', async () => {
    expect(await read(build(merged('A2:A4', 'B2:B4')))).toEqual(filled)
  })

  it.each([
    ['without any', ''],
    ['only across columns', merged('A2:B2', 'A5:D5')],
    ['with ranges that are no ranges', merged('A2', 'A0:A4', 'A2:A9999999', '2:4', '', 'A2:A4:A9', '$A$2:$A$4')],
  ])('change nothing %s', async (_, after) => {
    expect(await read(build(after))).toEqual(unfilled)
  })

  it('give their value only to the first column, however the range is written', async () => {
    expect(await read(build(merged('A4:A2', 'C4:B2')))).toEqual(filled)
  })

  it('do not change cells with a value of their own, and empty rows', async () => {
    const rows = `${buildTextRow(2, ['A-1', 'Ann'])}${buildTextRow(3, ['', 'Bo'])}${buildTextRow(4, [])}${buildTextRow(6, ['', 'Cy'])}`
    expect(await read(build(merged('A2:A9', 'B2:B9'), header + rows))).toEqual(['A-1|Ann', 'A-1|Bo', 'A-1|Cy'])
  })

  it('do not repeat the cells of the header below it', async () => {
    expect(await read(build(merged('A1:A4', 'B1:D1')))).toEqual(unfilled)
  })

  it.each([
    ['overlap', merged('A2:A3', 'A2:A4', 'B2:B4', 'B2:B3', 'B2:B4')],
    ['cover the whole sheet', merged('A1:XFD1048576', 'A2:XFD4', 'B2:B4')],
  ])('are read when they %s', async (_, after) => {
    expect(await read(build(after))).toEqual(filled)
  })

  it('are found with a prefix before each element, and in UTF-16', async () => {
    expect(await read(build(merged('A2:A4', 'B2:B4'), undefined, { prefix: 'x:' }))).toEqual(filled)
    const xml = `<worksheet><sheetData>${header}${tickets}</sheetData>${merged('A2:A4', 'B2:B4')}</worksheet>`
    const parts = { 'xl/worksheets/sheet1.xml': encodeText(`\uFEFF${xml}`, 'utf-16le') }
    expect(await read(build('', undefined, { parts }))).toEqual(filled)
  })

  it('are found wherever the parts of the file end', async () => {
    const bytes = build(`<autoFilter ref="A1:D5"/>${merged('A2:A4', 'B2:B4')}`)
    for (const chunkLength of [1, 2, 3, 7, 64]) expect(await read(bytes, chunkLength)).toEqual(filled)
  })

  it('are not read from the texts of cells', async () => {
    const rows = header + buildTextRow(2, [merged('A2:A3'), 'Ann']) + buildTextRow(3, ['', 'Bo'])
    expect(await read(build('', rows))).toEqual([`${merged('A2:A3')}|Ann`, '|Bo'])
  })

  it('are read alike when reading continues after any batch', async () => {
    const rowCount = 600
    const orders = Array.from({ length: rowCount }, (_, index) => {
      const cells = index % 3 === 0 ? [`A-${index}`, `${index} ${'x'.repeat(1500)}`] : ['', `${index}`]
      return buildTextRow(index + 2, cells)
    })
    const ranges = Array.from({ length: rowCount / 3 }, (_, index) => `A${index * 3 + 2}:A${index * 3 + 4}`)
    const file = openBytes(build(merged(...ranges), header + orders.join('')), 65_536)
    const format = await inspectFile(file)
    const rows = await readAll(file, format)
    expect(rows.map(({ cells }) => cells[0])).toEqual(
      Array.from({ length: rowCount }, (_, index) => `A-${index - (index % 3)}`),
    )
    let [positions, count] = [0, 0]
    for await (const batch of readRows(file, format)) {
      if (batch.isLast) break
      positions++
      count += batch.rows.length
      const [following] = await Array.fromAsync(readRows(file, format, batch.next))
      expect(following?.rows[0]).toEqual(rows[count])
    }
    expect(positions).toBeGreaterThan(2)
  })
})

describe('rows that a sheet hides', () => {
  it('are read and marked, except empty ones, also when a filter hides them', async () => {
    const hidden = (row: string, value = '1') => row.replace('<row ', `<row hidden="${value}" `)
    const rows =
      header +
      hidden(buildTextRow(2, ['A-1', 'Ann'])) +
      hidden(buildTextRow(3, ['A-2', 'Bo']), 'true') +
      hidden(buildTextRow(4, ['A-3', 'Cy']), '0') +
      hidden(buildTextRow(5, []))
    const file = openBytes(build('<autoFilter ref="A1:D5"/>', rows), 1000)
    const { rows: tableRows } = await inspectAndRead(file)
    expect(tableRows.map(({ line, isHidden }) => [line, isHidden])).toEqual([
      [2, true],
      [3, true],
      [4, false],
    ])
  })
})

describe('a hostile workbook', () => {
  const many = (count: number, range: (index: number) => string) =>
    merged(...Array.from({ length: count }, (_, index) => range(index)))

  it.each([
    ['each in a row of its own', (index: number) => `A${index + 2}:A${index + 3}`],
    ['all over the whole sheet', () => 'A1:XFD1048576'],
    ['all over the rows of one order', (index: number) => `${String.fromCharCode(65 + (index % 26))}2:ZZ900000`],
  ])('is read in little time with 100,000 merged cells, %s', async (_, range) => {
    const startedAt = performance.now()
    const rows = await read(build(many(100_000, range)), 65_536)
    expect(rows).toHaveLength(4)
    expect(performance.now() - startedAt).toBeLessThan(400 * measureFloor())
  })

  it('is refused with more than 100,000 merged cells', async () => {
    const after = many(100_001, (index) => `A${index + 2}:A${index + 3}`)
    expect(await catchFault(read(build(after), 65_536))).toMatchObject({ code: 'too_many_merged_cells' })
  })

  it('is refused with an endless tag after its rows', async () => {
    const after = `<mergeCells><mergeCell ${'x'.repeat(3_000_000)}`
    expect(await catchFault(read(build(after), 65_536))).toMatchObject({ code: 'broken_xlsx' })
  })

  it('is refused with the row when merged texts make a row too long', async () => {
    const columns = Array.from({ length: 8 }, (_, index) => String.fromCharCode(65 + index))
    const cells = (column: number, length: number) =>
      columns.map((_, index) => (index === column ? 'x'.repeat(length) : ''))
    const rows = columns.map((_, index) => buildTextRow(index + 2, cells(index, 30_000))).join('')
    const ranges = columns.map((column, index) => `${column}${index + 2}:${column}20`)
    const bytes = build(merged(...ranges), buildTextRow(1, columns) + rows + buildTextRow(10, cells(0, 1)))
    expect(await catchFault(read(bytes, 65_536))).toMatchObject({ code: 'line_too_long', line: expect.any(Number) })
  })
})
