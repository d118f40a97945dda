import * as fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { inspectFile, openBytes, readRows, TableError } from '../src/index.ts'
import { detectNumberKind, formatNumber } from '../src/xlsx/number-formats.ts'
import { catchFault, inspectAndRead } from './support/read.ts'
import { buildTextRow, buildWorkbook } from './support/xlsx.ts'

const read = (bytes: Uint8Array) => inspectAndRead(openBytes(bytes, 1000))
const readCells = async (bytes: Uint8Array) => (await read(bytes)).rows.map(({ cells }) => cells)
const people = (count: number, from = 2) =>
  Array.from({ length: count }, (_, index) =>
    buildTextRow(from + index, [`R-${index}`, `Søren ${index}`, `s${index}@example.test`]),
  ).join('')
const header = buildTextRow(1, ['Order', 'Navn', 'E-mail'])

describe('a workbook', () => {
  it('is read as Excel writes it: shared strings, dates by format, numbers, booleans, errors, formulas', async () => {
    const bytes = buildWorkbook({
      sharedStrings:
        '<si><t>Ordre</t></si><si><t>Navn</t></si><si><r><rPr><b/></rPr><t>Købt </t></r><r><t>den</t></r></si><si><t>Pris</t></si><si><t>Ny</t></si><si><t>Note</t></si><si><t xml:space="preserve"> Åse &amp; Ø_x000D_</t></si><si><t>東京</t><rPh sb="0" eb="1"><t>とうきょう</t></rPh></si>',
      formats: [
        0,
        14,
        22,
        'dd/mm/yyyy hh:mm',
        '#,##0.00 "kr."',
        '[$-406]d. mmmm yyyy;@',
        '0000',
        'h:mm AM/PM',
        '[h]:mm',
      ],
      sheets: [
        {
          name: 'Ordrer',
          rows:
            '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c><c r="E1" t="s"><v>4</v></c><c r="F1" t="s"><v>5</v></c></row>' +
            '<row r="2"><c r="A2"><v>1001</v></c><c r="B2" t="s"><v>6</v></c><c r="C2" s="1"><v>46387</v></c><c r="D2" s="4"><v>149.94999999999999</v></c><c r="E2" t="b"><v>1</v></c><c r="F2" t="e"><v>#N/A</v></c></row>' +
            '<row r="3"><c r="A3"><v>1002</v></c><c r="B3" t="s"><v>7</v></c><c r="C3" s="2"><v>46387.66666666666</v></c><c r="D3" s="4"><f>SUM(D2:D2)</f><v>1.5E2</v></c><c r="E3" t="b"><v>0</v></c><c r="F3" t="str"><f>A3&amp;"x"</f><v>1002x</v></c></row>' +
            '<row r="4"><c r="A4"><v>123456789012345</v></c><c r="B4" t="inlineStr"><is><t>In cell</t></is></c><c r="C4" s="3"><v>46387.999988425923</v></c><c r="D4" s="6"><v>900</v></c><c r="F4" s="7"><v>0.83333333333333337</v></c></row>' +
            '<row r="5"><c r="A5"><v>1E+20</v></c><c r="B5" t="d"><v>2026-12-31T20:00:00</v></c><c r="C5" s="5"><v>46387</v></c><c r="D5"><v>1.0000000000000001E-5</v></c><c r="F5" s="8"><v>1.25</v></c></row>',
        },
      ],
    })
    const { format, rows } = await read(bytes)
    expect(format).toEqual({
      kind: 'xlsx',
      sheetName: 'Ordrer',
      sheetNames: ['Ordrer'],
      names: ['Ordre', 'Navn', 'Købt den', 'Pris', 'Ny', 'Note'],
      header: { line: 1, offset: 0, length: 0 },
      body: { offset: 0, line: 2 },
    })
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['1001', ' Åse & Ø\r', '2026-12-31', '149.95 kr.', 'TRUE', '#N/A'],
      ['1002', '東京', '2026-12-31 16:00:00', '150 kr.', 'FALSE', '1002x'],
      ['123456789012345', 'In cell', '2026-12-31 23:59:59', '0900', '', '20:00:00'],
      ['1E+20', '2026-12-31T20:00:00', '2026-12-31', '0.00001', '', '30:00:00'],
    ])
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4, 5])
  })

  it('counts days from 1904 when its settings say so', async () => {
    const rows = `${buildTextRow(1, ['Name', 'Date'])}<row r="2"><c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2" s="1"><v>44925.5</v></c></row>`
    const sheets = [{ name: 'a', rows }]
    expect(await readCells(buildWorkbook({ sheets, formats: [0, 14], is1904: true }))).toEqual([
      ['Ann', '2026-12-31 12:00:00'],
    ])
    expect(await readCells(buildWorkbook({ sheets, formats: [0, 14] }))).toEqual([['Ann', '2022-12-30 12:00:00']])
  })

  it('is read from its first visible sheet', async () => {
    const bytes = buildWorkbook({
      sheets: [
        { name: 'secret', state: 'veryHidden', rows: buildTextRow(1, ['Hidden', 'Sheet']) },
        { name: 'old', state: 'hidden', rows: buildTextRow(1, ['Hidden', 'Sheet']) },
        { name: 'Orders & more', rows: header + people(2) },
        { name: 'later', rows: buildTextRow(1, ['Other', 'Sheet']) },
      ],
    })
    const { format, rows } = await read(bytes)
    expect(format).toMatchObject({ sheetName: 'Orders & more', names: ['Order', 'Navn', 'E-mail'] })
    expect(rows.length).toBe(2)
  })

  it('is read from the sheet that you choose, even a hidden one, or says which sheets it has', async () => {
    const sheet = (name: string) => buildTextRow(1, ['Order', 'Name']) + buildTextRow(2, ['1', name])
    const sheets = ['a', 'b'].map((name) => ({ name, rows: sheet(name) }))
    const bytes = buildWorkbook({ sheets: [...sheets, { name: 'c', state: 'hidden', rows: sheet('c') }] })
    for (const name of ['a', 'b', 'c']) {
      const { format, rows } = await inspectAndRead(openBytes(bytes), { sheet: name })
      expect(format).toMatchObject({ sheetName: name, sheetNames: ['a', 'b'] })
      expect(rows.map(({ cells }) => cells)).toEqual([['1', name]])
    }
    const fault = await catchFault(inspectAndRead(openBytes(bytes), { sheet: 'd' }))
    expect(fault).toMatchObject({ code: 'unknown_sheet', message: /"d".* a, b\./ })
  })

  it('is read from the first sheet that has rows, unless you choose another one', async () => {
    const empty = { name: 'Ark1', rows: buildTextRow(1, []) }
    const bytes = buildWorkbook({ sheets: [empty, { name: 'Ordrer', rows: header + people(1) }] })
    const { format, rows } = await read(bytes)
    expect(format).toMatchObject({ sheetName: 'Ordrer', sheetNames: ['Ark1', 'Ordrer'] })
    expect(rows).toHaveLength(1)
    const fault = { code: 'empty_file', message: 'The sheet "Ark1" has no rows.' }
    const chosen = inspectAndRead(openBytes(bytes), { sheet: 'Ark1' })
    expect(await catchFault(chosen)).toMatchObject({ ...fault, otherSheets: ['Ordrer'] })
    const only = await catchFault(read(buildWorkbook({ sheets: [empty] })))
    expect(only).toMatchObject({ ...fault, otherSheets: [] })
  })

  it('names its other sheets when the first one is not a table', async () => {
    const cover = buildTextRow(2, ['Festival', '12', '12-06-2026']) + buildTextRow(4, ['Ordrer', '12', ''])
    const orders = { name: 'Ordrer', rows: header + people(1) }
    const bytes = buildWorkbook({ sheets: [{ name: 'Forside', rows: cover }, orders] })
    expect(await catchFault(read(bytes))).toMatchObject({ code: 'no_header', line: 2, otherSheets: ['Ordrer'] })
  })

  it('is read from the sheet after the summary that Numbers writes', async () => {
    const summary = buildTextRow(1, ['Numbers Sheet Name', 'Numbers Table Name', 'Excel Worksheet Name'])
    const sheets = [
      { name: 'Export Summary', rows: summary + buildTextRow(2, ['Ark 1', 'Tabel 1', 'Ordrer']) },
      { name: 'Ordrer', rows: header + people(1) },
    ]
    expect(await read(buildWorkbook({ sheets }))).toMatchObject({ format: { sheetName: 'Ordrer' } })
    const summaryAlone = await read(buildWorkbook({ sheets: sheets.slice(0, 1) }))
    expect(summaryAlone.format).toMatchObject({ sheetName: 'Export Summary' })
  })

  it('has an error for a formula that was never calculated, and a blank for an empty text', async () => {
    const rows =
      '<row r="2"><c><v>1</v></c><c><f>A2*2</f><v></v></c><c t="str"><f>IF(A2=1,"")</f><v></v></c></row>' +
      '<row r="3"><c><v>2</v></c><c><f>A3*2</f></c><c t="str"><f>"x"</f><v>x</v></c></row>'
    expect(await readCells(buildWorkbook({ sheets: [{ name: 'x', rows: header + rows }] }))).toEqual([
      ['1', '#CALC!'],
      ['2', '#CALC!', 'x'],
    ])
  })

  it('is read as Strict Open XML and by the other spellings of the standard', async () => {
    const rows =
      '<row r="2"><c t="d"><v>2026-12-31T20:00:00.000</v></c><c t="b"><v>true</v></c><c t="b"><v>false</v></c></row>'
    const strict = 'http://purl.oclc.org/ooxml/officeDocument/relationships'
    const relation = `<Relationship Id="rId1" Type="${strict}/worksheet" Target="/xl/worksheets/sheet1.xml"/>`
    const parts = { 'xl/_rels/workbook.xml.rels': strToU8(`<Relationships>${relation}</Relationships>`) }
    expect(await readCells(buildWorkbook({ sheets: [{ name: 'x', rows: header + rows }], parts }))).toEqual([
      ['2026-12-31T20:00:00.000', 'TRUE', 'FALSE'],
    ])
  })

  it('may have a space in its very last cell', async () => {
    const last = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t xml:space="preserve"> </t></is></c></row>'
    const rows = await readCells(buildWorkbook({ sheets: [{ name: 'x', rows: header + people(1) + last }] }))
    expect(rows).toEqual([['R-0', 'Søren 0', 's0@example.test']])
  })

  it('may have a merged title, empty rows and a totals line', async () => {
    const bytes = buildWorkbook({
      sheets: [
        {
          name: 'Salg',
          rows:
            '<row r="1"><c r="A1" t="inlineStr"><is><t>Salg af billetter 2026</t></is></c><c r="B1"/><c r="C1"/></row><row r="2"/>' +
            buildTextRow(4, ['Ordre', 'Navn', 'Beløb']) +
            buildTextRow(5, ['1', 'Ole', '100']) +
            buildTextRow(7, ['2', 'Eva', '200']) +
            buildTextRow(8, ['I alt', '', '300']) +
            buildTextRow(12, ['Udskrevet af Eva']),
          after: '<mergeCells count="1"><mergeCell ref="A1:C1"/></mergeCells>',
        },
      ],
    })
    const { format, rows } = await read(bytes)
    expect(format).toMatchObject({ header: { line: 4 }, names: ['Ordre', 'Navn', 'Beløb'] })
    expect(rows.map(({ line, kind, cells }) => [line, kind, ...cells])).toEqual([
      [5, 'data', '1', 'Ole', '100'],
      [7, 'data', '2', 'Eva', '200'],
      [8, 'total', 'I alt', '', '300'],
      [12, 'note', 'Udskrevet af Eva'],
    ])
  })

  it('is read when a program writes prefixes, and no references or styles', async () => {
    const rows =
      '<row><c t="inlineStr"><is><t>Name</t></is></c><c t="inlineStr"><is><t>E-mail</t></is></c></row><row><c t="inlineStr"><is><t><![CDATA[A < B]]></t></is></c><c t="str"><v>a@example.test</v></c></row>'
    expect(await readCells(buildWorkbook({ prefix: 'x:', sheets: [{ name: 'x', rows }] }))).toEqual([
      ['A < B', 'a@example.test'],
    ])
  })

  it('continues after any batch', async () => {
    const file = openBytes(buildWorkbook({ sheets: [{ name: 'x', rows: header + people(3000) }] }), 500)
    const format = await inspectFile(file)
    const batches = await Array.fromAsync(readRows(file, format))
    expect(batches.length).toBeGreaterThan(2)
    const middle = batches.length >> 1
    const rest = await Array.fromAsync(readRows(file, format, batches[middle]!.next))
    expect(rest.flatMap(({ rows }) => rows)).toEqual(batches.slice(middle + 1).flatMap(({ rows }) => rows))
  })
})

