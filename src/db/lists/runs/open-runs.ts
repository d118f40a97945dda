import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { storedIn } from '../../select.ts'
import type { KeyValues } from '../order-keys.ts'
import { type Entry, type ListedEntry, unpackEntries } from './entries.ts'
import {
  columnIn,
  compareInOrder,
  formatOf,
  hasFacets,
  haveOwners,
  keyIn,
  kindOf,
  rowsOfEdition,
  scopeIn,
  shareWithin,
  spanOf,
  valueIn,
  wantedKinds,
} from './run-list.ts'
import { newestNotes, noNotes, notedIn, youngIn } from './run-notes.ts'
import {
  asksOwners,
  judgeOf,
  keyInPart,
  noMoment,
  type RunPart,
  type RunRows,
  type RunSource,
  sourcesOf,
} from './run-rows.ts'
import { ownersIn, type RowOwner } from './row-owners.ts'
import { rowColumns } from './write-chunk.ts'
import { inWords } from '../../visibility.ts'

/** So many rows that may be in no run are read one by one, each two or three times: an organisation with runs has five times as
 * many. */
const mostYoung = 4_000

interface ChunkRow {
  edition: string
  ordering: string
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
type OpenedRow = (ChunkRow | { edition: string; generation: number | null; number: null }) & {
  /** Whether they say which editions have their rows. */
  have_owners: number
}

export interface RunChunk {
  edition: string
  source: RunSource
  number: number
  first: KeyValues
  /** That of the next chunk. */
  end: KeyValues | null
  /** Estimates how many of its rows match. None where it has none. */
  matching: number
}

/** The editions of a list with their chunks without the rows, and their deltas with them. */
const chunksOf = (rows: RunRows): SQL<OpenedRow> => {
  const { list, editions } = rows
  const orderings = new Set(sourcesOf(rows).map(({ ordering }) => ordering.name))
  return sql<OpenedRow>`select one.id as edition, nullif(state.generation, 0) as generation, run.ordering, is_delta, number,
      ${haveOwners(list)} as have_owners, first_value, first_created_at, first_${keyIn(list)} as first_key, spans, kinds, iif(is_delta, hex(entries), null) as entries
    from (${list.scopesOf(editions)}) as one
      left join ${list.states} as state on ${scopeIn(list, 'state')} = one.id
      left join ${list.runs} as run on ${scopeIn(list, 'run')} = one.id and ${inWords(sql`run.ordering`, [...orderings])}
        and run.generation = state.generation`
}

const isChunk = <Row extends OpenedRow>(row: Row): row is Row & ChunkRow => row.number !== null

/** The next chunk of an edition stands behind each. SQL would read each row once more to sort them. */
const inOrder = (chunks: readonly ChunkRow[]): ChunkRow[] =>
  chunks.toSorted((a, b) => compareInOrder([a.edition, a.number], [b.edition, b.number], false))

/** Runs of a part as they are at a moment, without the chunks of the main ones. */
export interface OpenPart {
  part: RunPart
  chunks: readonly RunChunk[]
  /** Of the rows that main runs may have in wrong places, those that match. */
  entries: readonly ListedEntry[]
}

/** Runs of editions at a moment. */
export interface OpenRuns {
  /** That of each edition. */
  generations: ReadonlyMap<string, number | null>
  /** The number of the last note of each. */
  notes: ReadonlyMap<string, number>
  /** Rows that main runs may have in wrong places, by their edition. */
  changed: ReadonlyMap<string, ReadonlySet<number | string>>
  parts: readonly OpenPart[]
}

type CurrentColumns = Record<string, string | number | null> & {
  edition: string
  changed: number | string
  key: number | string | null
}

const nameOfValue = (source: number): string => `value${source}`

/** The rows that are not in runs as they are, whether they match or not. */
function currentRows(rows: RunRows): SQL<CurrentColumns> {
  const { list, editions } = rows
  const id = sql`one.id`
  const [young, noted] = [youngIn(list, { id, until: sql`state.until` }), notedIn(list, { id, late: sql`state.late` })]
  const ones = sql`(${list.scopesOf(editions)}) as one cross join ${list.states} as state on ${scopeIn(list, 'state')} = one.id`
  const limit = sql`limit ${mostYoung + 1}`
  const isAsked = (facet: number): boolean =>
    rows.counted !== undefined || sourcesOf(rows).some(({ facets }) => facets[facet] !== undefined)
  const values = sourcesOf(rows).map(
    ({ ordering }, index) => sql`${valueIn(ordering)} as ${sql.raw(nameOfValue(index))}`,
  )
  return sql<CurrentColumns>`select changed.edition, changed.key as changed, ${sql.join(values, sql`, `)},
      ${rowColumns(list, isAsked, asksOwners(rows))}
    from (select * from (select one.id as edition, ${columnIn(list, list.key)} as key
        from ${ones} cross join ${young.from} on ${young.where} ${limit})
      union select * from (select one.id, ${keyIn(list, 'noted')} from ${ones} cross join ${noted.from} on ${noted.where} ${limit}))
      as changed
    ${rowsOfEdition(list, { key: sql`changed.key`, id: sql`changed.edition` }, rows.hasBeside ?? false)}`
}

interface DeltaEntry extends Omit<Entry, 'owners'> {
  ownedBy: readonly RowOwner[] | null
}

interface OpenDelta {
  edition: string
  ordering: string
  entries: readonly DeltaEntry[]
}

/** Of the entries of deltas those of a source. */
const entriesOfDeltas = (rows: RunRows, source: RunSource, deltas: readonly OpenDelta[]): ListedEntry[] =>
  deltas
    .filter(({ ordering }) => ordering === source.ordering.name)
    .flatMap(({ edition, entries }) => {
      const judge = judgeOf(rows, source, edition)
      return entries.flatMap(({ ownedBy, ...entry }) => {
        const kind = judge(entry.created_at, entry.kind, ownedBy)
        return kind === null ? [] : [{ ...entry, kind }]
      })
    })

/** The keys of rows that are not in main runs as they are, by their edition: those in deltas too. */
async function changedOf(rows: RunRows, chunks: readonly ChunkRow[], current: readonly CurrentColumns[]) {
  const changed = new Map(chunks.map(({ edition }) => [edition, new Set<number | string>()]))
  for (const { edition, changed: key } of current) changed.set(edition, (changed.get(edition) ?? new Set()).add(key))
  const known = new Map([...changed].map(([edition, keys]) => [edition, new Set(keys)]))
  const deltas: OpenDelta[] = []
  for (const { edition, ordering, entries: hex } of chunks.filter((one) => one.is_delta)) {
    const source = sourcesOf(rows).find((one) => one.ordering.name === ordering)
    if (!source) continue
    const ownersOf: (readonly RowOwner[] | null)[] = []
    const format = formatOf(rows.list, source.ordering)
    const entries = await unpackEntries(Uint8Array.fromHex(hex ?? ''), format, (_, kind, owners) => {
      ownersOf.push(owners)
      return kind
    })
    for (const { key } of entries) changed.get(edition)?.add(key)
    const own = entries.map((entry, index): DeltaEntry => ({ ...entry, ownedBy: ownersOf[index] ?? null }))
    deltas.push({ edition, ordering, entries: own.filter(({ key }) => !known.get(edition)?.has(key)) })
  }
  return { changed, deltas }
}

/** The rows of a source that runs do not have as they are, as they are now. */
function currentOf(rows: RunRows, index: number, found: readonly CurrentColumns[]): ListedEntry[] {
  const { facets = [], seenAs } = sourcesOf(rows)[index] ?? {}
  return found.flatMap((row) => {
    const [value, created_at] = [row[nameOfValue(index)] ?? null, Number(row.created_at)]
    const matches =
      row.key !== null &&
      created_at >= rows.from &&
      created_at < rows.until &&
      hasFacets(rows.list, row, facets) &&
      seenAs?.(row.edition, kindOf(rows.list, row), ownersIn(String(row['owners'] ?? ''))) !== null
    return matches && value !== null ? [{ value, created_at, key: row.changed, kind: null }] : []
  })
}

/**
 * The runs of a list at one moment, with what `count` counts then. `runs` is null where an edition has none, or many young
 * rows.
 */
export async function openRuns(
  db: Database,
  asked: RunRows,
  count: SQL<{ n: number }>,
): Promise<{ runs: OpenRuns | null; rows: RunRows; total: number }> {
  const [ones, found, newest, [counted]] = await db.batch([
    chunksOf(asked),
    currentRows(asked),
    asked.areKindsShown ? newestNotes(asked.list, asked.editions) : noNotes,
    count,
  ])
  const total = counted?.n ?? 0
  const rows: RunRows = { ...asked, ...asked.counted?.({ ...counted }) }
  const mayLackOwners = asksOwners(rows)
  const isWhole =
    ones.length > 0 &&
    ones.every(({ generation, have_owners }) => generation !== null && (!mayLackOwners || have_owners === 1))
  if (!isWhole || found.length > mostYoung) return { runs: null, rows, total }
  const chunks = ones.filter(isChunk)
  const main = inOrder(chunks.filter((one) => !one.is_delta))
  const { changed, deltas } = await changedOf(rows, chunks, found)
  const all = rows.parts.flatMap((part) => part.sources.map((source) => ({ part, source })))
  const opened = all.map(({ part, source }, index) => {
    const { name } = source.ordering
    const own = main.filter(({ ordering }) => ordering === name)
    return {
      chunks: own.map((one, at) => chunkOf(rows, { part, source }, one, own[at + 1])),
      entries: [...currentOf(rows, index, found), ...entriesOfDeltas(rows, source, deltas)],
    }
  })
  const parts = rows.parts.map((part): OpenPart => {
    const ofPart = opened.splice(0, part.sources.length)
    return { part, chunks: ofPart.flatMap((one) => one.chunks), entries: ofPart.flatMap((one) => one.entries) }
  })
  const generations = new Map(ones.map((one) => [one.edition, one.generation]))
  const notes = new Map(newest.map(({ edition, late }) => [edition, late]))
  return { runs: { generations, notes, changed, parts }, rows, total }
}

function chunkOf(
  rows: RunRows,
  { part, source }: { part: RunPart; source: RunSource },
  row: ChunkRow,
  next: ChunkRow | undefined,
): RunChunk {
  const { list, from, until } = rows
  /** Of rows with the same value any may be before or behind it, where they do not follow their creation. */
  const firstOf = ({ first_value, first_created_at, first_key }: ChunkRow, others: number): KeyValues =>
    part.ignoresCreation
      ? [first_value, others]
      : keyInPart(part, { value: first_value, created_at: first_created_at, key: first_key })
  const wanted = wantedKinds(list, source.facets)
  const spans = storedIn(list.runs.spans, row.spans)
  const inSpans = spans.reduce((sum, [span, n]) => sum + n * shareWithin(span, from, until), 0)
  const isInTime = spans.some(([span]) => span >= spanOf(from) && span <= spanOf(until - 1))
  // The version before did not store them.
  const kinds = row.kinds === null ? null : storedIn(list.runs.kinds, row.kinds)
  const all = kinds?.reduce((sum, [, n]) => sum + n, 0) ?? 1
  const ofKinds = kinds?.reduce((sum, [kind, n]) => sum + (wanted[kind] ? n : 0), 0) ?? 1
  return {
    edition: row.edition,
    source,
    number: row.number,
    first: firstOf(row, -noMoment),
    end: next?.edition === row.edition ? firstOf(next, noMoment) : null,
    matching: isInTime ? (Math.max(inSpans, Number.MIN_VALUE) * ofKinds) / all : 0,
  }
}
