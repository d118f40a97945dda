/** Lists that are kept. Each takes eight bytes a recipient. */
const mostKept = 4

/** The numbers of a list's recipients in its order, as of a state of the database. */
interface KnownNumbers {
  changes: number
  numbers: Float64Array
}

/**
 * Orders and filters that no index serves. The first page reads all recipients, and the numbers of the list stay in the
 * memory of the object: until something is written, further pages read their own recipients alone. An index would cost
 * each recipient a row written, which is as dear as reading a thousand.
 */
export class KnownOrders {
  readonly #sql: SqlStorage
  /** By the query of the numbers. The newest is last. */
  readonly #known = new Map<string, KnownNumbers>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Has all lists read again: another database begins to count its changes anew. */
  forget(): void {
    this.#known.clear()
  }

  /** What the query answers, which has one column of numbers. */
  numbersOf(query: string, values: readonly SqlStorageValue[]): Float64Array {
    const name = JSON.stringify([query, values])
    const [change] = this.#sql.exec<{ n: number }>('select total_changes() as n').toArray()
    const changes = change?.n ?? 0
    const known = this.#known.get(name)
    this.#known.delete(name)
    if (known?.changes === changes) {
      this.#known.set(name, known)
      return known.numbers
    }
    const rows = this.#sql.exec(query, ...values).raw<[number]>()
    const numbers = Float64Array.from(rows, ([n]) => n)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= mostKept) this.#known.delete(oldest)
    this.#known.set(name, { changes, numbers })
    return numbers
  }
}
