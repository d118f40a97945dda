import { toIso } from '../../../time/instants.ts'
import { dateOrders, readDate, type DateOrder, type DateShape } from './date-shape.ts'
import { type FormatDecision, keepFirst, type ReadingChoice } from './number-format.ts'

/** `each`: every cell is unambiguous by itself. */
export interface DateFormat {
  order: DateOrder | 'each'
  /** A year of two digits is in the century in which the date is not later than this. In milliseconds UTC. */
  latest?: number
}

export interface DateStatistics {
  fixed: number
  serial: number
  /** Dates whose meaning depends on the order, by the orders that they allow: `dmy`, `dmy mdy`. */
  allowed: Record<string, number>
  examples: Record<string, readonly string[]>
  /** Allowed dates that have dots. */
  dotted: number
  /** The latest day by each order, as if it were UTC. */
  latest: Record<DateOrder, number | null>
  with_time: number
  with_offset: number
}

export const createDateStatistics = (): DateStatistics => ({
  fixed: 0,
  serial: 0,
  allowed: {},
  examples: {},
  dotted: 0,
  latest: { dmy: null, mdy: null, ymd: null },
  with_time: 0,
  with_offset: 0,
})

const maxExamples = 3

const pickLater = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

export function countDate(statistics: DateStatistics, text: string, shape: DateShape): void {
  if (shape.is_serial) statistics.serial++
  if (shape.time !== null) statistics.with_time++
  if (shape.offset !== null || shape.zone !== undefined) statistics.with_offset++
  if (shape.is_fixed) {
    statistics.fixed++
    return
  }
  const orders = dateOrders.filter((order) => shape.days[order] !== null)
  const key = orders.join(' ')
  statistics.allowed[key] = (statistics.allowed[key] ?? 0) + 1
  statistics.examples[key] = keepFirst(statistics.examples[key] ?? [], [text], maxExamples)
  if (shape.is_dotted) statistics.dotted++
  for (const order of orders) statistics.latest[order] = pickLater(statistics.latest[order], shape.days[order])
}

export function mergeDates(one: DateStatistics, other: DateStatistics): DateStatistics {
  const keys = [...new Set([...Object.keys(one.allowed), ...Object.keys(other.allowed)])]
  const byKey = <Value>(value: (key: string) => Value) => Object.fromEntries(keys.map((key) => [key, value(key)]))
  const latest = (order: DateOrder) => pickLater(one.latest[order], other.latest[order])
  return {
    fixed: one.fixed + other.fixed,
    serial: one.serial + other.serial,
    allowed: byKey((key) => (one.allowed[key] ?? 0) + (other.allowed[key] ?? 0)),
    examples: byKey((key) => keepFirst(one.examples[key] ?? [], other.examples[key] ?? [], maxExamples)),
    dotted: one.dotted + other.dotted,
    latest: { dmy: latest('dmy'), mdy: latest('mdy'), ymd: latest('ymd') },
    with_time: one.with_time + other.with_time,
    with_offset: one.with_offset + other.with_offset,
  }
}

const parseOrders = (key: string): DateOrder[] => dateOrders.filter((order) => key.split(' ').includes(order))

function buildChoices(
  orders: readonly DateOrder[],
  { examples }: DateStatistics,
  latest: number | null,
): ReadingChoice<DateFormat>[] {
  const texts = Object.values(examples).flatMap((ofKey) => ofKey.slice(0, 2))
  return orders.map((order) => ({
    format: { order },
    examples: texts.map((text) => {
      const date = parseDate(text, { order, ...(latest === null ? {} : { latest }) })
      return { text, value: date === null || date === 'undecided' ? null : toIso(date.wall).slice(0, 10) }
    }),
  }))
}

/**
 * Decides the order by the dates of the whole column and never guesses. No date is later than `latest`, because orders
 * are older than their export. All countries that write dots put the day first.
 */
export function decideDates(statistics: DateStatistics, latest: number | null = null): FormatDecision<DateFormat> {
  const allowedOrders = Object.keys(statistics.allowed)
  if (allowedOrders.length === 0) return { status: 'decided', format: { order: 'each' } }
  const possible = dateOrders.filter((order) => allowedOrders.some((key) => parseOrders(key).includes(order)))
  const ambiguous = (reason: 'conflicting' | 'undetermined', orders: readonly DateOrder[]) =>
    ({ status: 'ambiguous', reason, choices: buildChoices(orders, statistics, latest) }) as const
  // A spreadsheet converts dates that it understands to numbers, maybe wrongly, so the column is ambiguous.
  if (statistics.serial > 0) return ambiguous('conflicting', possible)
  const viable = dateOrders.filter((order) => allowedOrders.every((key) => parseOrders(key).includes(order)))
  if (viable.length === 0) return ambiguous('conflicting', possible)
  const past = viable.filter((order) => latest === null || (statistics.latest[order] ?? 0) <= latest)
  const candidates = past.length > 0 ? past : viable
  const dependent = Object.values(statistics.allowed).reduce((sum, count) => sum + count, 0)
  if (statistics.dotted === dependent && candidates.includes('dmy'))
    return { status: 'decided', format: { order: 'dmy' } }
  const [only, ...more] = candidates
  return only && more.length === 0
    ? { status: 'decided', format: { order: only } }
    : ambiguous('undetermined', candidates)
}

export interface ParsedDate {
  /** Local time as if it were UTC; midnight for a date without a time. */
  wall: number
  has_time: boolean
  /** Milliseconds ahead of UTC; null for local time. */
  offset: number | null
  /** The zone of a local time, if it is written. */
  zone: string | null
}

function subtractCentury(day: number): number {
  const date = new Date(day)
  return date.setUTCFullYear(date.getUTCFullYear() - 100)
}

/** Parses a date. Returns null for another text, and `undecided` for a date that the format leaves ambiguous. */
export function parseDate(text: string, { order, latest }: DateFormat): ParsedDate | 'undecided' | null {
  const shape = readDate(text)
  if (!shape) return null
  if (order === 'each' && !shape.is_fixed) return 'undecided'
  const writtenDay = shape.days[order === 'each' ? 'ymd' : order]
  if (writtenDay === null) return null
  const isTooLate = shape.has_short_year && latest !== undefined && writtenDay > latest
  const day = isTooLate ? subtractCentury(writtenDay) : writtenDay
  const { time, offset, zone = null } = shape
  return { wall: day + (time ?? 0), has_time: time !== null, offset, zone }
}
