import { readInTransaction } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { loadOrders, selectOrdersAfter, groupOrders, selectRowsOfOrders, type StagedOrder } from './read-orders.ts'

/** Orders that are read at once; a transaction takes in some of them. */
const ordersPerRead = 100

/** Reads orders some steps ahead of the import. */
export class OrderWindow {
  readonly #db: Database
  readonly #importId: string
  /** Orders behind this number are known, up to the last of `#orders`. */
  #from = 0
  #orders: readonly StagedOrder[] = []
  #isWhole = false

  constructor(db: Database, importId: string) {
    this.#db = db
    this.#importId = importId
  }

  /** Answers none at the end of the import. */
  async next(after: number, limit: number): Promise<readonly StagedOrder[]> {
    this.#moveTo(after)
    if (this.#orders.length === 0 && !this.#isWhole)
      this.#add(await loadOrders(this.#db, this.#importId, selectOrdersAfter(this.#importId, after, ordersPerRead)))
    return this.known(after, limit)
  }

  /** As `next`, of the orders that were read. */
  known(after: number, limit: number): readonly StagedOrder[] {
    const first = this.#orders.findIndex(({ number }) => number > after)
    return first === -1 ? [] : this.#orders.slice(first, first + limit)
  }

  /**
   * Reads further orders in the transaction of the orders up to `decided` if fewer than `enough` are known behind
   * `after`. After the commit, `take` adds them and forgets the decided ones.
   */
  readOn(decided: number, after: number, enough: number): { statements: readonly Statement[]; take: () => void } {
    const forget = () => this.#moveTo(decided)
    if (this.#isWhole || this.known(after, enough).length === enough) return { statements: [], take: forget }
    const last = this.#orders.at(-1)?.number ?? after
    const { statements, rows } = readInTransaction({
      rows: selectRowsOfOrders(this.#importId, selectOrdersAfter(this.#importId, last, ordersPerRead)),
    })
    return {
      statements,
      take: () => {
        forget()
        this.#add(groupOrders(rows().rows ?? []))
      },
    }
  }

  /** Forgets decided orders, or all of them when the import goes back. */
  #moveTo(after: number): void {
    const isBehind = after < this.#from
    this.#orders = isBehind ? [] : this.#orders.filter(({ number }) => number > after)
    this.#from = after
    if (isBehind) this.#isWhole = false
  }

  #add(orders: readonly StagedOrder[]): void {
    this.#isWhole = orders.length === 0
    this.#orders = [...this.#orders, ...orders]
  }
}
