import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { listedKeys } from '../../../db/lists/find-few.ts'
import type { KeyValues } from '../../../db/lists/order-keys.ts'
import { ofKinds, type OrderKinds } from '../../../db/order-kinds.ts'
import { orderRuns } from '../../../db/schema/sales/order-runs.ts'
import { storedIn } from '../../../db/select.ts'
import { shortIdsOf } from '../../../db/short-ids.ts'
import { type Entry, unpackEntries } from './entries.ts'
import { compareInOrder, keyOfEntry, type RunOrdering, shareWithin, spanOf, wantedKinds } from './run-orderings.ts'

/** Orders of editions in a range of time, in an order that runs have. */
export interface RunRows extends OrderKinds {
  /** A query of the ids of the editions. */
  editions: SQL
  /** The first moment of creation, and the first one behind the last. */
  from: number
  until: number
  ordering: RunOrdering
  isDesc: boolean
  /** The key of the order before the page. */
  after: KeyValues | null
}

/** So many orders that may be in no run are read one by one. */
const mostYoung = 400
/** So many orders are sorted rather than looked for in runs. */
export const mostSorted = 100
const mostAtOnce = 16

interface EditionState {
  id: string
  /** Null where it has no runs. */
  generation: number | null
  until: number
  late: number
  young: number
}

interface ChunkRow {
  edition: string
  is_delta: number
  number: number
  first_value: number | string
  first_created_at: number
  first_seq: number
  spans: string
  /** In hexadecimal digits; of a delta alone. */
  entries: string | null
}

interface RunChunk {
  edition: string
  number: number
  spans: readonly (readonly [span: number, orders: number])[]
  first: KeyValues
  /** That of the next chunk. */
  end: KeyValues | null
}

/** A chunk that was deleted since its run was begun: the next generation has replaced it. */
export class LostChunk extends Error {}

const inTime = ({ from, until }: RunRows): SQL => sql`orders.created_at >= ${from} and orders.created_at < ${until}`

/** Young orders of an edition that may be in the list. */
const isYoung = (rows: RunRows, { id, until }: { id: SQL; until: SQL }): SQL =>
  sql`orders.edition_short_id = ${id} and ${ofKinds(rows)} and orders.modified_at >= ${until} and ${inTime(rows)}`

function statements(rows: RunRows) {
  const { editions, ordering } = rows
  const young = isYoung(rows, { id: sql`one.id`, until: sql`state.until` })
  return [
    sql<EditionState>`select one.id, nullif(state.generation, 0) as generation, state.until, state.late,
        iif(state.generation > 0,
          (select count(*) from (select 1 from orders indexed by orders_edition_modified where ${young} limit ${mostYoung + 1}))
          + (select count(*) from (select 1 from late_orders where late_orders.edition_short_id = one.id
              and late_orders.number > state.late limit ${mostYoung + 1})), 0) as young
      from (${shortIdsOf(editions)}) as one left join order_run_states as state on state.edition_short_id = one.id`,
    sql<ChunkRow>`select run.edition_short_id as edition, is_delta, number, first_value, first_created_at, first_seq, spans,
        iif(is_delta, hex(entries), null) as entries
      from (${shortIdsOf(editions)}) as one
        cross join order_run_states as state on state.edition_short_id = one.id
        cross join order_runs as run on run.edition_short_id = one.id and run.ordering = ${ordering.name}
          and run.generation = state.generation
      order by 1, 2, 3`,
  ] as const
}

/** Reads runs as far as a page needs. */
export class RunReader {
  readonly #db: Database
  readonly #rows: RunRows
  readonly states: readonly EditionState[]
  /** Entries of deltas, and of the main chunks that were read: those that match, and have not changed since. */
  readonly #entries: Entry[] = []
  /** Orders of deltas. Main runs may have them in wrong places. */
  readonly #changed = new Set<number>()
  #unread: RunChunk[]
  readonly #chunks: number
  readonly #kinds: readonly boolean[]
  /** Estimates how many orders match. */
  readonly matching: number

  private constructor(db: Database, rows: RunRows, states: readonly EditionState[], chunks: readonly ChunkRow[]) {
    this.#db = db
    this.#rows = rows
    this.states = states
    this.#kinds = wantedKinds(rows)
    for (const { is_delta, entries } of chunks) if (is_delta) this.#addDelta(entries ?? '')
    const main = chunks.filter((one) => !one.is_delta).map((one, index, all) => chunkOf(one, all[index + 1]))
    this.#chunks = main.length
    this.matching = main.reduce((sum, { spans }) => sum + matchingOf(spans, rows), 0)
    this.#unread = main.filter((chunk) => mayMatch(chunk, rows)).toSorted((a, b) => this.#compareChunks(a, b))
  }

  /** Null where an edition has no runs, or many young orders. */
  static async open(db: Database, rows: RunRows): Promise<RunReader | null> {
    const [states, chunks] = await db.batch(statements(rows))
    if (states.length === 0 || states.some(({ generation }) => generation === null)) return null
    if (states.reduce((sum, { young }) => sum + young, 0) > mostYoung) return null
    return new RunReader(db, rows, states, chunks)
  }

