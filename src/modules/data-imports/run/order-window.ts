import { sql } from 'drizzle-orm'
import { readWithin } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import type { ReadRow } from '../background/staged-rows.ts'
import { type ImportOrderRow, type LoadedOrders, loadOrders, maxRowsPerOrder, withRows } from './read-orders.ts'

/** Orders that are read at once; a transaction takes in some of them. */
const ordersPerRead = 100
/** Rows that are read at once, unless one order has more. */
const rowsPerRead = 2000

const capped = sql`min(rows_count, ${maxRowsPerOrder})`

/** The next orders of an import, of few enough rows. */
const ordersAfter = (importId: string, after: number) =>
  sql<ImportOrderRow>`select * from (select *, sum(${capped}) over (order by number) - ${capped} as rows_before
      from (select * from import_orders where import_id = ${importId} and number > ${after}
        order by number limit ${ordersPerRead}))
    where rows_before < ${rowsPerRead}`

/** The orders of an import with their rows, some ahead of those that are decided next. */
export class OrderWindow {
  readonly #db: Database
  readonly #importId: string
  /** Orders behind the one with this number are known, up to the last of `#orders`. */
  #from = 0
  #orders: readonly ImportOrderRow[] = []
  #rows = new Map<string | null, readonly ReadRow[]>()
  #isWhole = false

  constructor(db: Database, importId: string) {
    this.#db = db
    this.#importId = importId
  }

  /** At most `limit` orders behind the one with the number `after`; none at the end of the import. */
  async next(after: number, limit: number): Promise<LoadedOrders> {
    this.#moveTo(after)
    if (this.#orders.length === 0 && !this.#isWhole)
      this.#add(await loadOrders(this.#db, this.#importId, ordersAfter(this.#importId, after)))
    return this.known(after, limit)
  }

  /** As `next`, of the orders that were read. */
  known(after: number, limit: number): LoadedOrders {
    const first = this.#orders.findIndex(({ number }) => number > after)
    const orders = first === -1 ? [] : this.#orders.slice(first, first + limit)
    return { orders, rows: orders.flatMap(({ group_key }) => this.#rows.get(group_key) ?? []) }
  }

  /**
   * Reads further orders at the end of a transaction, where fewer than `enough` are known behind the number `after`.
   * `take` adds them once it is committed.
   */
  readOn(after: number, enough: number): { statements: readonly Statement[]; take: () => void } {
    if (this.#isWhole || this.known(after, enough).orders.length === enough) return { statements: [], take: () => {} }
    const last = this.#orders.at(-1)?.number ?? after
    const { statements, rows } = readWithin(withRows(this.#importId, ordersAfter(this.#importId, last)))
    const take = () => {
      const { orders = [], rows: found = [] } = rows()
      this.#add({ orders, rows: found })
    }
    return { statements, take }
  }

  /** Forgets the orders up to that number, and all of them where it stands before them. */
  #moveTo(after: number): void {
    const isBehind = after < this.#from
    const gone = this.#orders.filter(({ number }) => isBehind || number <= after)
    for (const { group_key } of gone) this.#rows.delete(group_key)
    this.#orders = this.#orders.slice(gone.length)
    this.#from = after
    if (isBehind) this.#isWhole = false
  }

  #add({ orders, rows }: LoadedOrders): void {
    this.#isWhole = orders.length === 0
    this.#orders = [...this.#orders, ...orders]
    for (const [key, own] of Map.groupBy(rows, ({ group_key }) => group_key)) this.#rows.set(key, own)
  }
}
