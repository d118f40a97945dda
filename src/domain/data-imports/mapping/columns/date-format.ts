import { toIso } from '../../../time/instants.ts'
import { dateOrders, readDate, type DateOrder, type DateShape } from './date-shape.ts'
import { type FormatDecision, keepFirst, type ReadingChoice } from './number-format.ts'

/** `each`: every cell is unambiguous by itself. */
export interface DateFormat {
  order: DateOrder | 'each'
  /** A year of two digits is in the century in which the date is not later than this. In milliseconds UTC. */
  latest_day?: number
}

export interface DateStatistics {
  fixed_dates: number
  serial_dates: number
  /** Dates whose meaning depends on the order, by the orders that they allow: `dmy`, `dmy mdy`. */
  counts_by_orders: Record<string, number>
  examples: Record<string, readonly string[]>
  /** Allowed dates that have dots. */
  dotted_dates: number
  /** The latest day by each order, as if it were UTC. */
  latest_days: Record<DateOrder, number | null>
  with_time: number
  with_offset: number
}

export const createDateStatistics = (): DateStatistics => ({
  fixed_dates: 0,
  serial_dates: 0,
  counts_by_orders: {},
  examples: {},
  dotted_dates: 0,
  latest_days: { dmy: null, mdy: null, ymd: null },
  with_time: 0,
  with_offset: 0,
})

const maxExamples = 3

const pickLater = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

export function countDate(statistics: DateStatistics, text: string, shape: DateShape): void {
  if (shape.is_serial) statistics.serial_dates++
  if (shape.time !== null) statistics.with_time++
  if (shape.offset !== null || shape.zone !== undefined) statistics.with_offset++
  if (shape.is_fixed) {
    statistics.fixed_dates++
    return
  }
  const orders = dateOrders.filter((order) => shape.days[order] !== null)
  const key = orders.join(' ')
  statistics.counts_by_orders[key] = (statistics.counts_by_orders[key] ?? 0) + 1
  statistics.examples[key] = keepFirst(statistics.examples[key] ?? [], [text], maxExamples)
  if (shape.is_dotted) statistics.dotted_dates++
  for (const order of orders)
    statistics.latest_days[order] = pickLater(statistics.latest_days[order], shape.days[order])
}

export function mergeDates(one: DateStatistics, other: DateStatistics): DateStatistics {
  const keys = [...new Set([...Object.keys(one.counts_by_orders), ...Object.keys(other.counts_by_orders)])]
  const byKey = <Value>(value: (key: string) => Value) => Object.fromEntries(keys.map((key) => [key, value(key)]))
  const findLatestDay = (order: DateOrder) => pickLater(one.latest_days[order], other.latest_days[order])
  return {
    fixed_dates: one.fixed_dates + other.fixed_dates,
    serial_dates: one.serial_dates + other.serial_dates,
    counts_by_orders: byKey((key) => (one.counts_by_orders[key] ?? 0) + (other.counts_by_orders[key] ?? 0)),
    examples: byKey((key) => keepFirst(one.examples[key] ?? [], other.examples[key] ?? [], maxExamples)),
    dotted_dates: one.dotted_dates + other.dotted_dates,
    latest_days: { dmy: findLatestDay('dmy'), mdy: findLatestDay('mdy'), ymd: findLatestDay('ymd') },
    with_time: one.with_time + other.with_time,
    with_offset: one.with_offset + other.with_offset,
  }
}

const parseOrders = (key: string): DateOrder[] => dateOrders.filter((order) => key.split(' ').includes(order))

function buildChoices(
  orders: readonly DateOrder[],
  { examples }: DateStatistics,
  latestDay: number | null,
): ReadingChoice<DateFormat>[] {
  const texts = Object.values(examples).flatMap((ofKey) => ofKey.slice(0, 2))
  return orders.map((order) => ({
    format: { order },
    examples: texts.map((text) => {
      const date = parseDate(text, { order, ...(latestDay === null ? {} : { latest_day: latestDay }) })
      return { text, value: date === null || date === 'undecided' ? null : toIso(date.wall).slice(0, 10) }
    }),
  }))
}

/**
 * Decides the order by the dates of the whole column and never guesses. No date is later than `latest`, because orders
 * are older than their export. All countries that write dots put the day first.
 */
export function decideDates(statistics: DateStatistics, latestDay: number | null = null): FormatDecision<DateFormat> {
  const allowedOrders = Object.keys(statistics.counts_by_orders)
  if (allowedOrders.length === 0) return { status: 'decided', format: { order: 'each' } }
  const possibleOrders = dateOrders.filter((order) => allowedOrders.some((key) => parseOrders(key).includes(order)))
  const ambiguous = (reason: 'conflicting' | 'undetermined', orders: readonly DateOrder[]) =>
    ({ status: 'ambiguous', reason, choices: buildChoices(orders, statistics, latestDay) }) as const
  // A spreadsheet converts dates that it understands to numbers, maybe wrongly, so the column is ambiguous.
  if (statistics.serial_dates > 0) return ambiguous('conflicting', possibleOrders)
  const viableOrders = dateOrders.filter((order) => allowedOrders.every((key) => parseOrders(key).includes(order)))
  if (viableOrders.length === 0) return ambiguous('conflicting', possibleOrders)
  const pastOrders = viableOrders.filter(
    (order) => latestDay === null || (statistics.latest_days[order] ?? 0) <= latestDay,
  )
  const candidates = pastOrders.length > 0 ? pastOrders : viableOrders
  const dependentCount = Object.values(statistics.counts_by_orders).reduce((sum, count) => sum + count, 0)
  if (statistics.dotted_dates === dependentCount && candidates.includes('dmy'))
    return { status: 'decided', format: { order: 'dmy' } }
  const [only, ...others] = candidates
  return only && others.length === 0
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
export function parseDate(text: string, { order, latest_day }: DateFormat): ParsedDate | 'undecided' | null {
  const shape = readDate(text)
  if (!shape) return null
  if (order === 'each' && !shape.is_fixed) return 'undecided'
  const writtenDay = shape.days[order === 'each' ? 'ymd' : order]
  if (writtenDay === null) return null
  const isTooLate = shape.has_short_year && latest_day !== undefined && writtenDay > latest_day
  const day = isTooLate ? subtractCentury(writtenDay) : writtenDay
  const { time, offset, zone = null } = shape
  return { wall: day + (time ?? 0), has_time: time !== null, offset, zone }
}
