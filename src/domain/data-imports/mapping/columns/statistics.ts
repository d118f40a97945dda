import { cleanCell, showUndecodable } from '@ecms/table-reader'
import { maxEmailLength, normalizeEmail } from '../../../accounts/users.ts'
import { dropInvisible } from '../../../text/invisible.ts'
import { readCurrencyMark, readBoolean, readLanguage, readStatus } from '../values/words.ts'
import { countDate, mergeDates, createDateStatistics, type DateStatistics } from './date-format.ts'
import { readDate, readTime, type DateShape } from './date-shape.ts'
import { countNumber, keepFirst, mergeNumbers, createNumberStatistics, type NumberStatistics } from './number-format.ts'
import { readNumber, type NumberShape } from './number-shape.ts'

const cellKinds = [
  'number',
  'date',
  'time',
  'email',
  'phone',
  'boolean',
  'status',
  'currency',
  'language',
  'code',
  'name',
  'link',
] as const
export type CellKind = (typeof cellKinds)[number]

/** Parts of a column are counted separately and merged in the order of the file. */
export interface ColumnStatistics {
  filled_cells: number
  blank_cells: number
  /** One cell can be of several kinds. */
  kinds: Record<CellKind, number>
  numbers: NumberStatistics
  dates: DateStatistics
  /** The first different cells of the file with their counts. */
  values: Record<string, number>
  /** True if there are more of them than `values` has. */
  has_more_values: boolean
  samples: readonly string[]
  max_length: number
  /** True if numbers may come from a workbook, which writes a point whatever the texts beside them do. */
  is_typed?: boolean
}

const maxValues = 60
const maxValueLength = 80
const maxSamples = 5
const maxSampleLength = 200

interface CellFacts {
  text: string
  kinds: readonly CellKind[]
  number: NumberShape | null
  date: DateShape | null
}

