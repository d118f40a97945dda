import {
  cleanCell,
  type Encoding,
  encodings,
  encodeText,
  type FileFormat,
  type FileSource,
  getByteOrderMark,
  inspectFile,
  openBytes,
  readBytes,
} from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../packages/table-reader/test/support/xlsx.ts'
import type { IndexedRow } from '../../src/domain/data-imports/files/canonical.ts'
import { writeReportHeader, writeReportRow } from '../../src/domain/data-imports/files/report.ts'
import { inspectAndRead, readAll } from '../support/import-files.ts'

async function writeReport(file: FileSource, format: FileFormat, rows: IndexedRow[]): Promise<Uint8Array> {
  const original = (place: { offset: number; length: number }) =>
    format.kind === 'csv' ? readBytes(file, place.offset, place.length) : null
  const parts = [writeReportHeader(format, format.header && (await original(format.header)))]
  for (const { line, cells, fault, sourceOffset, sourceLength } of rows) {
    const raw = await original({ offset: sourceOffset, length: sourceLength })
    parts.push(
      writeReportRow(format, { line, cells, raw, fault, errors: ['The price is missing.', 'Say "why"; please.'] }),
    )
  }
  return Uint8Array.from(parts.flatMap((part) => Array.from(part)))
}

const text = 'Nr;Navn;Note\r\n1;Søren;fine\r\n2;Åse;"two\r\nlines; ""quoted"""\r\n3;Bjørn;=1+1'

