import { dayMs } from '../../../time/instants.ts'
import { readDate, readTime } from '../columns/date-shape.ts'
import { type ColumnStatistics, getShare } from '../columns/statistics.ts'
import { buildHeaderKey } from '../targets/aliases.ts'
import type { Candidate, ImportColumn } from './candidates.ts'
import { areDifferent, arePeople } from './fits.ts'

const rankOrder = ['certain', 'specific', 'plain', 'indirect', 'vague'] as const

const compareRanks = (one: Candidate, other: Candidate): number =>
  rankOrder.indexOf(one.rank) - rankOrder.indexOf(other.rank)

/** Picks the candidate of the best rank. Returns null when two share it. */
function pickBest(candidates: readonly Candidate[]): Candidate | null {
  const [first, second] = candidates.toSorted(compareRanks)
  return first && (!second || compareRanks(first, second) !== 0) ? first : null
}

type ChosenCandidates = Map<string, Candidate>

const personFields = ['email', 'first_name', 'last_name', 'full_name'] as const

/**
 * `Email` beside `Buyer email` is the ticket holder's if another field has the same pair and no column names holders.
 */
function addHoldersBesideBuyers(candidates: readonly Candidate[], chosen: ChosenCandidates): void {
  if (personFields.some((name) => chosen.has(`item.user.${name}`))) return
  const targets = personFields.flatMap((name) => {
    const target = `customer.${name}`
    const plainCandidates = candidates.filter((one) => one.target === target && ['plain', 'vague'].includes(one.rank))
    const [only, ...more] = plainCandidates
    return chosen.get(target)?.rank === 'specific' && only && more.length === 0 ? [{ name, only }] : []
  })
  if (targets.length < 2) return
  for (const { name, only } of targets) {
    const target = `item.user.${name}`
    chosen.set(target, { ...only, target, confidence: 0.78 })
  }
}

/** The order number is the id if the file has no other. */
function addNumberBesideId(
  candidates: readonly Candidate[],
  chosen: ChosenCandidates,
  columns: readonly ImportColumn[],
): void {
  const numbers = candidates.filter((one) => one.target === 'order.external_id' && one.rank === 'plain')
  const [number, ...more] = numbers
  const id = chosen.get('order.external_id')
  if (!number || more.length > 0 || !id || id.column === number.column || chosen.has('order.order_number')) return
  if ((columns[number.column]?.statistics?.longest ?? 0) > 16) return
  chosen.set('order.order_number', { ...number, target: 'order.order_number', confidence: 0.85 })
}

/** Headers for a first name in languages where the bare word for a name beside it is the last name. */
const firstNamesBesideName: ReadonlySet<string> = new Set(['vorname', 'voornaam'])

/** `Name` beside `Vorname` is the last name; beside other first names it is ambiguous. */
function resolveBareNames(chosen: ChosenCandidates, columns: readonly ImportColumn[]): void {
  for (const person of ['customer', 'item.user']) {
    const [first, last, full] = ['first_name', 'last_name', 'full_name'].map((name) => chosen.get(`${person}.${name}`))
    if (!full || full.rank === 'certain' || (!first && !last)) continue
    chosen.delete(`${person}.full_name`)
    const isLastName = first && !last && firstNamesBesideName.has(buildHeaderKey(columns[first.column]?.header ?? ''))
    if (isLastName) chosen.set(`${person}.last_name`, { ...full, target: `${person}.last_name`, confidence: 0.8 })
  }
}

/** Whether a date is in the future by every reading. */
function isInFuture({ samples }: ColumnStatistics, now: number): boolean {
  return samples.some((sample) => {
    const days = Object.values(readDate(sample)?.days ?? {}).filter((day) => day !== null)
    return days.length > 0 && days.every((day) => day > now + dayMs)
  })
}

/** A bare name beside a price may be the name of a missing product. */
function dropDoubtfulName(chosen: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const name = chosen.get('customer.full_name')
  const statistics = name && columns[name.column]?.statistics
  if (name?.rank !== 'vague' || !statistics || chosen.has('item.product')) return
  const isPriced = chosen.has('item.unit_price') || chosen.has('item.line_total')
  if (isPriced && !(arePeople(statistics) && areDifferent(statistics))) chosen.delete('customer.full_name')
}

function doOrdersSpanRows(chosen: ChosenCandidates, columns: readonly ImportColumn[]): boolean {
  const id = chosen.get('order.external_id')
  const values = (id && columns[id.column]?.statistics?.values) ?? {}
  return Object.values(values).some((count) => count > 1)
}

/** A bare status beside tickets or their holders is the status of the ticket. */
function resolveBareStatus(chosen: ChosenCandidates): void {
  const status = chosen.get('order.status')
  const areTickets = chosen.has('item.vendor_code') || personFields.some((name) => chosen.has(`item.user.${name}`))
  if (status?.rank !== 'plain' || !areTickets || chosen.has('item.status')) return
  chosen.delete('order.status')
  chosen.set('item.status', { ...status, target: 'item.status', confidence: 0.85 })
}

interface ChoiceInput {
  columns: readonly ImportColumn[]
  now?: number
}

/**
 * A bare total counts beside prices, unless it can be the total of a row. The date of an event is not that of an order.
 */
function dropUnsupported(chosen: ChosenCandidates, { columns, now }: ChoiceInput): void {
  const total = chosen.get('order.amount')
  const isPriced = chosen.has('item.unit_price') || chosen.has('item.line_total')
  if (total?.rank === 'vague' && (!isPriced || doOrdersSpanRows(chosen, columns))) chosen.delete('order.amount')
  const date = chosen.get('order.created')
  const statistics = date && columns[date.column]?.statistics
  const isLater = statistics && now !== undefined && isInFuture(statistics, now)
  if (date?.rank === 'vague' && isLater) chosen.delete('order.created')
  dropDoubtfulName(chosen, columns)
}

/** Numbers such as `10.22` are times if the header says so. */
function getShareOfTimes(statistics: ColumnStatistics): number {
  const entries = Object.entries(statistics.values)
  const all = entries.reduce((sum, [, count]) => sum + count, 0)
  const times = entries.reduce((sum, [text, count]) => sum + (readTime(text) === null ? 0 : count), 0)
  return Math.max(getShare(statistics, 'time'), all === 0 ? 0 : times / all)
}

export function findTimeColumn(
  candidates: readonly Candidate[],
  date: Candidate | undefined,
  columns: readonly ImportColumn[],
): number | null {
  const dates = date && columns[date.column]?.statistics
  const time = pickBest(candidates.filter((one) => one.target === 'order.created' && one.part === 'time'))
  const times = time && columns[time.column]?.statistics
  if (!time || !dates || !times || getShareOfTimes(times) < 0.8) return null
  return dates.dates.with_time * 2 > dates.filled ? null : time.column
}

/** Chooses a column for each target. A target for which two columns are equally good gets none. */
export function choose(candidates: readonly Candidate[], input: ChoiceInput): ChosenCandidates {
  const { columns } = input
  const candidatesWithoutTimes = candidates.filter(({ part }) => part === null)
  const chosen: ChosenCandidates = new Map()
  for (const [target, ofTarget] of Map.groupBy(candidatesWithoutTimes, (one) => one.target)) {
    const best = pickBest(ofTarget)
    if (best) chosen.set(target, best)
  }
  addHoldersBesideBuyers(candidatesWithoutTimes, chosen)
  addNumberBesideId(candidatesWithoutTimes, chosen, columns)
  resolveBareNames(chosen, columns)
  resolveBareStatus(chosen)
  dropUnsupported(chosen, input)
  return chosen
}
