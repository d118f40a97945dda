import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { storedIn } from '../../select.ts'
import type { KeyValues } from '../order-keys.ts'
import type { Facets } from '../spans/spanned-list.ts'
import { type Entry, unpackEntries } from './entries.ts'
import {
  columnIn,
  compareInOrder,
  formatOf,
  keyIn,
  keyOfEntry,
  kindOf,
  type RunList,
  type RunOrdering,
  scopeIn,
  shareWithin,
  spanOf,
  wantedKinds,
} from './run-list.ts'
import { notedIn, youngIn } from './run-notes.ts'
import { columnsOf } from './write-chunk.ts'

/** Rows of editions in an order that runs have. */
export interface RunRows {
  list: RunList
  /** A query of the ids of the editions. */
  editions: SQL
  facets: Facets
  /** The first moment of creation, and the first one behind the last. */
  from: number
  until: number
  ordering: RunOrdering
  /** The value that all rows have in this order. The list is in the order of what follows it. */
  only?: string | undefined
  isDesc: boolean
}

const noMoment = 2 ** 53

/** The moments of creation of a list, both ends included. */
export const rangeOfTime = (
  after: number | undefined,
  before: number | undefined,
): Pick<RunRows, 'from' | 'until'> => ({
  from: after ?? -noMoment,
  until: before === undefined ? noMoment : before + 1,
})

/** So many rows that may be in no run are read one by one, each two or three times: an organisation with runs has five times as
 * many. */
const mostYoung = 4_000

interface ChunkRow {
  edition: string
  generation: number
  is_delta: number
  number: number
  first_value: number | string
  first_created_at: number
  first_key: number | string
  spans: string
  kinds: string | null
  /** In hexadecimal digits; of a delta alone. */
  entries: string | null
}

/** Of an edition without runs the generation is null, of one without rows in this order the number of the chunk alone. */
type OpenedRow = ChunkRow | { edition: string; generation: number | null; number: null }

export interface RunChunk {
  edition: string
  number: number
  first: KeyValues
  /** That of the next chunk. */
  end: KeyValues | null
  /** Estimates how many of its rows match. None where it has none. */
  matching: number
}

export const inTime = ({ list, from, until }: RunRows): SQL =>
  sql`${columnIn(list, 'created_at')} >= ${from} and ${columnIn(list, 'created_at')} < ${until}`

const scopesOf = ({ list, editions }: RunRows): SQL => list.scopesOf(editions)

/** The editions of a list with their chunks without the rows, and their deltas with them. */
const chunksOf = (rows: RunRows): SQL<OpenedRow> => {
  const { list, ordering } = rows
  return sql<OpenedRow>`select one.id as edition, nullif(state.generation, 0) as generation, is_delta, number, first_value,
      first_created_at, first_${keyIn(list)} as first_key, spans, kinds, iif(is_delta, hex(entries), null) as entries
    from (${scopesOf(rows)}) as one
      left join ${list.states} as state on ${scopeIn(list, 'state')} = one.id
      left join ${list.runs} as run on ${scopeIn(list, 'run')} = one.id and run.ordering = ${ordering.name}
        and run.generation = state.generation`
}

const isChunk = (row: OpenedRow): row is ChunkRow => row.number !== null

/** The next chunk of an edition stands behind each. SQL would read each row once more to sort them. */
const inOrder = (chunks: readonly ChunkRow[]): ChunkRow[] =>
  chunks.toSorted((a, b) => compareInOrder([a.edition, a.number], [b.edition, b.number], false))

/** Runs of editions as they are at a moment, without the chunks of the main ones. */
export interface OpenRuns {
  /** That of each edition. */
  generations: ReadonlyMap<string, number | null>
  chunks: readonly RunChunk[]
  /** Rows that main runs may have in wrong places, by their edition. */
  changed: ReadonlyMap<string, ReadonlySet<number | string>>
  /** Those of them that match. */
  entries: readonly Entry[]
}

/** A row that may be otherwise than runs have it, as it is now. */
export interface CurrentRow {
  edition: string
  key: number | string
  /** Null where it does not match, or is gone. */
  entry: Entry | null
}

/** Says of the moment and the kind of a row whether it matches. */
export const isWantedOf = ({ list, facets, from, until }: RunRows) => {
  const kinds = wantedKinds(list, facets)
  return (created_at: number, kind: number): boolean =>
    created_at >= from && created_at < until && (kinds[kind] ?? false)
}

