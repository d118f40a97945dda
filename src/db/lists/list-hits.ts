import { type SQL, sql } from 'drizzle-orm'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { dayMs } from '../../domain/time/instants.ts'
import type { Database } from '../database.ts'
import type { KeyValues } from './order-keys.ts'

/** The slots of `list_counts`: few, because a row may have 1.5 MB. A later search takes the slot of an earlier one. */
const slots = 64
/** A list of fewer rows is searched each time: that costs less than a row written. */
const fewRows = 1000
const keptMs = dayMs

/** How hits have the keys of a list, each behind a comma. */
interface HitKeys {
  length: number
  written: (key: SQL) => SQL
  /** The key of a text of this length. */
  read: SQL
}

export const numberKeys: HitKeys = {
  length: 9,
  written: (key) => sql`printf('%09d', ${key})`,
  read: sql`cast(value as integer)`,
}
export const idKeys: HitKeys = { length: 30, written: (key) => key, read: sql`value` }

const widthOf = ({ length }: HitKeys): number => length + 1
/** More are not kept: a list of which so many rows match is walked in its order. */
export const mostHitsOf = (keys: HitKeys): number => Math.floor(1_500_000 / widthOf(keys))
/** Of a list whose keys are numbers. */
export const mostHits = mostHitsOf(numberKeys)

/** What a search is made in. */
export interface ListState {
  /** What the list is asked for, with its order. */
  asked: unknown
  keys: HitKeys
  /** Expressions: how often the rows changed that the list is made of, and how many they are. */
  version: SQL
  rows: SQL
  /** Whether each change of the order is one of the version. Otherwise the count is kept alone. */
  keepsOrder: boolean
  now: () => number
  /** Takes the work that stores what was found. */
  afterCommit: (work: () => Promise<unknown>) => void
}

/** What was found in one state: `hits` has the keys in their order, and is null where they are too many. */
export interface Found {
  version: number
  rows: number
  total: number
  hits: string | null
}

export interface HitList {
  slot: number
  key: string
  state: ListState
}

export async function hitListOf(state: ListState): Promise<HitList> {
  const key = toHex(await sha256(JSON.stringify(state.asked)))
  return { slot: Number.parseInt(key.slice(0, 8), 16) % slots, key, state }
}

/** The keys of all rows of an ordered query, as `hits` has them; null of no row. */
export const hitsOf = ({ written }: HitKeys, key: SQL): SQL => sql`group_concat(',' || ${written(key)}, '')`

/** Stores what was found, unless the list is short. */
export function keepHits(db: Database, { slot, key, state }: HitList, { version, rows, total, hits }: Found): void {
  if (rows < fewRows) return
  state.afterCommit(() =>
    db.all(sql`insert or replace into list_counts (slot, key, version, total, hits, counted_at)
      values (${slot}, ${key}, ${version}, ${total}, ${hits}, ${state.now()})`),
  )
}

interface Place {
  skipped: number
  limit: number
  /** The keys of the row before the page, of which the last is that of `hits`, and whether it still has the others. */
  after: { keys: KeyValues; isSame: SQL } | null
}

/**
 * The queries `known`, of what is stored or was just found in the present state, and `slice`, of the keys of a page. It is
 * null where the row before the page is not among them, or has other keys by now.
 */
export function sliceOfHits({ slot, key, state }: HitList, { skipped, limit, after }: Place, found?: Found): SQL {
  const source = found
    ? sql`select ${found.version} as version, ${found.total} as total, ${found.hits} as hits`
    : sql`select version, total, hits from list_counts where slot = ${slot} and key = ${key}`
  const width = widthOf(state.keys)
  const before = sql`instr(hits, ',' || ${state.keys.written(sql`${after?.keys.at(-1) ?? 0}`)})`
  const first = after
    ? sql`iif(${before} > 0 and ${after.isSame}, ${before} + ${width + 1}, null)`
    : sql`${skipped * width + 2}`
  return sql`known (total, hits) as materialized
      (select total, hits from (${source}) where version = ${state.version}),
    slice (keys) as materialized (select substr(hits, ${first}, ${limit * width - 1}) from known)`
}

/** The keys of `slice`, in rows with the column `key`. */
export const keysOfSlice = ({ read }: HitKeys): SQL => sql`select ${read} as key
  from json_each('["' || replace((select keys from slice), ',', '","') || '"]')`

/** Deletes what was found a day ago, in one of the slots: an hour of sweeps looks at all of them. */
export const deleteOldHits = (db: Database, now: number): Promise<unknown> =>
  db.all(sql`delete from list_counts where slot = ${Math.floor(now / 60_000) % slots} and counted_at < ${now - keptMs}`)