describe('the report of failed rows', () => {
  it.each(encodings)('repeats the original bytes in %s, and is read like the original', async (encoding: Encoding) => {
    const letters = encoding === 'windows-1250' || encoding === 'iso-8859-2' ? text.replaceAll(/[øÅ]/g, 'ö') : text
    const bytes = Uint8Array.from([...getByteOrderMark(encoding), ...encodeText(letters, encoding)])
    const file = openBytes(bytes)
    const { format, rows } = await inspectAndRead(file, { encoding })
    const report = openBytes(await writeReport(file, format, rows.slice(1)))
    const reportTable = await inspectAndRead(report, { encoding })
    expect(reportTable.format).toMatchObject({
      encoding,
      delimiter: ';',
      lineBreak: '\r\n',
      markLength: getByteOrderMark(encoding).length,
    })
    expect(reportTable.format.names).toEqual(['_line', '_errors', ...format.names])
    expect(reportTable.rows.map(({ cells }) => cells.map(cleanCell))).toEqual(
      rows.slice(1).map(({ line, cells }) => [`${line}`, 'The price is missing. Say "why"; please.', ...cells]),
    )
  })

  it('keeps the line that names the delimiter and long rows, and removes open quotation marks', async () => {
    const file = openBytes(encodeText('sep=|\na|b|c\n1|2|3|4|5\n6|"7|8\n', 'utf-8'))
    const { format, rows } = await inspectAndRead(file)
    const report = await writeReport(file, format, rows)
    expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(report)).toBe(
      '\ufeffsep=|\n_line|_errors|a|b|c\n3|"The price is missing. Say ""why""; please."|1|2|3|4|5\n4|"The price is missing. Say ""why""; please."|6|7|8\n',
    )
    const reportTable = await readAll(openBytes(report), await inspectFile(openBytes(report)))
    expect(reportTable.rows.map(({ fault }) => fault?.code)).toEqual(['too_many_cells', undefined])
  })

  it.each([
    ['each line', '"Nr,Navn,Note"\n"1,""Ann, x"",y"\n"2,Bo,z"\n'],
    ['one line', 'Nr,Navn,Note\n1,"Ann, x",y\n"2,Bo,z"\n'],
    ['single marks', "'Nr','Navn','Note'\n'1','Ann, x','y'\n'2','Bo','z'\n"],
    ['PHP', 'Nr,Navn,Note\n1,"Ann, x","y\\"\\"y"\n2,"Bo ""B"" \\"C\\"",z\n'],
  ])('is read like the original that was quoted in an unusual way: %s', async (_, original) => {
    const file = openBytes(encodeText(original, 'utf-8'))
    const { format, rows } = await inspectAndRead(file)
    const again = await inspectAndRead(openBytes(await writeReport(file, format, rows)))
    expect(again.format.names.slice(2)).toEqual(['Nr', 'Navn', 'Note'])
    expect(again.rows.map(({ cells, fault }) => [...cells.slice(2), fault])).toEqual(
      rows.map(({ cells }) => [...cells, null]),
    )
  })

  it('escapes formulas of the original, and reads them back unescaped', async () => {
    const cells = [
      '=HYPERLINK("https://example.test","Win")',
      '@SUM(1)',
      '+1+cmd',
      '-1+1',
      '="0012"',
      '+45 20',
      '-5,00',
    ]
    const quotedCells = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`)
    const file = openBytes(encodeText(`a;b;c;d;e;f;g\r\n${quotedCells.join(';')}\r\n"=open;2`, 'utf-8'))
    const { format, rows } = await inspectAndRead(file)
    const report = await writeReport(file, format, rows)
    const reportTable = await inspectAndRead(openBytes(report))
    expect(reportTable.rows[0]?.cells.slice(2)).toEqual([
      `'=HYPERLINK("https://example.test","Win")`,
      "'@SUM(1)",
      "'+1+cmd",
      "'-1+1",
      '="0012"',
      '+45 20',
      '-5,00',
    ])
    expect(reportTable.rows[0]?.cells.slice(2).map(cleanCell)).toEqual(rows[0]?.cells.map(cleanCell))
    expect(reportTable.rows[1]?.cells.slice(2)).toEqual(["'=open", '2'])
  })

  it('escapes formulas in names of columns, behind other delimiters, and after tab or CR', async () => {
    const cells = ['x,=1+1', '\t=1+1', '\r=1+1', '＝1+1']
    const table = `"=1+1";b;c;d\r\n${cells.map((cell) => `"${cell}"`).join(';')}`
    const { format, rows } = await inspectAndRead(openBytes(encodeText(table, 'utf-8')))
    const report = await writeReport(openBytes(encodeText(table, 'utf-8')), format, rows)
    const reportTable = await inspectAndRead(openBytes(report))
    expect(new TextDecoder().decode(report).split('\r\n')[0]).toBe("_line;_errors;'=1+1;b;c;d")
    expect(reportTable.rows[0]?.cells.slice(2)).toEqual(["x,'=1+1", "'\t'=1+1", "'\r'=1+1", "'＝1+1"])
  })

  it('escapes formulas in rows with more columns than a table can have', async () => {
    const table = `a;b\r\n1;2\r\n3;4\r\n1;2${';x'.repeat(250)};=1+1`
    const { format, rows } = await inspectAndRead(openBytes(encodeText(table, 'utf-8')), { hasHeader: true })
    const report = await writeReport(openBytes(encodeText(table, 'utf-8')), format, rows)
    expect(rows).toHaveLength(3)
    expect(new TextDecoder().decode(report)).not.toContain('=1+1')
  })

  it('names the columns when the original does not', async () => {
    const file = openBytes(encodeText('1,a@example.test\n2,b@example.test', 'utf-8'))
    const { format, rows } = await inspectAndRead(file, { hasHeader: false })
    const report = new TextDecoder().decode(await writeReport(file, format, rows.slice(1)))
    expect(report).toBe(
      '_line,_errors,Column 1,Column 2\n2,"The price is missing. Say ""why""; please.",2,b@example.test\n',
    )
  })

  it('keeps leading zeros and long numbers of a workbook, and is read like the workbook', async () => {
    const row = ['0045', '12345678901234567', '0', '12', '00-1', '-', '-2+3']
    const columns = ['Ordre', 'Kode', 'C', 'D', 'E', 'F', 'G']
    const file = openBytes(
      buildWorkbook({ sheets: [{ name: 'x', rows: buildTextRow(1, columns) + buildTextRow(2, row) }] }),
    )
    const { format, rows } = await inspectAndRead(file)
    const report = await writeReport(file, format, rows)
    const [, line] = new TextDecoder().decode(report).split('\r\n')
    expect(line).toContain(`"=""0045""";"=""12345678901234567""";0;12;00-1;-;'-2+3`)
    const reportTable = await inspectAndRead(openBytes(report))
    expect(reportTable.rows[0]?.cells.slice(2).map(cleanCell)).toEqual(row.map(cleanCell))
  })

  it('is a CSV file for a workbook, which spreadsheets open without running formulas', async () => {
    const rows =
      buildTextRow(1, ['Navn', 'Beløb']) +
      buildTextRow(2, ['=HYPERLINK("x")', '-5,00']) +
      buildTextRow(3, ['+4512345678', '@x'])
    const file = openBytes(buildWorkbook({ sheets: [{ name: 'a', rows }] }))
    const { format, rows: read } = await inspectAndRead(file)
    const report = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      await writeReport(file, format, read),
    )
    const errors = '"The price is missing. Say ""why""; please."'
    expect(report).toBe(
      `\ufeff_line;_errors;Navn;Beløb\r\n2;${errors};"'=HYPERLINK(""x"")";"-5,00"\r\n3;${errors};+4512345678;'@x\r\n`,
    )
  })
})
