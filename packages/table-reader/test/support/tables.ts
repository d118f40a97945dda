import * as fc from 'fast-check'
import { canEncode } from '../../src/encoding/encode.ts'
import { delimiters, encodeText, encodings, type Delimiter, type Encoding, getByteOrderMark } from '../../src/index.ts'

export interface WrittenTable {
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

/** Any table in any dialect and encoding. */
export const table: fc.Arbitrary<WrittenTable> = fc
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

export const names = ['Order', 'Name', 'E-mail', 'Note']

export function write(one: WrittenTable): Uint8Array {
  const quoteCell = (cell: string): string =>
    one.quotesAll || cell.includes(one.delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  const lines = [names, ...one.cells].map(
    (cells) => cells.map(quoteCell).join(one.delimiter) + one.delimiter.repeat(one.emptyAtEnd),
  )
  const text = lines.join(one.lineBreak) + (one.endsWithBreak ? one.lineBreak : '')
  const mark = one.hasMark ? getByteOrderMark(one.encoding) : new Uint8Array()
  return Uint8Array.from([...mark, ...encodeText(text, one.encoding)])
}

/** Fills a row up to the width of the table. */
export const pad = (cells: readonly string[]): string[] => Array.from({ length: width }, (_, at) => cells[at] ?? '')

export const buildOptions = ({ encoding, delimiter }: WrittenTable) => ({
  encoding,
  delimiter,
  hasHeader: true,
  quotes: true,
})

/** The text is larger than several blocks, with notes of several lines and a few open quotation marks. */
export function buildLongFile(count: number): { text: string; rows: { cells: string[]; fault: boolean }[] } {
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
