import {
  countOf,
  entriesOf,
  type ListEntries,
  entryColumns,
  type EntryRow,
  joined,
  latest,
  merged,
  numberAt,
  placeOf,
  slice,
} from './list-entries.ts'
import type { PackStore } from './pack-store.ts'

interface EntrySizes {
  /** Recipients in one row. Each takes 24 bytes, and a row at most two million. */
  block: number
  /** A note takes what comes next until it has so many entries. */
  note: number
  /** Notes are written into blocks when there are so many: each page reads all. */
  notes: number
}

/**
 * The entries of all recipients for lists, in blocks in the order of numbers, and notes of those that have changed since. Who
 * changes a recipient notes it in the same transaction. A chunk is one note, and many notes are written into their blocks
 * together, so that a recipient costs a fraction of a row. An index would write a row of each.
 */
export class ListStore {
  readonly #sql: SqlStorage
  readonly #packs: PackStore
  readonly #sizes: EntrySizes

  constructor(sql: SqlStorage, packs: PackStore, sizes: EntrySizes = { block: 16_384, note: 100, notes: 128 }) {
    this.#sql = sql
    this.#packs = packs
    this.#sizes = sizes
  }

  /** Before the first run nothing is made. */
  isMade(): boolean {
    return this.#sql.exec('select 1 from list_blocks limit 1').toArray().length > 0
  }

  /** Reads all recipients. */
  make(): void {
    this.#sql.exec('delete from list_blocks; delete from list_notes')
    const rows = this.#sql.exec(`select ${entryColumns.join(', ')} from recipients order by n`)
    this.#write(0, merged(entriesOf(rows as unknown as Iterable<EntryRow>), entriesOf(this.#packs.all())))
  }

  /** These recipients are new, or have changed. */
  note(rows: readonly EntryRow[]): void {
    if (rows.length === 0) return
    const [last] = this.#sql
      .exec<{ number: number; entries: ArrayBuffer }>('select * from list_notes order by number desc limit 1')
      .toArray()
    if (!last && !this.isMade()) return
    const entries = entriesOf(rows)
    const before = new Float64Array(last?.entries ?? new ArrayBuffer())
    if (last && countOf(before) < this.#sizes.note)
      this.#sql.exec(
        'update list_notes set entries = ? where number = ?',
        joined([before, entries]).buffer,
        last.number,
      )
    else this.#sql.exec('insert into list_notes (entries) values (?)', entries.buffer)
    // Their numbers begin at 1 again when all are gone.
    if (last && last.number >= this.#sizes.notes) this.#fold()
  }

  /** In the order of numbers. */
  all(): ListEntries {
    return merged(this.#blocks(0, Number.MAX_SAFE_INTEGER), this.#changes())
  }

  /** The entries of blocks whose first numbers are from one to another. */
  #blocks(from: number, to: number): ListEntries {
    const blocks = this.#sql
      .exec<{ entries: ArrayBuffer }>(
        'select entries from list_blocks where first between ? and ? order by first',
        from,
        to,
      )
      .toArray()
    return joined(blocks.map(({ entries }) => new Float64Array(entries)))
  }

  #changes(): ListEntries {
    const notes = this.#sql.exec<{ entries: ArrayBuffer }>('select entries from list_notes order by number').toArray()
    return latest(joined(notes.map(({ entries }) => new Float64Array(entries))))
  }

  /** Writes the notes into their blocks. */
  #fold(): void {
    const changes = this.#changes()
    const firsts = this.#sql.exec<{ first: number }>('select first from list_blocks order by first').toArray()
    for (const [at, { first }] of firsts.entries()) {
      const end = firsts[at + 1]?.first ?? Infinity
      const part = slice(changes, placeOf(changes, first), placeOf(changes, end))
      if (part.length) this.#write(first, merged(this.#blocks(first, first), part))
    }
    this.#sql.exec('delete from list_notes')
  }

  /** A block, or as many as its entries need. An empty one is a block, too. */
  #write(first: number, entries: ListEntries): void {
    for (let start = 0; start === 0 || start < countOf(entries); start += this.#sizes.block)
      this.#sql.exec(
        'insert or replace into list_blocks (first, entries) values (?, ?)',
        start === 0 ? first : numberAt(entries, start),
        slice(entries, start, start + this.#sizes.block).slice().buffer,
      )
  }
}
