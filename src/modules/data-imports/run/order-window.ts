import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { type ImportOrderRow, loadOrders, maxRowsPerOrder } from './read-orders.ts'
import type { ReadRow } from '../background/staged-rows.ts'

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
  #orders: readonly ImportOrderRow[] = []
  #rows: ReadonlyMap<string | null, readonly ReadRow[]> = new Map()

  constructor(db: Database, importId: string) {
    this.#db = db
    this.#importId = importId
  }

  /** At most `limit` orders behind the one with the number `after`; none at the end of the import. */
  async next(after: number, limit: number): Promise<{ orders: ImportOrderRow[]; rows: ReadRow[] }> {
    if (!this.#orders.some(({ number }) => number > after)) await this.#read(after)
    const orders = this.#orders.filter(({ number }) => number > after).slice(0, limit)
    return { orders, rows: orders.flatMap(({ group_key }) => this.#rows.get(group_key) ?? []) }
  }

  async #read(after: number): Promise<void> {
    const { orders, rows } = await loadOrders(this.#db, this.#importId, ordersAfter(this.#importId, after))
    this.#orders = orders
    this.#rows = Map.groupBy(rows, ({ group_key }) => group_key)
  }
}
