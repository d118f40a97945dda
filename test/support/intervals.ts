import { intervalSizes } from '../../src/db/lists/intervals/settle-intervals.ts'
import { byCodePoint } from './lists.ts'

/** Short intervals, so that few rows have many. */
export const shortSizes = {
  ...intervalSizes,
  fewestRows: 0,
  fewestDue: 0,
  rowsAStep: 700,
  stepsASweep: 10_000,
  rows: 50,
}

export type Key = readonly [value: string | number, created_at: number, seq: number]

export interface StoredInterval extends Record<string, string | number> {
  scope: string
  ordering: string
  value: string | number
  created_at: number
  seq: number
}

/** Numbers stand before texts. */
const compareValues = (left: string | number, right: string | number): number =>
  typeof left === typeof right ? byCodePoint(left, right) : typeof left === 'number' ? -1 : 1

const compareKeys = (left: Key, right: Key): number =>
  compareValues(left[0], right[0]) || left[1] - right[1] || left[2] - right[2]

/** The last of some intervals, which are in their order, that does not begin behind a key. */
function lastUpTo(intervals: readonly StoredInterval[], key: Key): StoredInterval | undefined {
  let [low, high] = [0, intervals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const { value = '', created_at = 0, seq = 0 } = intervals[middle] ?? {}
    if (compareKeys([value, created_at, seq], key) <= 0) low = middle + 1
    else high = middle
  }
  return intervals[low - 1]
}

interface CountedRow {
  scope: string
  /** By the ordering. */
  keys: Readonly<Record<string, Key>>
  /** The column that counts it. */
  kind: string
}

/** Intervals, which are in their order, with the counts that these rows give them. */
export function countedAnew(
  stored: readonly StoredInterval[],
  kinds: readonly string[],
  rows: readonly CountedRow[],
): StoredInterval[] {
  const none = Object.fromEntries(kinds.map((kind) => [kind, 0]))
  const counted = stored.map((row): StoredInterval => ({ ...row, ...none }))
  const groups = Map.groupBy(counted, ({ scope, ordering }) => `${scope} ${ordering}`)
  for (const { scope, keys, kind } of rows)
    for (const [ordering, key] of Object.entries(keys)) {
      const interval = lastUpTo(groups.get(`${scope} ${ordering}`) ?? [], key)
      if (interval) interval[kind] = Number(interval[kind]) + 1
    }
  return counted
}
