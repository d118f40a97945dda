import { beforeEach, describe, expect, it } from 'vitest'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { importer, importNow, messageOf } from '../support/staged-imports.ts'
import { many, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { beginUndo } from '../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

/** Rows that the work on an import reads, an order. */
async function readAnOrder(id: string, orders: number): Promise<number> {
  const machine = importer()
  await machine.take(messageOf(id, (await importNow(id)).epoch))
  for (let next = machine.enqueued.shift(); next; next = machine.enqueued.shift()) await machine.take(next)
  return machine.meter.rows_read / orders
}

async function costsOf(orders: number): Promise<{ import: number; undo: number }> {
  const id = await seedStarted(shop, many(orders))
  const cost = await readAnOrder(id, orders)
  expect(await importNow(id)).toMatchObject({ status: 'completed', created_orders: orders })
  await beginUndo(id)
  const undo = await readAnOrder(id, orders)
  expect(await importNow(id)).toMatchObject({ status: 'undone', undone_orders: orders })
  return { import: cost, undo }
}

describe('an import of many orders', () => {
  it('reads as many rows for an order as a small import, and so does its undo', async () => {
    await costsOf(1)
    const [small, large] = [await costsOf(50), await costsOf(400)]
    expect(large.import).toBeLessThan(1.1 * small.import)
    expect(large.undo).toBeLessThan(1.1 * small.undo)
  })
})