const isName = (text: string): boolean =>
  text.length <= 80 && /^[\p{L}\p{M}'’.,\- ]+$/u.test(text) && /\p{L}/u.test(text)
const isCode = (text: string): boolean => /^#?[\p{L}\d][\p{L}\d._/-]{2,63}$/u.test(text)
const minPhoneDigits = 7
/** A number has a country code, or digits with nothing but spaces and the like between them. */
const isPhone = (text: string): boolean =>
  /^(?:\+|00)[\d\s()./-]{7,22}$/.test(text) ||
  (/^[\d\s()/-]{7,16}$/.test(text) && text.replaceAll(/\D/g, '').length >= minPhoneDigits)

/** A word for yes or no has no other digits. Words for a status or a language have none at all. */
const mayBeWord = /^\D*(?:[01]\D*)?$/
const maxWordLength = 40

const isOfKind: Record<Exclude<CellKind, 'number' | 'date'>, (text: string, hasDigit: boolean) => boolean> = {
  time: (text, hasDigit) => hasDigit && text.length <= 24 && text.includes(':') && readTime(text) !== null,
  email: (text) => text.length <= maxEmailLength && text.includes('@') && normalizeEmail(text) !== null,
  phone: (text, hasDigit) => hasDigit && isPhone(text),
  boolean: (text) => text.length <= maxWordLength && mayBeWord.test(text) && readBoolean(text) !== null,
  status: (text, hasDigit) => text.length <= maxWordLength && !hasDigit && readStatus(text) !== null,
  currency: (text) => text.length <= maxWordLength && readCurrencyMark(text) !== null,
  language: (text, hasDigit) => text.length <= maxWordLength && !hasDigit && readLanguage(text) !== null,
  code: (text, hasDigit) => hasDigit && isCode(text),
  name: (text, hasDigit) => !hasDigit && isName(text),
  link: (text) => /^https?:\/\//i.test(text),
}

function readFacts(text: string): CellFacts {
  const hasDigit = /\d/.test(text)
  const number = hasDigit ? readNumber(text) : null
  const date = hasDigit ? readDate(text) : null
  const kinds = cellKinds.filter((kind) =>
    kind === 'number' ? number !== null : kind === 'date' ? date !== null : isOfKind[kind](text, hasDigit),
  )
  return { text, number, date, kinds }
}

const createStatistics = (isTyped: boolean): ColumnStatistics => ({
  ...(isTyped ? { is_typed: true } : {}),
  filled_cells: 0,
  blank_cells: 0,
  kinds: Object.fromEntries(cellKinds.map((kind) => [kind, 0])) as Record<CellKind, number>,
  numbers: createNumberStatistics(),
  dates: createDateStatistics(),
  values: {},
  has_more_values: false,
  samples: [],
  max_length: 0,
})

/** Counts the different cells of a column, up to `maxValues` of them. */
class ValueCounter {
  readonly #counts = new Map<string, number>()
  #hasMore = false

  add(text: string): void {
    const count = this.#counts.get(text)
    const isFull = this.#counts.size >= maxValues
    if (count === undefined && (isFull || text.length > maxValueLength || text === '__proto__')) this.#hasMore = true
    else this.#counts.set(text, (count ?? 0) + 1)
  }

  get summary(): Pick<ColumnStatistics, 'values' | 'has_more_values'> {
    return { values: Object.fromEntries(this.#counts), has_more_values: this.#hasMore }
  }
}

function countCell(statistics: ColumnStatistics, facts: CellFacts): void {
  statistics.filled_cells++
  statistics.max_length = Math.max(statistics.max_length, facts.text.length)
  for (const kind of facts.kinds) statistics.kinds[kind]++
  if (facts.number) countNumber(statistics.numbers, facts.text, facts.number)
  if (facts.date) countDate(statistics.dates, facts.text, facts.date)
  if (statistics.samples.length < maxSamples)
    statistics.samples = keepFirst(statistics.samples, [facts.text.slice(0, maxSampleLength)], maxSamples)
}

const maxRemembered = 300
const maxRememberedLength = 100

/** Reads repeated cells once: the first ones of a part, and those of one order. */
export class ColumnCounter {
  readonly #statistics: ColumnStatistics
  readonly #values = new ValueCounter()
  readonly cellFacts = new Map<string, CellFacts>()
  #last: CellFacts | undefined

  constructor(isTyped = false) {
    this.#statistics = createStatistics(isTyped)
  }

  add(cell: string): void {
    const text = showUndecodable(dropInvisible(cleanCell(cell)))
    if (text === '') {
      this.#statistics.blank_cells++
      return
    }
    countCell(this.#statistics, this.#getFacts(text))
    this.#values.add(text)
  }

  get statistics(): ColumnStatistics {
    return { ...this.#statistics, ...this.#values.summary }
  }

  #getFacts(text: string): CellFacts {
    if (text !== this.#last?.text) this.#last = this.cellFacts.get(text) ?? this.#readFacts(text)
    return this.#last
  }

  #readFacts(text: string): CellFacts {
    const facts = readFacts(text)
    if (this.cellFacts.size < maxRemembered && text.length <= maxRememberedLength) this.cellFacts.set(text, facts)
    return facts
  }
}

export function countCells(cells: Iterable<string>, isTyped = false): ColumnStatistics {
  const counter = new ColumnCounter(isTyped)
  for (const cell of cells) counter.add(cell)
  return counter.statistics
}

function mergeValues(
  one: ColumnStatistics,
  other: ColumnStatistics,
): Pick<ColumnStatistics, 'values' | 'has_more_values'> {
  const values = { ...one.values }
  let has_more_values = one.has_more_values || other.has_more_values
  for (const [text, count] of Object.entries(other.values))
    if (Object.hasOwn(values, text)) values[text] = (values[text] ?? 0) + count
    else if (Object.keys(values).length >= maxValues) has_more_values = true
    else values[text] = count
  return { values, has_more_values }
}

export function mergeStatistics(one: ColumnStatistics, other: ColumnStatistics): ColumnStatistics {
  return {
    ...(one.is_typed ? { is_typed: true } : {}),
    ...mergeValues(one, other),
    filled_cells: one.filled_cells + other.filled_cells,
    blank_cells: one.blank_cells + other.blank_cells,
    kinds: Object.fromEntries(cellKinds.map((kind) => [kind, one.kinds[kind] + other.kinds[kind]])) as Record<
      CellKind,
      number
    >,
    numbers: mergeNumbers(one.numbers, other.numbers),
    dates: mergeDates(one.dates, other.dates),
    samples: keepFirst(one.samples, other.samples, maxSamples),
    max_length: Math.max(one.max_length, other.max_length),
  }
}

export const getShare = ({ filled_cells, kinds }: ColumnStatistics, kind: CellKind): number =>
  filled_cells === 0 ? 0 : kinds[kind] / filled_cells
