import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, get } from '../support/api.ts'
import { countContents } from '../support/orders.ts'
import { anOrder, seedShop, importOrders } from '../support/seeding/sales/orders.ts'

describe('importExternalOrders', () => {
  it('makes one order when simultaneous calls send the same id', async () => {
    const shop = await seedShop()
    const orders = Array.from({ length: 30 }, (_, at) =>
      anOrder({
        external_id: `race-${at}`,
        customer: { email: `race-${at % 4}@example.dk` },
        items: [{ product: `P${at % 3}`, variant: `V${at % 2}`, quantity: 1, unit_price: 1 }],
      }),
    )
    const replies = await Promise.all(Array.from({ length: 6 }, () => importOrders(shop, orders)))
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 201, 201, 201, 201])
    const created = replies.reduce((sum, reply) => sum + reply.body.created_orders, 0)
    expect(created).toBe(30)
    expect(await countContents(shop)).toMatchObject({ orders: 30, purchases: 30, users: 4, products: 3 })
    const ids = new Set(
      replies.flatMap((reply) => reply.body.results.map((result: { order_id: string }) => result.order_id)),
    )
    expect(ids.size).toBe(30)
  })

  it('answers a repeated call with the same key alike, and makes nothing twice', async () => {
    const shop = await seedShop()
    const send = {
      method: 'POST',
      body: { ...shop, source: 'webshop', orders: [anOrder(), anOrder()] },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }
    const first = await call('/v1/data-imports/external-orders', send)
    const second = await call('/v1/data-imports/external-orders', send)
    expect(second.text).toBe(first.text)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await countContents(shop)).toMatchObject({ orders: 2, data_imports: 1 })
  })

  it('keeps orders, payments and purchases consistent through any sequence of updates', async () => {
    const item = fc.record({
      product: fc.constantFrom('A', 'B'),
      quantity: fc.integer({ min: 1, max: 3 }),
      unit_price: fc.constantFrom(0, 1.25, 10),
    })
    const step = fc.record({
      id: fc.constantFrom('1', '2'),
      status: fc.constantFrom('pending', 'confirmed', 'completed', 'cancelled'),
      items: fc.array(item, { minLength: 1, maxLength: 3 }),
      on_duplicate: fc.constantFrom('skip', 'update', 'error'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const shop = await seedShop()
        for (const { id, status, items, on_duplicate } of steps) {
          const customer = { email: `${id}@example.dk` }
          const { status: answer } = await importOrders(shop, [anOrder({ external_id: id, status, items, customer })], {
            on_duplicate,
          })
          expect([201, 422]).toContain(answer)
        }
        const list = await get(`/v1/orders?edition_id=${shop.edition_id}`)
        expect(list.body.count).toBe(new Set(steps.map((step_) => step_.id)).size)
        for (const { id } of list.body.results) {
          const { body } = await get(`/v1/orders/${id}`)
          const live = body.purchases.filter((purchase: { status: string }) => purchase.status !== 'cancelled')
          const paid = live.reduce(
            (sum: number, purchase: { price_paid: number }) => sum + Math.round(purchase.price_paid * 100),
            0,
          )
          expect(body.transactions).toHaveLength(1)
          expect(body.transactions[0].amount).toBe(body.amount)
          expect(body.cart.total).toBe(body.amount)
          if (body.status !== 'cancelled') expect(paid).toBe(Math.round(body.amount * 100))
          else expect(live).toEqual([])
        }
      }),
      { numRuns: 12 },
    )
  })
})
