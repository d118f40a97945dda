import { utf8 } from '../../domain/text/encoding.ts'
import { countOf, type ListEntries, firstPlace, numberAt, placeOf } from './list-entries.ts'
import { everyone } from './pack-store.ts'

/** Recipients in one row. Each takes four bytes, and a row at most two million. */
const partSize = 262_144

/** As SQLite compares texts. */
export function compareTexts(one: string, other: string): number {
  const [bytes, others] = [utf8(one), utf8(other)]
  const at = bytes.findIndex((byte, index) => byte !== others[index])
  return at === -1 ? bytes.length - others.length : (bytes[at] ?? 0) - (others[at] ?? -1)
}

/** The places of all entries in the order of addresses. By place, the rank of the address: the same address has the same rank. */
export interface Ranked {
  places: Int32Array
  ranks: Float64Array
}

/**
 * All recipients in the order of their addresses, which are known before the first message goes out. They are stored as the
 * places of their entries plus one, negative where the address is that of the recipient before: no one comes or goes meanwhile.
 */
export class AddressOrder {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  isMade(): boolean {
    return this.#sql.exec('select 1 from address_order limit 1').toArray().length > 0
  }

  /** Reads all recipients. */
  make(entries: ListEntries): void {
    const stored: number[] = []
    let before: string | null = null
    const rows = this.#sql.exec(`select n, address from ${everyone} order by address, n`).raw<[number, string]>()
    for (const [n, address] of rows) {
      const place = placeOf(entries, n) + 1
      stored.push(address === before ? -place : place)
      before = address
    }
    this.#write(stored)
  }

  /** Recipients came or went. */
  drop(): void {
    if (this.isMade()) this.#sql.exec('delete from address_order')
  }

  ranked(entries: ListEntries): Ranked {
    const places = new Int32Array(countOf(entries))
    const ranks = new Float64Array(countOf(entries))
    let [rank, at] = [0, 0]
    for (const part of this.#parts())
      for (const stored of part) {
        if (stored > 0) rank++
        const place = Math.abs(stored) - 1
        ranks[place] = rank
        places[at++] = place
      }
    return { places, ranks }
  }

  /** The recipient has got an address that no one else has. */
  move(n: number, entries: ListEntries, addressOf: (n: number) => string): void {
    const moved = placeOf(entries, n) + 1
    const stored = this.#parts().flatMap((part) => [...part])
    const from = stored.findIndex((one) => Math.abs(one) === moved)
    if (from === -1) return
    const next = stored[from + 1]
    if (next !== undefined && stored[from] === moved) stored[from + 1] = Math.abs(next)
    stored.splice(from, 1)
    const address = addressOf(n)
    const addressAt = (at: number) => addressOf(numberAt(entries, Math.abs(stored[at] ?? 0) - 1))
    const to = firstPlace(stored.length, (at) => compareTexts(addressAt(at), address) > 0)
    stored.splice(to, 0, moved)
    this.#write(stored)
  }

  #parts(): Int32Array[] {
    return this.#sql
      .exec<{ places: ArrayBuffer }>('select places from address_order order by first')
      .toArray()
      .map(({ places }) => new Int32Array(places))
  }

  #write(stored: readonly number[]): void {
    // Of no recipients there is an empty part.
    for (let first = 0; first === 0 || first < stored.length; first += partSize)
      this.#sql.exec(
        'insert or replace into address_order (first, places) values (?, ?)',
        first,
        Int32Array.from(stored.slice(first, first + partSize)).buffer,
      )
  }
}
