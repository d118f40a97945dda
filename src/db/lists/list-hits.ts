import { type SQL, sql } from 'drizzle-orm'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { dayMs } from '../../domain/time/instants.ts'
import type { Database } from '../database.ts'
import type { KeyValues } from './order-keys.ts'

/** Searches are kept in so many slots, because one may have megabytes. A later search takes the slot of an earlier one. */
const slots = 64
/** A list of fewer rows is searched each time, where nothing else is said: that costs less than a row written. */
const fewRows = 1000
const keptMs = dayMs

/** A part is a row of `list_counts`, which has less than the 2 MB that D1 allows. */
const charactersOfPart = 1_500_000

/** How hits have the keys of a list, each behind a comma. */
export interface HitKeys {
  /** Of each key as it is written. */
  length: number
  written: (key: SQL) => SQL
  writtenOf: (key: string | number) => string
  /** The key of a text of this length. */
  read: SQL
  /** So many are a part, and there are so many parts at most. */
  aPart: number
  parts: number
}

export const numberKeys: HitKeys = {
  length: 9,
  written: (key) => sql`printf('%09d', ${key})`,
  writtenOf: (key) => String(key).padStart(9, '0'),
  read: sql`cast(value as integer)`,
  aPart: charactersOfPart / 10,
  // More than a million keys, in 10.5 MB.
  parts: 7,
}
export const idKeys: HitKeys = {
  length: 30,
  written: (key) => key,
  writtenOf: String,
  read: sql`value`,
  aPart: Math.floor(charactersOfPart / 31),
  parts: 6,
}

/** A number as SQL has it: D1 binds numbers that SQLite divides as fractions. */
const whole = (value: number): SQL => sql.raw(String(value))

/** No list has more parts. */
export const mostParts = Math.max(numberKeys.parts, idKeys.parts)

const widthOf = ({ length }: HitKeys): number => length + 1
/** More are not kept: a list of which so many rows match is walked in its order. */
export const mostHitsOf = ({ aPart, parts }: HitKeys): number => aPart * parts

/** What a search is made in. */
export interface ListState {
  /** What the list is asked for, with its order. */
  asked: unknown
  keys: HitKeys
  /** Expressions: how often the rows changed that the list is made of, and how many they are. */
  version: SQL
  rows: SQL
  /** What is found among fewer rows is not kept. */
  fewest?: number
  /** Whether each change of the order is one of the version. Otherwise the count is kept alone. */
  keepsOrder: boolean
  now: () => number
  /** Takes the work that stores what was found. */
  afterCommit: (work: () => Promise<unknown>) => void
}

/** What was found in one state: the keys in their order, by parts. There are none where they are too many. */
export interface Found {
  version: number
  rows: number
  total: number
  parts: readonly string[]
}

export interface HitList {
  slot: number
  key: string
  state: ListState
}

export async function hitListOf(state: ListState): Promise<HitList> {
  const key = toHex(await sha256(JSON.stringify([state.keys.aPart, state.asked])))
  return { slot: Number.parseInt(key.slice(0, 8), 16) % slots, key, state }
}

const slotOfPart = (slot: number, part: number): number => slot + slots * part
/** The slots of all parts. */
const slotsOf = (slot: number, { parts }: HitKeys): number[] =>
  Array.from({ length: parts }, (_, part) => slotOfPart(slot, part))

interface HitsRow {
  version: number
  total: number
  [part: `part${number}`]: string | null
}

/** Reads what `matching` finds, a query of `key` in the order of the list, in so many parts; without any its number alone. */
async function readParts(
  db: Database,
  { keys, version }: ListState,
  matching: SQL,
  parts: number,
): Promise<Omit<Found, 'rows'>> {
  const { aPart } = keys
  const all = Array.from({ length: parts }, (_, part) => part)
  const columns = all.map((part) => {
    const ofPart = sql`filter (where number > ${whole(part * aPart)} and number <= ${whole((part + 1) * aPart)})`
    return sql`, group_concat(',' || ${keys.written(sql`key`)}, '') ${parts > 1 ? ofPart : sql``} as ${sql.raw(`part${part}`)}`
  })
  // D1 counts each row that a window numbers once more.
  const numbered = parts > 1 ? sql`select key, row_number() over () as number from (${matching})` : matching
  const row = await db.first(sql<HitsRow>`select ${version} as version, count(*) as total ${sql.join(columns)}
    from (${numbered})`)
  const { version: read = 0, total = 0 } = row ?? {}
  const found = total > aPart * parts ? [] : all
  return { version: read, total, parts: found.flatMap((part) => row?.[`part${part}`] ?? []) }
}

/** What `matching` finds, a query of `key` in the order of the list; without its order the count alone. */
export async function readHits(db: Database, state: ListState, matching: SQL): Promise<Found> {
  const { keys, keepsOrder } = state
  const rows = (await db.first(sql<{ rows: number }>`select ${state.rows} as rows`))?.rows ?? 0
  if (!keepsOrder) return { rows, ...(await readParts(db, state, matching, 0)) }
  if (rows <= keys.aPart) {
    const found = await readParts(db, state, sql`select key from (${matching}) limit ${keys.aPart + 1}`, 1)
    // More may have come meanwhile.
    if (found.total <= keys.aPart) return { rows, ...found }
  }
  return { rows, ...(await readParts(db, state, matching, keys.parts)) }
}

