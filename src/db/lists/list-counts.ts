import { type SQL, sql } from 'drizzle-orm'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { dayMs } from '../../domain/time/instants.ts'
import type { Database } from '../database.ts'
import type { Counting, CountRow } from './page-by-number.ts'

/** The slots of `list_counts`, so many that lists that are read at the same time rarely share one. */
const slots = 16_384
/** A list of fewer rows is counted each time: that costs less than a row written. */
const fewRows = 1000
const slotsASweep = 16
const keptMs = dayMs

interface CountedList {
  /** What the list is asked for; lists with the same are of the same length. */
  asked: unknown
  /** Expressions: how often the rows changed that the list is made of, and how many they are. */
  version: SQL
  rows: SQL
  /** An expression that counts the list. */
  count: SQL
  now: () => number
  /** Takes the work that stores a count. */
  afterCommit: (work: () => Promise<unknown>) => void
}

/** Counts a list once for each state of its rows: a count that was stored with their version is exact. */
export async function countOncePerState(db: Database, list: CountedList): Promise<Counting> {
  const key = toHex(await sha256(JSON.stringify(list.asked)))
  const slot = Number.parseInt(key.slice(0, 8), 16) % slots
  const statement = sql<CountRow>`
    with state (version, rows) as materialized (select ${list.version}, ${list.rows}),
      known (total) as materialized (select total from list_counts
        where slot = ${slot} and key = ${key} and version = (select version from state))
    select coalesce((select total from known), ${list.count}) as n, version, rows,
      exists (select 1 from known) as is_known from state`
  const store = (version: number, total: number) =>
    db.all(sql`insert or replace into list_counts (slot, key, version, total, counted_at)
      values (${slot}, ${key}, ${version}, ${total}, ${list.now()})`)
  return {
    statement,
    counted: ({ n, version = 0, rows = 0, is_known }) => {
      if (!is_known && rows >= fewRows) list.afterCommit(() => store(version, n))
    },
  }
}

/** Deletes stored counts that are a day old, in some of the slots: the sweeps of 17 hours look at all of them. */
export const deleteOldCounts = (db: Database, now: number): Promise<unknown> => {
  const first = (Math.floor(now / 60_000) * slotsASweep) % slots
  return db.all(sql`delete from list_counts
    where slot >= ${first} and slot < ${first + slotsASweep} and counted_at < ${now - keptMs}`)
}
