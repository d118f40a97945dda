import { cleanCell } from './cells.ts'
import type { SourceRecord } from './records.ts'
import { fold } from './text.ts'

/** `header` repeats the header, as at the top of a page. `total` has sums of the table. `note` is a text below it. */
export type RowKind = 'header' | 'data' | 'total' | 'note'

export interface ClassifiedRow extends SourceRecord {
  kind: RowKind
}

const totalWords = new Set(
  ['total', 'totals', 'grand total', 'subtotal', 'sub total', 'sum', 'sums', 'i alt', 'ialt', 'samlet', 'sum i alt']
    .concat(['summe', 'gesamt', 'gesamtsumme', 'zwischensumme', 'insgesamt', 'totalt', 'summa', 'delsumma'])
    .concat(['totaal', 'som', 'subtotaal', 'eindtotaal', 'razem', 'suma', 'ogolem', 'lacznie', 'suma koncowa']),
)

const maxWaitingRows = 20
const number = /^[\p{Sc}\s.,'’+()%-]*\d[\p{Sc}\d\s.,'’+()%-]*$/u
const currencyWord = /\b(kr|dkk|eur|sek|nok|gbp|usd|pln|zl)\b\.?/g

const isNumber = (cell: string): boolean => number.test(fold(cell).replaceAll(currencyWord, ''))

const startsWithLetter = /^\s*\p{L}/u
const maxTotalLength = 40

/** Matches "Total" or its translations, with nothing but numbers beside it. */
export function isTotal(cells: readonly string[], width: number): boolean {
  const first = cells.find((cell) => cell.trim() !== '')
  if (width < 3 || first === undefined || first.length > maxTotalLength || !startsWithLetter.test(first)) return false
  const word = fold(first)
    .replaceAll(currencyWord, '')
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim()
  if (!totalWords.has(word)) return false
  const [, ...others] = cells.map(cleanCell).filter((cell) => cell !== '')
  return others.length < Math.max(2, Math.ceil(width * 0.7)) && others.every(isNumber)
}

const countFilledCells = (cells: readonly string[]): number => cells.filter((cell) => cleanCell(cell) !== '').length

const isEmpty = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

function isHeader(cells: readonly string[], names: readonly string[]): boolean {
  if (cells[0] !== undefined && cleanCell(cells[0]) !== names[0]) return false
  const clean = cells.map(cleanCell)
  const isSame = names.every((name, index) => name === (clean[index] ?? ''))
  return (
    isSame && names.filter((name) => name !== '').length > 1 && clean.slice(names.length).every((one) => one === '')
  )
}

/** Decides the kind of each row. A row that may be a note waits until the next rows are known. */
export class RowClassifier {
  readonly #names: readonly string[]
  readonly #width: number
  #isAfterEmptyRow: boolean
  #waitingRows: ClassifiedRow[] = []

  constructor(names: readonly string[], isAfterEmptyRow: boolean) {
    this.#names = names
    this.#width = names.length
    this.#isAfterEmptyRow = isAfterEmptyRow
  }

  /** The first row whose kind is not certain yet. A reader that starts again has to begin here. */
  get firstWaitingRow(): ClassifiedRow | undefined {
    return this.#waitingRows[0]
  }

  get isAfterEmptyRow(): boolean {
    return this.#isAfterEmptyRow
  }

  /** Returns the rows whose kind is certain once this record is known. */
  add(record: SourceRecord): ClassifiedRow[] {
    const row: ClassifiedRow = { ...record, kind: 'data' }
    if (!record.fault && isEmpty(record.cells)) {
      this.#isAfterEmptyRow = true
      return []
    }
    if (isTotal(record.cells, this.#width)) row.kind = 'total'
    else if (!record.fault && isHeader(record.cells, this.#names)) row.kind = 'header'
    else if (!record.fault && hasCellsBeyond(record.cells, this.#width))
      row.fault = { code: 'too_many_cells', column: this.#width + 1 }
    if (this.#mayBeNote(row)) {
      this.#waitingRows.push(row)
      return []
    }
    const rows = [...this.#waitingRows, row]
    this.#waitingRows = []
    this.#isAfterEmptyRow = false
    return rows
  }

  /** Rows that still wait at the end of the file are notes. */
  end(): ClassifiedRow[] {
    const rows = this.#waitingRows.map((row): ClassifiedRow => (row.kind === 'total' ? row : { ...row, kind: 'note' }))
    this.#waitingRows = []
    return rows
  }

  #mayBeNote(row: ClassifiedRow): boolean {
    if (!this.#isAfterEmptyRow || this.#waitingRows.length >= maxWaitingRows || row.fault) return false
    if (row.kind === 'total') return true
    return this.#width > 2 && countFilledCells(row.cells) === 1
  }
}

function hasCellsBeyond(cells: readonly string[], width: number): boolean {
  return cells.length > width && cells.slice(width).some((cell) => cell.trim() !== '')
}
