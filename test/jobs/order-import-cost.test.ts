import { beforeEach, describe, expect, it } from 'vitest'
import { costOf } from '../support/cost.ts'
import { anOrder, givenOrders, seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { importer, importNow, messageOf } from '../support/staged-imports.ts'
import { many, seedStarted } from '../support/seeding/imports/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
  await givenOrders(shop, [anOrder()])
})

/** Rows that each further order writes, of a customer of its own who buys two day tickets. */
const rowsAnOrder = {
  /** With one index an ordering or filter of the lists of an edition, which those of its organisation merge. */
  order: 10,
  payment: 1,
  purchases: 2 * 4,
  customer: 7,
  customer_of_edition: 3,
  /** One for the order and one for the customer, however long their texts are. */
  search_index: 2,
}
const all = Object.values(rowsAnOrder).reduce((sum, rows) => sum + rows, 0)

describe('the rows written for an imported order', () => {
  it('are those of its tables and of the indexes of lists', async () => {
    const cost = async (count: number) =>
      costOf(
        await importOrders(
          shop,
          Array.from({ length: count }, () => anOrder()),
        ),
      ).rows_written
    const [one, more] = [await cost(1), await cost(21)]
    expect((more - one) / 20).toBe(all)
  })

  /** Of the import of staged rows: staging is before it. */
  const ofFile = async (count: number) => {
    const machine = importer()
    const id = await seedStarted(shop, many(count, { 'item.quantity': 2 }))
    await machine.take(messageOf(id))
    expect(await importNow(id)).toMatchObject({ status: 'completed', created_orders: count })
    return machine.meter
  }

  it('are the same for an import of a file, which stores what it created once a transaction', async () => {
    const [one, more] = [await ofFile(1), await ofFile(21)]
    expect((more.rows_written - one.rows_written) / 20).toBe(all)
  })

  it('are no more for an import of a file than for calls with the same commits', async () => {
    const calls = async (count: number) => {
      const made = Array.from({ length: count }, () => anOrder())
      return costOf(await importOrders(shop, made)).rows_written
    }
    const [{ rows_written: some }, { rows_written: more }] = [await ofFile(25), await ofFile(125)]
    expect(some).toBeLessThanOrEqual(await calls(25))
    // Each transaction of 25: the import with its position, what it created, the lengths of lists, and two spans.
    expect(more - some).toBe(100 * all + 4 * 5)
    // A call notes itself once for four transactions.
    expect(more - some - (await calls(100))).toBeLessThanOrEqual(2)
  })

  it('take a fixed number of statements and round trips a transaction', async () => {
    const [some, more] = [await ofFile(25), await ofFile(125)]
    // Of what no order names, such as numbers, locations and options, nothing is read.
    const reads = { orders: 1, customers: 1, products: 1 }
    const writes = { import: 1, rows: 5, order_counts: 1, list_sizes: 1, no_hashes: 1, created: 1 }
    const statements = [...Object.values(reads), ...Object.values(writes)].reduce((sum, count) => sum + count, 0)
    // Orders and their rows are read for four transactions.
    expect(more.queries - some.queries).toBe(4 * statements + 2)
    // Each transaction reads what the next one needs.
    expect(more.round_trips - some.round_trips).toBe(4)
  })
})
