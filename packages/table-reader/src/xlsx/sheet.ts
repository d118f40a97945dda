import { maxColumns, maxLineBytes, TableError } from '../faults.ts'
import type { FileSource } from '../source.ts'
import { buildDamageError, openEntry } from '../zip.ts'
import { formatNumber } from './number-formats.ts'
import type { Workbook } from './workbook.ts'
import { readXml, unescapeText } from './xml.ts'

export interface SheetRow {
  /** The number in the sheet, from 1. */
  number: number
  cells: string[]
  isHidden: boolean
}

export const maxSheetSize = 629_145_600
export const maxRowNumber = 1_048_576

/** `AB12` is column 28. */
export function parseColumn(reference: string): number {
  let column = 0
  for (const letter of reference) {
    const value = letter.toUpperCase().charCodeAt(0) - 64
    if (value < 1 || value > 26) break
    column = column * 26 + value
  }
  return column
}

export function checkRowLength(length: number, place: { line: number; column: number }): void {
  if (length * 3 > maxLineBytes * 2)
    throw new TableError('line_too_long', `Row ${place.line} contains too much text.`, place)
}

/** Excel shows this for a formula that it did not calculate. */
const missingResult = '#CALC!'

class SheetReader {
  readonly #workbook: Workbook
  rows: SheetRow[] = []
  #row: SheetRow = { number: 0, cells: [], isHidden: false }
  #rowLength = 0
  #column = 0
  #type = ''
  #style = 0
  #text = ''
  #isInValue = false
  #isPhonetic = false
  #hasFormula = false

  constructor(workbook: Workbook) {
    this.#workbook = workbook
  }

  open(tag: string, attributes: Record<string, string>): void {
    if (tag === 'row') this.#openRow(attributes)
    else if (tag === 'c') this.#openCell(attributes)
    else if (tag === 'rPh') this.#isPhonetic = true
    else if (tag === 'f') this.#hasFormula = true
    this.#isInValue = (tag === 'v' || tag === 't') && !this.#isPhonetic
  }

  text(text: string): void {
    if (!this.#isInValue) return
    this.#text += text
    this.#checkLength(this.#text.length)
  }

  close(tag: string): void {
    if (tag === 'v' || tag === 't') this.#isInValue = false
    else if (tag === 'rPh') this.#isPhonetic = false
    else if (tag === 'c') this.#closeCell()
    else if (tag === 'row') this.rows.push(this.#row)
  }

  #openRow({ r, hidden = '0' }: Record<string, string>): void {
    const number = r === undefined ? this.#row.number + 1 : Number(r)
    if (!Number.isInteger(number) || number <= this.#row.number || number > maxRowNumber)
      throw buildDamageError('the numbers of its rows are out of order')
    this.#row = { number, cells: [], isHidden: hidden === '1' || hidden === 'true' }
    this.#rowLength = 0
    this.#column = 0
  }

  #openCell({ r, t = 'n', s = '0' }: Record<string, string>): void {
    this.#column = r === undefined ? this.#column + 1 : parseColumn(r)
    this.#type = t
    this.#style = Number(s)
    this.#text = ''
    this.#hasFormula = false
  }

  #closeCell(): void {
    const value = this.#value()
    if (value === '') return
    const { cells, number } = this.#row
    if (this.#column > maxColumns && value.trim() === '') return
    if (this.#column > maxColumns)
      throw new TableError('too_many_columns', `The table has more than ${maxColumns} columns.`, {
        line: number,
        column: this.#column,
      })
    if (this.#column < 1) throw buildDamageError('a cell has no column')
    while (cells.length < this.#column - 1) cells.push('')
    cells[this.#column - 1] = value
    this.#rowLength += value.length
    this.#checkLength(this.#rowLength)
  }

  #checkLength(length: number): void {
    checkRowLength(length, { line: this.#row.number, column: this.#column })
  }

  #sharedString(index: string): string {
    const text = this.#workbook.sharedStrings[Number(index)]
    if (text === undefined) throw buildDamageError(`row ${this.#row.number} names a text that it does not have`)
    return text
  }

  #value(): string {
    const text = this.#text
    // A program that cannot compute writes formulas without a value. The text of an empty result has a type.
    if (text === '') return this.#hasFormula && this.#type !== 'str' ? missingResult : ''
    switch (this.#type) {
      case 's':
        return this.#sharedString(text)
      case 'inlineStr':
      case 'str':
        return unescapeText(text)
      case 'b':
        return ['1', 'true'].includes(text.trim()) ? 'TRUE' : 'FALSE'
      case 'e':
      case 'd':
        return text
      default:
        return formatNumber(text, this.#workbook.numberKinds[this.#style] ?? { kind: 'number' }, this.#workbook.is1904)
    }
  }
}

/** Rows without cells may be missing. */
export async function* readSheetRows(file: FileSource, workbook: Workbook): AsyncGenerator<SheetRow[]> {
  const { sheet } = workbook
  const reader = new SheetReader(workbook)
  for await (const _ of readXml(sheet.name, openEntry(file, sheet, maxSheetSize), reader)) {
    if (reader.rows.length === 0) continue
    yield reader.rows
    reader.rows = []
  }
}
