import { env } from 'cloudflare:workers'
import { Database } from '../../src/db/database.ts'
import type { IntervalList } from '../../src/db/lists/intervals/interval-list.ts'
import { intervalSizes } from '../../src/db/lists/intervals/settle-intervals.ts'
import { newMeter } from '../../src/domain/meter.ts'
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

export type Key = readonly (string | number)[]

/** A settled row of a list that has intervals. */
interface SettledRow {
  /** Those that count it. */
  scopes: readonly string[]
  /** Its key in each ordering that has it. */
  keys: Readonly<Record<string, Key>>
  /** The column that counts it. */
  count: string
}

export type StoredInterval = Record<string, string | number>

/** Numbers stand before texts. */
const compareValues = (left: string | number, right: string | number): number =>
  typeof left === typeof right ? byCodePoint(left, right) : typeof left === 'number' ? -1 : 1

function compareKeys(left: Key, right: Key): number {
  for (const [index, value] of left.entries()) {
    const difference = compareValues(value, right[index] ?? '')
    if (difference) return difference
  }
  return 0
}

/** The last of some intervals, which are in their order, that does not begin behind a key. */
function lastUpTo(
  intervals: readonly StoredInterval[],
  names: readonly string[],
  key: Key,
): StoredInterval | undefined {
  let [low, high] = [0, intervals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const begin = names.map((name) => intervals[middle]?.[name] ?? '')
    if (compareKeys(begin, key) <= 0) low = middle + 1
    else high = middle
  }
  return intervals[low - 1]
}

/** Intervals, which are in their order, with the counts that these rows give them. */
export function countedAnew(
  { keys, counts }: Pick<IntervalList, 'keys' | 'counts'>,
  stored: readonly StoredInterval[],
  rows: readonly SettledRow[],
): StoredInterval[] {
  const names = ['value', ...keys.map((key) => key.name)]
  const none = Object.fromEntries(counts.map((count) => [count.name, 0]))
  const real = stored.map((row): StoredInterval => ({ ...row, ...none }))
  const groups = Map.groupBy(real, ({ scope, ordering }) => `${scope} ${ordering}`)
  for (const row of rows)
    for (const scope of row.scopes)
      for (const [ordering, key] of Object.entries(row.keys)) {
        const interval = lastUpTo(groups.get(`${scope} ${ordering}`) ?? [], names, key)
        if (interval) interval[row.count] = Number(interval[row.count] ?? 0) + 1
      }
  return real
}

/** The database of a sweep that ends at the transaction behind so many others. */
export function databaseEndingAfter(transactions: number): Database {
  const database = new Database(env.DB, newMeter())
  let left = transactions
  const commit = database.batch.bind(database)
  database.batch = async (statements) => {
    if (left-- === 0) throw new Error('The sweep ended.')
    return commit(statements)
  }
  return database
}

/** A database where something else comes between some transactions and the next. */
export function databaseThatWaits(transactions: number, meanwhile: () => Promise<unknown>): Database {
  const database = new Database(env.DB, newMeter())
  let left = transactions
  const commit = database.batch.bind(database)
  database.batch = async (statements) => {
    if (left-- === 0) await meanwhile()
    return commit(statements)
  }
  return database
}

/** The database of a sweep, and the rows that each of its transactions has read. */
export function databaseThatNotes() {
  const database = new Database(env.DB, newMeter())
  const read: number[] = []
  const [all, batch] = [database.all.bind(database), database.batch.bind(database)]
  const noted = async <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    const before = database.meter.rows_read
    const answer = await run()
    read.push(database.meter.rows_read - before)
    return answer
  }
  database.all = (statement) => noted(() => all(statement))
  database.batch = (statements) => noted(() => batch(statements))
  return { database, read }
}