describe('a workbook that cannot be read', () => {
  const good = buildWorkbook({ sheets: [{ name: 'x', rows: header + people(200) }] })
  const readFaultCode = async (bytes: Uint8Array) => (await catchFault(read(bytes))).code

  it('is refused with a clear code: a password, another format, an archive, no sheet', async () => {
    const compound = Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...new Uint8Array(600)])
    const named = Uint8Array.from([
      ...compound,
      ...Array.from('EncryptedPackage').flatMap((letter) => [letter.charCodeAt(0), 0]),
    ])
    expect(await readFaultCode(named)).toBe('password_protected')
    expect(await readFaultCode(compound)).toBe('unreadable_file')
    expect(await readFaultCode(zipSync({ 'photo.txt': strToU8('x') }))).toBe('unreadable_file')
    expect(await readFaultCode(zipSync({ mimetype: strToU8('x'), 'content.xml': strToU8('<a/>') }))).toBe(
      'unreadable_file',
    )
    expect(await readFaultCode(buildWorkbook({ sheets: [{ name: 'x', rows: header, state: 'hidden' }] }))).toBe(
      'broken_xlsx',
    )
    expect(await readFaultCode(buildWorkbook({ sheets: [{ name: 'x', rows: '<row r="1"/>' }] }))).toBe('empty_file')
  })

  it('is refused when an entry of the archive is encrypted', async () => {
    const locked = good.slice()
    const view = new DataView(locked.buffer)
    for (let at = 0; at + 4 < locked.length; at++)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint16(at + 8, view.getUint16(at + 8, true) | 1, true)
    expect(await readFaultCode(locked)).toBe('password_protected')
  })

  it('is read correctly or refused, wherever it is cut or damaged', async () => {
    const expected = await readCells(good)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 4, max: good.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          expect(await readFaultCode(good.subarray(0, at))).toBe('broken_xlsx')
          const damaged = good.slice()
          damaged[at]! ^= change
          const outcome = await readCells(damaged).catch((error: unknown) => error)
          if (!(outcome instanceof TableError)) expect(outcome).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('is refused by its declared size, and by its actual size', async () => {
    const zeros = new Uint8Array(9_000_000)
    const honest = buildWorkbook({ sheets: [{ name: 'x', rows: header }], parts: { 'xl/styles.xml': zeros } })
    expect(await catchFault(read(honest))).toMatchObject({ code: 'broken_xlsx', message: /larger than 8388608 bytes/ })
    const lying = honest.slice()
    const view = new DataView(lying.buffer)
    for (let at = 0; at + 4 < lying.length; at++)
      if (view.getUint32(at, true) === 0x02014b50 && view.getUint32(at + 24, true) === zeros.length)
        view.setUint32(at + 24, 10, true)
    expect(await readFaultCode(lying)).toBe('broken_xlsx')
  })

  it('is refused when a cell, a row or an element has no end', async () => {
    const long = 'x'.repeat(400_000)
    const inCell = buildWorkbook({ sheets: [{ name: 'x', rows: header + buildTextRow(2, [long]) }] })
    expect(await catchFault(read(inCell))).toMatchObject({ code: 'line_too_long', line: 2 })
    const tag = buildWorkbook({ sheets: [{ name: 'x', rows: `${header}<row r="2" a="${'y'.repeat(3_000_000)}"/>` }] })
    expect(await readFaultCode(tag)).toBe('broken_xlsx')
  })

  it('is read without expanding entities', async () => {
    const rows = `${header}<row r="2"><c t="inlineStr"><is><t>&bomb;</t></is></c></row>`
    const bytes = buildWorkbook({ sheets: [{ name: 'x', rows }] })
    expect(await readCells(bytes)).toEqual([['&bomb;']])
  })

  it('is refused with the place when rows are out of order or too wide', async () => {
    const wide = `${header}<row r="2"><c r="GS2" t="str"><v>x</v></c></row>`
    expect(await catchFault(read(buildWorkbook({ sheets: [{ name: 'x', rows: wide }] })))).toMatchObject({
      code: 'too_many_columns',
      line: 2,
      column: 201,
    })
    expect(
      await readFaultCode(
        buildWorkbook({ sheets: [{ name: 'x', rows: buildTextRow(5, ['a']) + buildTextRow(5, ['b']) }] }),
      ),
    ).toBe('broken_xlsx')
  })
})