  #compareChunks(a: RunChunk, b: RunChunk): number {
    const { isDesc } = this.#rows
    const [left, right] = isDesc ? [a.end, b.end] : [a.first, b.first]
    if (left === null || right === null) return Number(right === null) - Number(left === null)
    return compareInOrder(left, right, isDesc)
  }

  #isWanted = ({ created_at, kind }: Entry): boolean =>
    created_at >= this.#rows.from && created_at < this.#rows.until && (this.#kinds[kind] ?? false)

  #isBehind(entry: Entry): boolean {
    const { after, isDesc } = this.#rows
    return after === null || compareInOrder(keyOfEntry(entry), after, isDesc) > 0
  }

  #addDelta(hex: string): void {
    const all = unpackEntries(Uint8Array.fromHex(hex), this.#rows.ordering.isText, () => true)
    for (const { seq } of all) this.#changed.add(seq)
    this.#entries.push(...all.filter((entry) => this.#isWanted(entry) && this.#isBehind(entry)))
  }

  /** Whether each order before this key, and at it, is among the entries. */
  #isKnown(entry: Entry): boolean {
    const [next] = this.#unread
    if (!next) return true
    const { isDesc } = this.#rows
    if (!isDesc) return compareInOrder(keyOfEntry(entry), next.first, false) < 0
    return next.end !== null && compareInOrder(keyOfEntry(entry), next.end, false) >= 0
  }

  async #readNext(count: number): Promise<void> {
    const { ordering } = this.#rows
    const next = this.#unread.slice(0, count)
    const generations = new Map(this.states.map(({ id, generation }) => [id, generation]))
    const found = await this.#db.batch(
      next.map(
        ({ edition, number }) => sql<{ entries: string }>`select hex(entries) as entries from order_runs
          where edition_short_id = ${edition} and ordering = ${ordering.name} and generation = ${generations.get(edition)}
            and is_delta = 0 and number = ${number}`,
      ),
    )
    for (const [chunk] of found) {
      if (!chunk) throw new LostChunk()
      const bytes = Uint8Array.fromHex(chunk.entries)
      const wanted = unpackEntries(bytes, ordering.isText, this.#isWanted)
      this.#entries.push(...wanted.filter((entry) => !this.#changed.has(entry.seq) && this.#isBehind(entry)))
    }
    this.#unread = this.#unread.slice(count)
  }

  /** At least so many entries in the order of the list, or all of them. `isWhole` says that there are no others. */
  async take(count: number): Promise<{ entries: Entry[]; isWhole: boolean }> {
    const { isDesc } = this.#rows
    // Of orders that are spread evenly. Each edition has a chunk of its own in front.
    const expected = Math.ceil((count * this.#chunks) / Math.max(1, this.matching)) + this.states.length - 1
    for (let atOnce = expected; ; atOnce *= 2) {
      const known = this.#entries
        .filter((entry) => this.#isKnown(entry))
        .toSorted((a, b) => compareInOrder(keyOfEntry(a), keyOfEntry(b), isDesc))
      if (known.length >= count || this.#unread.length === 0)
        return { entries: known.slice(0, count), isWhole: this.#unread.length === 0 && known.length <= count }
      await this.#readNext(Math.min(atOnce, mostAtOnce))
    }
  }
}

const chunkOf = (row: ChunkRow, next: ChunkRow | undefined): RunChunk => ({
  edition: row.edition,
  number: row.number,
  spans: storedIn(orderRuns.spans, row.spans),
  first: firstOf(row),
  end: next?.edition === row.edition ? firstOf(next) : null,
})

const firstOf = ({ first_value, first_created_at, first_seq }: ChunkRow): KeyValues => [
  first_value,
  first_created_at,
  first_seq,
]

const matchingOf = (spans: RunChunk['spans'], { from, until }: RunRows): number =>
  spans.reduce((sum, [span, orders]) => sum + orders * shareWithin(span, from, until), 0)

/** Whether a chunk may have orders of the range behind the page before. */
function mayMatch({ first, end, spans }: RunChunk, { from, until, after, isDesc }: RunRows): boolean {
  if (after && isDesc && compareInOrder(first, after, false) >= 0) return false
  if (after && !isDesc && end && compareInOrder(end, after, false) <= 0) return false
  return spans.some(([span]) => span >= spanOf(from) && span <= spanOf(until - 1))
}

/**
 * A query of the orders, by `seq`, that may be on a page: those that runs have led to, and those that may be in no run. Each
 * comes once.
 */
export function listedOrders(rows: RunRows, states: readonly EditionState[], seqs: readonly number[]): SQL {
  const since = sql`(values ${sql.join(
    states.map(({ id, until, late }) => sql.raw(`('${id}', ${until}, ${late})`)),
    sql`, `,
  )}) as since`
  const young = isYoung(rows, { id: sql`since.column1`, until: sql`since.column2` })
  const others = sql`select orders.seq from ${since} cross join orders indexed by orders_edition_modified on ${young}
    union select late_orders.seq from ${since}
      cross join late_orders on late_orders.edition_short_id = since.column1 and late_orders.number > since.column3`
  if (seqs.length === 0) return others
  return sql`select column1 as seq from ${listedKeys(seqs)}
    union all select seq from (${others}) where seq not in (${sql.raw(seqs.join(', '))})`
}
