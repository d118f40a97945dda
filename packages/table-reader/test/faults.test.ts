import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanCell, type FileSource, inspectFile, openBytes, TableError } from '../src/index.ts'
import { isTotal } from '../src/rows.ts'
import { catchFault, inspectAndRead } from './support/read.ts'

const openText = (text: string): FileSource => openBytes(new TextEncoder().encode(text))

/** Makes a file of a beginning and many repetitions, without holding it in memory. */
function repeatPiece(start: string, piece: string, count: number): FileSource {
  const [first, part] = [new TextEncoder().encode(start), new TextEncoder().encode(piece)]
  return {
    size: first.length + part.length * count,
    async *stream(offset, length) {
      const end = offset + length
      let at = 0
      for (let index = -1; index < count && at < end; index++) {
        const bytes = index < 0 ? first : part
        const cut = bytes.subarray(Math.max(0, offset - at), Math.max(0, end - at))
        if (cut.length > 0) yield cut
        at += bytes.length
      }
    },
  }
}

describe('a file beyond the limits', () => {
  it('is refused when a line has no end', async () => {
    const file = repeatPiece('id,name\n1,Ann\n', 'x'.repeat(10_000), 100)
    expect(await catchFault(inspectAndRead(file))).toMatchObject({ code: 'line_too_long', line: 3 })
  })

  it('is refused at low cost when each line opens a quotation mark, with the line', async () => {
    const file = repeatPiece('id,name,email\n', '1,"open,a@example.test\n', 50_000)
    const fault = await catchFault(inspectAndRead(file, { quotes: true }))
    expect(fault).toMatchObject({ code: 'too_many_open_quotes', line: 102 })
  })

  it('loses no rows to one open quotation mark, for any length', async () => {
    const file = repeatPiece('id,name,email\n1,"open,a@example.test\n', '2,Bob,b@example.test\n', 30_000)
    const { rows } = await inspectAndRead(file)
    expect(rows.length).toBe(30_001)
    expect(rows.filter(({ fault }) => fault)).toMatchObject([{ line: 2, fault: { code: 'open_quote', column: 2 } }])
  })
})

describe('a text with a byte that is none', () => {
  it('is refused with the line', async () => {
    expect(await catchFault(inspectAndRead(openText('id;name\n1;a\0;P\n')))).toMatchObject({
      code: 'binary',
      message: 'The file is not text: line 2 contains a NUL character.',
      line: 2,
      column: null,
    })
  })
})

describe('any bytes', () => {
  it('are a table or get a fault with a code, without a crash', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .array(fc.constantFrom(34, 44, 59, 10, 13, 9, 32, 97, 195, 184, 0xe6, 0), { maxLength: 80 })
        .map((all) => Uint8Array.from(all)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (all) => {
        const outcome = await inspectAndRead(openBytes(all, 11)).catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(TableError)
      }),
      { numRuns: 400 },
    )
  })
})

describe('your own settings for a file', () => {
  it('replace the detected encoding, delimiter and header', async () => {
    const file = openText('a;b,c\n1;2,3\n')
    expect(await inspectFile(file, { delimiter: ',' })).toMatchObject({ delimiter: ',', names: ['a;b', 'c'] })
    expect(await inspectFile(file, { encoding: 'macintosh' })).toMatchObject({
      encoding: 'macintosh',
      encodingConfidence: 1,
    })
    const { format, rows } = await inspectAndRead(openText('1;ann@example.test;9,50\n2;bob@example.test;8,00\n'), {
      hasHeader: false,
    })
    expect(format).toMatchObject({ names: ['', '', ''], header: null })
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [1, '1', 'ann@example.test', '9,50'],
      [2, '2', 'bob@example.test', '8,00'],
    ])
  })

  it('make the first row the header even if it looks like data', async () => {
    const { format, rows } = await inspectAndRead(openText('2025;2026\n1;2\n'), { hasHeader: true })
    expect(format.names).toEqual(['2025', '2026'])
    expect(rows.length).toBe(1)
  })
})

describe('a cell', () => {
  it.each([
    ['  a b ', 'a b'],
    ['\u00a0x\u200b', 'x'],
    ["'+4512345678", '+4512345678'],
    ["'=SUM(A1)", '=SUM(A1)'],
    ["'0045", '0045'],
    ["'-5", '-5'],
    ["'@name", '@name'],
    ["'s-Hertogenbosch", "'s-Hertogenbosch"],
    ["'t Hooft", "'t Hooft"],
    ["''45", "''45"],
    ['="0045"', '0045'],
    ['="say ""hi"""', 'say "hi"'],
    ['=1+1', '=1+1'],
    ['="a"&"b"', '="a"&"b"'],
    ['="-"', ''],
    ["'-", ''],
    ['-', ''],
    ['–', ''],
    ['N/A', ''],
    ['#N/A', ''],
    ['n.v.t.', ''],
    ['Info Requested', ''],
    ['(null)', ''],
    ['null', 'null'],
    ['NULL', 'NULL'],
    ['Null', 'Null'],
    ['none', 'none'],
    ['0', '0'],
    ['- 5', '- 5'],
  ])('is read without its wrapping: %j means %j', (cell, meant) => {
    expect(cleanCell(cell)).toBe(meant)
  })

  it('does not change when it has no faults', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '1', ' ', '-', "'", '=', '"', '+', 'ø') }), (cell) => {
        const clean = cleanCell(cell)
        // The cleaner removes one guard, because a second one belongs to the text.
        if (!/^'+[=+\-@\d]|^="/.test(clean)) expect(cleanCell(clean)).toBe(clean)
      }),
    )
  })
})

describe('a row of totals', () => {
  it.each([
    [['Total', '', '', '1,250.00'], true],
    [['I alt:', '', '2', '1.250,00 kr.'], true],
    [['', '', 'Gesamt', '€ 99,00'], true],
    [['TOTAL DKK', '', '', '99'], true],
    [['Łącznie', '', '', '99 zł'], true],
    [['Total', 'ann@example.test', '', '99'], false],
    [['Totalt', 'Eva', '', '99'], false],
    [['Sum 41', 'Early bird', '1', '99'], false],
    [['Suma', 'Ann', 'Ticket', '99'], false],
    [['1001', '', '', '99'], false],
    [['', '', '', '99'], false],
  ])('is recognised: %j, %j', (cells, expected) => {
    expect(isTotal(cells, 4)).toBe(expected)
  })
})