describe('a number in a cell', () => {
  it.each([
    ['yyyy-mm-dd', 'date'],
    ['[$-F800]dddd, mmmm dd, yyyy', 'date'],
    ['mmm', 'date'],
    ['mm:ss.0', 'time'],
    ['[hh]:mm', 'duration'],
    ['0.00', 'number'],
    ['General', 'number'],
    ['"day" 0', 'number'],
    ['[Red]0.00;[Blue]-0.00', 'number'],
    ['#,##0.00\\ "zł"', 'number'],
    ['#,##0.00 [$kr.-406]', 'number'],
    ['_-* #,##0.00_-', 'number'],
    ['0.00E+00', 'number'],
    ['00000', 'digits'],
    ['#,##0.00 DKK', 'number'],
    ['#,##0.00\\ SEK;-#,##0.00\\ SEK', 'number'],
    ['# ?/?', 'number'],
    ['ss.000', 'time'],
    ['(000) 000-00\\ 00', 'digits'],
  ])('has a kind by its format: %s is a %s', (code, kind) => {
    expect(detectNumberKind(164, code).kind).toBe(kind)
  })

  it('is the same date to the second, for any precision of the program', () => {
    const moment = fc.integer({ min: Date.UTC(1900, 2, 1) / 1000, max: Date.UTC(2200, 0) / 1000 })
    fc.assert(
      fc.property(moment, fc.constantFrom(11, 12, 15, 17), (seconds, digits) => {
        const serial = (seconds / 86_400 + 25_569).toPrecision(digits)
        const text = formatNumber(serial, { kind: 'date' }, false)
        expect(Date.parse(`${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`)).toBe(seconds * 1000)
      }),
    )
  })

  it.each([
    ['1', '1900-01-01'],
    ['59', '1900-02-28'],
    ['61', '1900-03-01'],
    ['0.5', '12:00:00'],
    ['-1', '-1'],
    ['9999999', '9999999'],
    ['abc', 'abc'],
  ])('is read as a date: %s is %s', (serial, text) => {
    expect(formatNumber(serial, { kind: 'date' }, false)).toBe(text)
  })
})

