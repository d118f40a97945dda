import { describe, expect, it } from 'vitest'
import { readCost } from '../support/cost.ts'
import { countContents } from '../support/orders.ts'
import { describeRefusal } from '../support/refusals.ts'
import { anOrder, seedShop, importOrders } from '../support/seeding/sales/orders.ts'

const items = (...quantities: number[]) =>
  quantities.map((quantity) => ({ product: 'Day ticket', quantity, unit_price: 1 }))
const buildLargestOrder = () => anOrder({ items: items(1000, 1000, 1000, 1000, 1000) })

describe('importExternalOrders', () => {
  it('refuses a call of more than 20,000 units, points at the first item beyond them, and writes nothing', async () => {
    const shop = await seedShop()
    const reply = await importOrders(shop, [
      buildLargestOrder(),
      buildLargestOrder(),
      buildLargestOrder(),
      buildLargestOrder(),
      anOrder({ items: items(1, 1) }),
    ])
    expect(describeRefusal(reply)).toBe('400 validation_error: max_value #/orders/4/items/0/quantity')
    expect(reply.body.errors[0].attr).toBe('orders.4.items.0.quantity')
    expect(await countContents(shop)).toEqual({ orders: 0, purchases: 0, users: 0, products: 0, data_imports: 0 })
    expect(readCost(reply).rows_written).toBe(0)
  })

  it('counts the units of invalid orders and of dry runs too', async () => {
    const shop = await seedShop()
    const bad = anOrder({ currency: 'jpy', items: items(1000, 1000, 1000, 1000, 1000) })
    const reply = await importOrders(
      shop,
      [bad, buildLargestOrder(), buildLargestOrder(), buildLargestOrder(), anOrder({ items: items(1) })],
      {
        dry_run: true,
      },
    )
    expect(reply.body.errors?.[0]?.pointer).toBe('#/orders/4/items/0/quantity')
  })

  it('fails only its own order when one quantity is beyond the limit of an item', async () => {
    const shop = await seedShop()
    const invalidOrders = [1e9, 1e308, -5, 1.5, '7', null, {}].map((quantity) =>
      anOrder({ items: [{ product: 'Day ticket', quantity, unit_price: 1 }] }),
    )
    const reply = await importOrders(shop, [...invalidOrders, anOrder()])
    expect([reply.status, reply.body.created_orders, reply.body.failed_orders]).toEqual([201, 1, invalidOrders.length])
  })

  it('accepts exactly 20,000 units', async () => {
    const shop = await seedShop()
    const reply = await importOrders(
      shop,
      [buildLargestOrder(), buildLargestOrder(), buildLargestOrder(), buildLargestOrder()],
      { dry_run: true },
    )
    expect([reply.status, reply.body.created_orders]).toEqual([201, 4])
  })
})
