import { sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import type { KeyValues } from '../order-keys.ts'
import { type ListedEntry, unpackEntries } from './entries.ts'
import type { OpenPart, OpenRuns, RunChunk } from './open-runs.ts'
import { compareInOrder, formatOf, scopeIn } from './run-list.ts'
import { judgeOf, keyInPart, LostChunk, type RunRows } from './run-rows.ts'

/** So many chunks are read at once, fewer where all their rows are passed. */
const mostAtOnce = 16
const atOnceInPassing = 6

/** Estimates how many rows match. */
export const matchingIn = (parts: readonly Pick<OpenPart, 'chunks'>[]): number =>
  parts.reduce((sum, { chunks }) => sum + chunks.reduce((ofPart, { matching }) => ofPart + matching, 0), 0)

/** Reads runs of a part of a list as far as a page needs. */
export class RunReader {
  readonly #db: Database
  readonly #rows: RunRows
  readonly #runs: OpenRuns
  readonly #part: OpenPart
  readonly #after: KeyValues | null
  /** Entries of deltas, and of the main chunks that were read: those that match, and have not changed since. */
  #entries: ListedEntry[]
  #unread: RunChunk[]

  /** `after` is the key of the row before those that are asked for. */
  constructor(
    db: Database,
    { rows, runs, part, after }: { rows: RunRows; runs: OpenRuns; part: OpenPart; after: KeyValues | null },
  ) {
    this.#db = db
    this.#rows = rows
    this.#runs = runs
    this.#part = part
    this.#after = after
    this.#entries = part.entries.filter((entry) => this.#isBehind(entry))
    this.#unread = part.chunks
      .filter((chunk) => chunk.matching > 0 && this.#mayBeBehind(chunk))
      .toSorted((a, b) => this.#compareChunks(a, b))
  }

  #compareChunks(a: RunChunk, b: RunChunk): number {
    const { isDesc } = this.#rows
    const [left, right] = isDesc ? [a.end, b.end] : [a.first, b.first]
    if (left === null || right === null) return Number(right === null) - Number(left === null)
    return compareInOrder(left, right, isDesc)
  }

  #keyOf = (entry: ListedEntry): KeyValues => keyInPart(this.#part.part, entry)

  #sorted(entries: readonly ListedEntry[]): ListedEntry[] {
    const { isDesc } = this.#rows
    return entries.toSorted((a, b) => compareInOrder(this.#keyOf(a), this.#keyOf(b), isDesc))
  }

  #isBehind(entry: ListedEntry): boolean {
    return this.#after === null || compareInOrder(this.#keyOf(entry), this.#after, this.#rows.isDesc) > 0
  }

  #mayBeBehind({ first, end }: RunChunk): boolean {
    if (!this.#after) return true
    if (this.#rows.isDesc) return compareInOrder(first, this.#after, false) < 0
    return end === null || compareInOrder(end, this.#after, false) > 0
  }

  /** Whether each row before this one, and it, is among the entries. */
  #isKnown(entry: ListedEntry): boolean {
    const [next] = this.#unread
    if (!next) return true
    const key = this.#keyOf(entry)
    if (!this.#rows.isDesc) return compareInOrder(key, next.first, false) < 0
    return next.end !== null && compareInOrder(key, next.end, false) >= 0
  }

  async #readNext(count: number): Promise<void> {
    const { list } = this.#rows
    const { generations, changed } = this.#runs
    const next = this.#unread.slice(0, count)
    const found = await this.#db.batch(
      next.map(
        ({ edition, source, number }) => sql<{ entries: string }>`select hex(entries) as entries from ${list.runs}
          where ${scopeIn(list)} = ${edition} and ordering = ${source.ordering.name} and generation = ${generations.get(edition)}
            and is_delta = 0 and number = ${number}`,
      ),
    )
    for (const [index, [chunk]] of found.entries()) {
      const of = next[index]
      if (!chunk || !of) throw new LostChunk()
      const others = changed.get(of.edition)
      const wanted = await unpackEntries(
        Uint8Array.fromHex(chunk.entries),
        formatOf(list, of.source.ordering),
        judgeOf(this.#rows, of.source, of.edition),
      )
      for (const entry of wanted) if (!others?.has(entry.key) && this.#isBehind(entry)) this.#entries.push(entry)
    }
    this.#unread = this.#unread.slice(count)
  }

  /** Each edition has a chunk of its own in front, in each order. */
  get #ownRuns(): number {
    return this.#runs.generations.size * this.#part.part.sources.length
  }

  /** At least so many entries in the order of the list, or all of them. `isWhole` says that there are no others. */
  async take(count: number): Promise<{ entries: ListedEntry[]; isWhole: boolean }> {
    const { chunks } = this.#part
    // Of rows that are spread evenly.
    const expected = Math.ceil((count * chunks.length) / Math.max(1, matchingIn([this.#part]))) + this.#ownRuns - 1
    for (let atOnce = expected; ; atOnce *= 2) {
      const known = this.#sorted(this.#entries.filter((entry) => this.#isKnown(entry)))
      if (known.length >= count || this.#unread.length === 0)
        return { entries: known.slice(0, count), isWhole: this.#unread.length === 0 && known.length <= count }
      await this.#readNext(Math.min(atOnce, mostAtOnce))
    }
  }

  /** The key of the row behind so many others. Those are dropped. Null where there are fewer: `passed` says how many. */
  async keyBehind(count: number): Promise<{ key: KeyValues | null; passed: number }> {
    for (let passed = 0; ;) {
      const { known = [], others = [] } = Object.groupBy(this.#entries, (one) =>
        this.#isKnown(one) ? 'known' : 'others',
      )
      const found = passed + known.length > count ? this.#sorted(known)[count - passed] : undefined
      if (found) return { key: this.#keyOf(found), passed: count }
      passed += known.length
      if (this.#unread.length === 0) return { key: null, passed }
      this.#entries = others
      await this.#readNext(atOnceInPassing)
    }
  }
}
