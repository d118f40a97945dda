import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { loadPurchase, scan } from '../support/purchases.ts'
import { db, formatHourFromNow } from '../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop, givenTicket } from '../support/seeding/sales/orders.ts'
import { listPurchaseEvents } from '../support/webhook-rows.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
})

describe('importExternalOrders', () => {
  it('never changes the status or the uses of a purchase that was used or has expired', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 2 })
    await scan(ticket.id)
    await ticket.again({ status: 'completed' })
    expect(await loadPurchase(ticket.id)).toMatchObject({ status: 'active', uses_count: 1 })
    await scan(ticket.id)
    await ticket.again({ status: 'cancelled' })
    expect(await loadPurchase(ticket.id)).toMatchObject({ status: 'used', uses_count: 2 })
    const expired = await givenTicket(shop)
    await db.batch([sql`update purchases set status = 'expired' where id = ${expired.id}`])
    await expired.again({ status: 'cancelled' })
    expect(await loadPurchase(expired.id)).toMatchObject({ status: 'expired' })
  })

  it('announces nothing when an order is cancelled a second time', async () => {
    const ticket = await givenTicket(shop)
    await ticket.again({ status: 'cancelled' })
    const { order_id } = await loadPurchase(ticket.id)
    const before = (await listPurchaseEvents(shop.organization_id)).length
    await ticket.again({ status: 'cancelled' })
    expect((await get(`/v1/orders/${order_id}`)).body.purchases).toMatchObject([{ id: ticket.id, status: 'cancelled' }])
    expect(await listPurchaseEvents(shop.organization_id)).toHaveLength(before)
  })

  it('changes the validity of existing tickets', async () => {
    const item = { product: 'Day ticket', quantity: 1, unit_price: 225 }
    const ticket = await givenTicket(shop, { valid_until: '2026-02-01T00:00:00Z' })
    const valid_until = formatHourFromNow()
    await ticket.again({ items: [{ ...item, valid_until }] })
    expect((await get(`/v1/purchases/${ticket.id}`)).body).toMatchObject({ status: 'active', valid_until })
    expect((await scan(ticket.id)).status).toBe(201)
    await ticket.again({ items: [item] })
    expect((await get(`/v1/purchases/${ticket.id}`)).body).toMatchObject({ status: 'used', valid_until: null })
  })

  it('refuses invalid numbers of uses', async () => {
    for (const [uses_limit, code] of [
      [0, 'min_value'],
      [1.5, 'invalid_type'],
      [10_001, 'max_value'],
    ] as const) {
      const items = [{ product: 'Day ticket', quantity: 1, unit_price: 225, uses_limit }]
      const { body } = await importOrders(shop, [anOrder({ items })])
      expect(body.results).toMatchObject([{ action: 'error', errors: [{ code }] }])
    }
  })
})