/** Stores what was found, unless the list is short. The first part comes last: who finds it finds the others. */
export function keepHits(db: Database, { slot, key, state }: HitList, { version, rows, total, parts }: Found): void {
  if (rows < (state.fewest ?? fewRows)) return
  const kept = parts.length > 0 ? parts : [null]
  state.afterCommit(async () => {
    for (const [part, hits] of [...kept.entries()].toReversed())
      await db.all(sql`insert or replace into list_counts (slot, key, version, total, hits, counted_at)
        values (${slotOfPart(slot, part)}, ${key}, ${version}, ${total}, ${hits}, ${state.now()})`)
  })
}

interface Place {
  skipped: number
  limit: number
  /** The keys of the row before the page, of which the last is that of `hits`, and whether it still has the others. */
  after: { keys: KeyValues; isSame: SQL } | null
}

/** The keys of a page among those that were just found; null where the row before the page is not among them. */
function sliceOfFound({ keys }: ListState, { skipped, limit, after }: Place, { parts }: Found): string | null {
  const width = widthOf(keys)
  const before = `,${keys.writtenOf(after?.keys.at(-1) ?? 0)}`
  const places = after
    ? parts.map((part, index) => ({ at: part.indexOf(before), index })).filter(({ at }) => at >= 0)
    : []
  const [place] = places
  if (parts.length === 0 || (after && !place)) return null
  const first = place ? place.index * keys.aPart + place.at / width + 1 : skipped
  return parts
    .map((part, index) => {
      const from = first - index * keys.aPart
      return part.slice(Math.max(0, from) * width, Math.max(0, from + limit) * width)
    })
    .join('')
}

/**
 * The queries `known`, of what is stored or was just found in the present state, and `slice`, of the keys of a page. It is
 * null where the row before the page is not among them, or has other keys by now.
 */
export function sliceOfHits(list: HitList, place: Place, found?: Found): SQL {
  return found ? ofFound(list, place, found) : ofStored(list, place)
}

function ofFound({ state }: HitList, place: Place, found: Found): SQL {
  return sql`known (total) as materialized (select ${found.total} where ${found.version} = ${state.version}),
    slice (keys) as materialized (
      select iif(${place.after?.isSame ?? sql`1`}, ${sliceOfFound(state, place, found)}, null) from known)`
}

function ofStored({ slot, key, state }: HitList, { skipped, limit, after }: Place): SQL {
  const { keys } = state
  const [width, aPart, inAll] = [whole(widthOf(keys)), whole(keys.aPart), whole(slots)]
  const ofState = sql`list_counts.key = ${key} and list_counts.version = known.version`
  const before = sql`',' || ${keys.written(sql`${after?.keys.at(-1) ?? 0}`)}`
  const first = after
    ? sql`select slot / ${inAll} * ${aPart} + instr(hits, ${before}) / ${width} + 1
        from known cross join json_each(${JSON.stringify(slotsOf(slot, keys))}) as kept cross join list_counts on slot = kept.value and ${ofState}
        where instr(hits, ${before}) > 0 and ${after.isSame} limit 1`
    : sql`select ${whole(skipped)}`
  const from = sql`(first - slot / ${inAll} * ${aPart})`
  const behind = whole(limit)
  // Another search may have taken the place of a part alone.
  const parts = sql`(min(first + ${behind}, known.total) - 1) / ${aPart} - first / ${aPart} + 1`
  return sql`known (total, version) as materialized
      (select total, version from list_counts where slot = ${slot} and key = ${key} and version = ${state.version}),
    place (first) as materialized (${first}),
    slice (keys) as materialized (select iif(count(*) = max(parts), group_concat(keys, ''), null) from (
      select ${parts} as parts, substr(hits, 1 + max(0, ${from}) * ${width}, (min(0, ${from}) + ${behind}) * ${width}) as keys
        from known cross join place
        cross join json_each(json_array(first / ${aPart}, (first + ${behind} - 1) / ${aPart})) as kept
        cross join list_counts on slot = ${whole(slot)} + ${inAll} * kept.value and ${ofState}
        where kept.key = 0 or kept.value > first / ${aPart} order by slot))`
}

/** The keys of `slice`, in rows with the column `key`. */
export const keysOfSlice = ({ read }: HitKeys): SQL => sql`select ${read} as key
  from json_each('["' || replace(substr((select keys from slice), 2), ',', '","') || '"]')`

/** Deletes what was found a day ago, in one of the rows: in seven and a half hours sweeps look at all of them. */
export function deleteOldHits(db: Database, now: number): Promise<unknown> {
  const slot = Math.floor(now / 60_000) % (slots * mostParts)
  return db.all(sql`delete from list_counts where slot = ${slot} and counted_at < ${now - keptMs}`)
}
