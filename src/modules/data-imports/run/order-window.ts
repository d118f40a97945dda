import { readInTransaction } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { loadOrders, selectOrdersAfter, groupOrders, selectRowsOfOrders, type StagedOrder } from './read-orders.ts'

/** Orders that one query reads. A transaction imports `ordersPerChunk` of them. */
const ordersPerRead = 100

/** Buffers staged orders, so that the import reads some steps ahead. */
export class OrderWindow {
  readonly #db: Database
  readonly #importId: string
  /** `#orders` has the orders after this number without a gap. */
  #from = 0
  #orders: readonly StagedOrder[] = []
  #hasReachedEnd = false

  constructor(db: Database, importId: string) {
    this.#db = db
    this.#importId = importId
  }

  /** Returns the next orders; an empty list at the end of the import. */
  async next(after: number, limit: number): Promise<readonly StagedOrder[]> {
    this.#moveTo(after)
    if (this.#orders.length === 0 && !this.#hasReachedEnd)
      this.#add(await loadOrders(this.#db, this.#importId, selectOrdersAfter(this.#importId, after, ordersPerRead)))
    return this.peek(after, limit)
  }

  /** Like `next`, but only from orders that are already in the buffer. */
  peek(after: number, limit: number): readonly StagedOrder[] {
    const first = this.#orders.findIndex(({ number }) => number > after)
    return first === -1 ? [] : this.#orders.slice(first, first + limit)
  }

  /**
   * Builds statements that read further orders in the transaction of the orders up to `decided`, unless the buffer has
   * `enough` orders after `after`. Call `apply` after the commit: it adds the new orders and drops the decided ones.
   */
  prefetch(
    decidedOrders: number,
    after: number,
    enough: number,
  ): { statements: readonly Statement[]; apply: () => void } {
    const dropDecided = () => this.#moveTo(decidedOrders)
    if (this.#hasReachedEnd || this.peek(after, enough).length === enough) return { statements: [], apply: dropDecided }
    const last = this.#orders.at(-1)?.number ?? after
    const { statements, rows } = readInTransaction({
      rows: selectRowsOfOrders(this.#importId, selectOrdersAfter(this.#importId, last, ordersPerRead)),
    })
    return {
      statements,
      apply: () => {
        dropDecided()
        this.#add(groupOrders(rows().rows ?? []))
      },
    }
  }

  /** Drops decided orders, or all orders when the import goes back to an earlier one. */
  #moveTo(after: number): void {
    const goesBack = after < this.#from
    this.#orders = goesBack ? [] : this.#orders.filter(({ number }) => number > after)
    this.#from = after
    if (goesBack) this.#hasReachedEnd = false
  }

  #add(orders: readonly StagedOrder[]): void {
    this.#hasReachedEnd = orders.length === 0
    this.#orders = [...this.#orders, ...orders]
  }
}