describe('a number', () => {
  const format = (text: string, code?: string) => formatNumber(text, detectNumberKind(164, code ?? 'General'), false)

  it.each([
    ['1234567890123456', '1234567890123456'],
    ['1234567890123457', '1234567890123457'],
    ['12345678901234567890123', '12345678901234567890123'],
    ['-1234567890123456', '-1234567890123456'],
    ['0001', '0001'],
    ['1234567890123456.0', '1234567890123456'],
    ['123456789012345', '123456789012345'],
    ['1000000000000000', '1E+15'],
    ['1234567890123450', '1.23456789012345E+15'],
    ['12345678901234500000', '1.23456789012345E+19'],
    ['1.23456789012345E+15', '1.23456789012345E+15'],
    ['1.2345678901234568E16', '1.2345678901234568E+16'],
    ['1.234567890123456e+15', '1.234567890123456E+15'],
    ['1.23456789012E+11', '123456789012'],
    ['1.5E2', '150'],
    ['149.90000000000001', '149.9'],
    ['1.0000000000000001E-5', '0.00001'],
  ])('keeps the digits of an integer, and shows that digits are lost: %s', (text, shown) => {
    expect(format(text)).toBe(shown)
  })

  it('never is the text of another number, however long both are', () => {
    const digits = fc.integer({ min: 1, max: 25 }).chain((length) => fc.bigInt({ min: 0n, max: 10n ** BigInt(length) }))
    fc.assert(
      fc.property(digits, fc.integer({ min: 1, max: 1000 }), (one, step) => {
        expect(format(String(one))).not.toBe(format(String(one + BigInt(step))))
      }),
    )
  })

  it.each([
    ['"$"#,##0.00', '5 $'],
    ['$#,##0.00;[Red]-$#,##0.00', '5 $'],
    ['#,##0.00 €', '5 €'],
    ['_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', '5 €'],
    ['0.00 "SEK"', '5 SEK'],
    ['0.00\\ \\S\\E\\K', '5 SEK'],
    ['#,##0.00 DKK', '5 DKK'],
    ['#,##0.00\\ [$zł-415]', '5 zł'],
    ['[$EUR] #,##0.00', '5 EUR'],
    ['[$€-2]\\ #,##0.00', '5 €'],
    ['[$-409]#,##0.00', '5'],
    ['[$$-409]#,##0.00', '5 $'],
    ['[$$-1009]#,##0.00', '5 CAD'],
    ['#,##0.00\\ [$kr-41D]', '5 SEK'],
    ['#,##0.00\\ [$kr.-406]', '5 DKK'],
    ['#,##0.00\\ "kr."', '5 kr.'],
    ['[$¥-411]#,##0', '5 ¥'],
    ['General "EUR"', '5 EUR'],
    ['"x;y €" 0', '5 €'],
    ['0 "stk."', '5'],
    ['"Order "0', '5'],
    ['0%', '500%'],
    ['0.00\\%', '5%'],
  ])('shows the currency and the percent sign of its cell: %s', (code, shown) => {
    expect(format('5', code)).toBe(shown)
  })

  it.each([
    ['0.05', '5%'],
    ['0.285', '28.5%'],
    ['-0.1', '-10%'],
  ])('is a percentage as its cell shows it: %s', (text, shown) => {
    expect(formatNumber(text, detectNumberKind(9, undefined), false)).toBe(shown)
  })
})
