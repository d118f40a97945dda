import { beforeEach, describe, expect, it } from 'vitest'
import { readCost } from '../support/cost.ts'
import { buildRows, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { anOrder, givenOrders, seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { createImporter, loadImport, buildMessage } from '../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
  await givenOrders(shop, [anOrder()])
})

/** Rows that each further order writes when a new customer buys two day tickets. */
const rowsAnOrder = {
  /** This includes the indexes of the lists of an edition, an organisation and a customer. */
  order: 9,
  count: 1,
  /** The numbers of the statistics, of the order and of each purchase. */
  statistics: 1 + 2,
  payment: 2,
  purchases: 2 * 4,
  customer: 4,
  /** This includes the indexes of lists, of the edition's customers and of the customer's editions. */
  customer_of_edition: 4,
  /**
   * The search index has one row for the order, one for the customer and one for the edition's customer, whatever their
   * length.
   */
  search_index: 3,
  /** What an undo needs, and the entry by which the order finds the import. */
  undo: 2,
}
const all = Object.values(rowsAnOrder).reduce((sum, rows) => sum + rows, 0)

describe('the rows written for an imported order', () => {
  const ofCall = async (count: number) => {
    const orders = Array.from({ length: count }, () => anOrder())
    return readCost(await importOrders(shop, orders)).rows_written
  }

  it('are those of its tables and of the indexes of lists', async () => {
    const [one, more] = [await ofCall(1), await ofCall(21)]
    expect((more - one) / 20).toBe(all)
  })

  /** Staging comes before the import and is not counted. */
  const ofFile = async (count: number) => {
    const machine = createImporter()
    const id = await seedStarted(shop, buildRows(count, { 'item.quantity': 2 }))
    await machine.take(buildMessage(id))
    expect(await loadImport(id)).toMatchObject({ status: 'completed', created_orders: count })
    const { queries, round_trips, rows_written } = machine.meter
    return { rows_written, queries, round_trips }
  }

  it('are as many for an order of a file', async () => {
    const [one, more] = [await ofFile(1), await ofFile(21)]
    expect((more.rows_written - one.rows_written) / 20).toBe(all)
  })

  it('are no more for a file than for calls', async () => {
    const [{ rows_written: some }, { rows_written: more }] = [await ofFile(25), await ofFile(225)]
    expect(some).toBeLessThanOrEqual(await ofCall(25))
    // Each transaction of 25 orders also stores the progress of the import.
    expect(more - some).toBeLessThanOrEqual(2 * (await ofCall(100)) + 8)
  })

  it('take a fixed number of statements and round trips for every 25 orders', async () => {
    const [some, more] = [await ofFile(25), await ofFile(125)]
    // Nothing is read for numbers, locations and options that no order names.
    const reads = { orders: 1, customers: 1, earlier_addresses: 1, products: 1 }
    const writes = { import: 1, rows: 5, no_hashes: 1, outcomes: 1 }
    const statements = [...Object.values(reads), ...Object.values(writes)].reduce((sum, count) => sum + count, 0)
    // Orders with their rows are read for four transactions at once.
    expect(more.queries - some.queries).toBe(4 * statements + 1)
    // Each transaction also reads what the next one needs.
    expect(more.round_trips - some.round_trips).toBe(4)
  })
})