/** What is known of the rows that are in deltas; `current` are rows that deltas do not have as they are. */
function changedOf(rows: RunRows, chunks: readonly ChunkRow[], current: readonly CurrentRow[]) {
  const isWanted = isWantedOf(rows)
  const changed = new Map<string, Set<number | string>>()
  const ofEdition = (edition: string): Set<number | string> => {
    const found = changed.get(edition) ?? new Set()
    changed.set(edition, found)
    return found
  }
  for (const { edition, key } of current) ofEdition(edition).add(key)
  const entries = current.flatMap(({ entry }) => (entry ? [entry] : []))
  for (const { edition, is_delta, entries: hex } of chunks) {
    if (!is_delta) continue
    const keys = ofEdition(edition)
    const all = unpackEntries(Uint8Array.fromHex(hex ?? ''), formatOf(rows.list, rows.ordering), () => true)
    entries.push(...all.filter(({ created_at, kind, key }) => isWanted(created_at, kind) && !keys.has(key)))
    for (const { key } of all) keys.add(key)
  }
  return { changed, entries }
}

type CurrentColumns = Record<string, string | number | null> & {
  edition: string
  changed: number | string
  key: number | string | null
}

/** The rows that are not in runs as they are, whether they match or not. */
function currentRows({ list, editions, ordering }: RunRows): SQL<CurrentColumns> {
  const id = sql`one.id`
  const [young, noted] = [youngIn(list, { id, until: sql`state.until` }), notedIn(list, { id, late: sql`state.late` })]
  const ones = sql`(${list.scopesOf(editions)}) as one cross join ${list.states} as state on ${scopeIn(list, 'state')} = one.id`
  const limit = sql`limit ${mostYoung + 1}`
  return sql<CurrentColumns>`select changed.edition, changed.key as changed, ${columnsOf(list, ordering.value)}
    from (select * from (select one.id as edition, ${columnIn(list, list.key)} as key
        from ${ones} cross join ${young.from} on ${young.where} ${limit})
      union select * from (select one.id, ${keyIn(list, 'noted')} from ${ones} cross join ${noted.from} on ${noted.where} ${limit}))
      as changed
    left join ${list.table} on ${columnIn(list, list.key)} = changed.key and ${columnIn(list, list.scope)} = changed.edition`
}

function currentOf(rows: RunRows, found: readonly CurrentColumns[]): CurrentRow[] {
  const isWanted = isWantedOf(rows)
  return found.map((row) => {
    const [value, created_at, kind] = [row.value ?? null, Number(row.created_at), kindOf(rows.list, row)]
    const matches = row.key !== null && value !== null && isWanted(created_at, kind)
    return {
      edition: row.edition,
      key: row.changed,
      entry: matches ? { value, created_at, key: row.changed, kind } : null,
    }
  })
}

/** The runs of a list at one moment, with what `count` counts then. Null where an edition has none, or many young rows. */
export async function openRuns(db: Database, rows: RunRows, count: SQL<{ n: number }>) {
  const [ones, found, [counted]] = await db.batch([chunksOf(rows), currentRows(rows), count])
  const chunks = ones.filter(isChunk)
  const isWhole = ones.length > 0 && ones.every(({ generation }) => generation !== null)
  if (!isWhole || found.length > mostYoung) return null
  const main = inOrder(chunks.filter((one) => !one.is_delta))
  const kinds = wantedKinds(rows.list, rows.facets)
  const runs: OpenRuns = {
    generations: new Map(ones.map(({ edition, generation }) => [edition, generation])),
    chunks: main.map((one, index) => chunkOf(rows, kinds, one, main[index + 1])),
    ...changedOf(rows, chunks, currentOf(rows, found)),
  }
  return { runs, total: counted?.n ?? 0 }
}

/** Estimates how many rows match. */
export const matchingIn = ({ chunks }: OpenRuns): number => chunks.reduce((sum, { matching }) => sum + matching, 0)

function chunkOf(rows: RunRows, wanted: readonly boolean[], row: ChunkRow, next: ChunkRow | undefined): RunChunk {
  const { list, ordering, from, until } = rows
  const firstOf = ({ first_value, first_created_at, first_key }: ChunkRow): KeyValues =>
    keyOfEntry(ordering, { value: first_value, created_at: first_created_at, key: first_key })
  const spans = storedIn(list.runs.spans, row.spans)
  const inSpans = spans.reduce((sum, [span, n]) => sum + n * shareWithin(span, from, until), 0)
  const isInTime = spans.some(([span]) => span >= spanOf(from) && span <= spanOf(until - 1))
  // The version before did not store them.
  const kinds = row.kinds === null ? null : storedIn(list.runs.kinds, row.kinds)
  const all = kinds?.reduce((sum, [, n]) => sum + n, 0) ?? 1
  const ofKinds = kinds?.reduce((sum, [kind, n]) => sum + (wanted[kind] ? n : 0), 0) ?? 1
  return {
    edition: row.edition,
    number: row.number,
    first: firstOf(row),
    end: next?.edition === row.edition ? firstOf(next) : null,
    matching: isInTime ? (Math.max(inSpans, Number.MIN_VALUE) * ofKinds) / all : 0,
  }
}
