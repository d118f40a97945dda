import { stampNames, type Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { RecipientFilters, RecipientRow } from '../../domain/campaigns/sender.ts'
import type { Engagement, Reason, RecipientState } from '../../domain/campaigns/sending-policy.ts'

/** What an entry is made of. */
export const entryColumns = ['n', 'state', 'reason', 'sent_at', ...stampNames] as const satisfies (keyof RecipientRow)[]
export type EntryRow = Pick<RecipientRow, (typeof entryColumns)[number]>

/**
 * What lists compare of recipients: three numbers of each, which are the recipient's, its flags, and the time of sending. The
 * numbers are eight bytes each, so that entries are stored as they are.
 */
export type ListEntries = Float64Array

const entrySize = 3

// Flags are stored: a number never gets another meaning.
const stateFlags: Record<RecipientState, number> = { pending: 0, sent: 1, failed: 2, skipped: 3 }
const reasonFlags: Record<Reason, number> = {
  no_address: 1 << 2,
  no_consent: 2 << 2,
  unsubscribed: 3 << 2,
  bounced: 4 << 2,
  inactive: 5 << 2,
  duplicate_address: 6 << 2,
  rejected: 7 << 2,
  unreachable: 8 << 2,
  rate_limited: 9 << 2,
  unknown: 10 << 2,
}
const stampFlags: Record<keyof Stamps, number> = {
  delivered_at: 1 << 8,
  opened_at: 1 << 9,
  machine_opened_at: 1 << 10,
  clicked_at: 1 << 11,
  bounced_at: 1 << 12,
  complained_at: 1 << 13,
  unsubscribed_at: 1 << 14,
}

/** Which flags are compared, and what they have to be. */
interface Condition {
  mask: number
  flags: number
}

const ofState = (state: RecipientState): Condition => ({ mask: 3, flags: stateFlags[state] })
const ofReason = (reason: Reason): Condition => ({ mask: 63 << 2, flags: reasonFlags[reason] })
const withStamp = (name: keyof Stamps): Condition => ({ mask: stampFlags[name], flags: stampFlags[name] })
/** Only recipients of sent messages have stamps. */
const reachedWithout = (name: keyof Stamps): Condition => ({
  mask: 3 | stampFlags.bounced_at | stampFlags[name],
  flags: stateFlags.sent,
})

const engaged: Record<Engagement, Condition> = {
  delivered: withStamp('delivered_at'),
  opened: withStamp('opened_at'),
  not_opened: reachedWithout('opened_at'),
  clicked: withStamp('clicked_at'),
  not_clicked: reachedWithout('clicked_at'),
  bounced: withStamp('bounced_at'),
  complained: withStamp('complained_at'),
  unsubscribed: withStamp('unsubscribed_at'),
}

/** All conditions of a list as one. Null where no recipient fulfils them together. */
export function conditionOf({ state, reason, engagement, ...unnamed }: RecipientFilters): Condition | null {
  unnamed satisfies NoFilters
  const all = { mask: 0, flags: 0 }
  for (const one of [state && ofState(state), reason && ofReason(reason), engagement && engaged[engagement]]) {
    if (!one) continue
    if ((all.flags ^ one.flags) & all.mask & one.mask) return null
    all.mask |= one.mask
    all.flags |= one.flags
  }
  return all
}

function flagsOf(row: EntryRow): number {
  let flags = stateFlags[row.state] | (row.reason === null ? 0 : reasonFlags[row.reason])
  for (const name of stampNames) if (row[name] !== null) flags |= stampFlags[name]
  return flags
}

export function entriesOf(rows: Iterable<EntryRow>): ListEntries {
  const numbers: number[] = []
  for (const row of rows) numbers.push(row.n, flagsOf(row), row.sent_at ?? NaN)
  return Float64Array.from(numbers)
}

export const countOf = (entries: ListEntries): number => entries.length / entrySize

export const numberAt = (entries: ListEntries, place: number): number => entries[place * entrySize] ?? NaN

/** Of all recipients, by place; `unsent` where nothing was sent. */
export function timesOf(entries: ListEntries, unsent: number): Float64Array {
  const times = new Float64Array(countOf(entries))
  for (let place = 0; place < times.length; place++) {
    const at = entries[place * entrySize + 2] ?? NaN
    times[place] = Number.isNaN(at) ? unsent : at
  }
  return times
}

export const isMatch = (entries: ListEntries, place: number, { mask, flags }: Condition): boolean =>
  ((entries[place * entrySize + 1] ?? 0) & mask) === flags

/** The first place of which something holds that holds of all places behind it, too. */
export function firstPlace(count: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** The place of a recipient among entries in the order of numbers, or of the next one. */
export const placeOf = (entries: ListEntries, n: number): number =>
  firstPlace(countOf(entries), (place) => numberAt(entries, place) >= n)

export const slice = (entries: ListEntries, first: number, end: number): ListEntries =>
  entries.subarray(first * entrySize, end * entrySize)

export function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Entries in any order, each recipient's last one, in the order of numbers. */
export function latest(entries: ListEntries): ListEntries {
  const places = new Map<number, number>()
  for (let place = 0; place < countOf(entries); place++) places.set(numberAt(entries, place), place)
  const found = new Float64Array(places.size * entrySize)
  let to = 0
  for (const n of Float64Array.from(places.keys()).toSorted()) {
    const from = (places.get(n) ?? 0) * entrySize
    for (let part = 0; part < entrySize; part++, to++) found[to] = entries[from + part] ?? NaN
  }
  return found
}

/** Two in the order of numbers as one. An entry of `changes` replaces that of the same recipient. */
export function merged(entries: ListEntries, changes: ListEntries): ListEntries {
  if (changes.length === 0) return entries
  const all = new Float64Array(entries.length + changes.length)
  let [from, to] = [0, 0]
  for (let at = 0; at < changes.length; at += entrySize) {
    const n = changes[at] ?? NaN
    while (from < entries.length && (entries[from] ?? NaN) < n) {
      for (let end = from + entrySize; from < end; from++, to++) all[to] = entries[from] ?? NaN
    }
    if (entries[from] === n) from += entrySize
    for (let part = 0; part < entrySize; part++, to++) all[to] = changes[at + part] ?? NaN
  }
  all.set(entries.subarray(from), to)
  return all.slice(0, to + entries.length - from)
}
