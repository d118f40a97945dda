import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { callWith, get } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, seedShop, type Shop, givenOrder } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { listPurchaseEvents } from '../support/webhook-rows.ts'

const order = (change: Record<string, unknown> = {}) =>
  anOrder({
    external_id: 'same',
    status: 'confirmed',
    customer: { email: 'buyer@example.dk' },
    items: [{ product: 'Day ticket', quantity: 2, unit_price: 100 }],
    ...change,
  })

async function givenPaid(change: Record<string, unknown> = {}) {
  const shop = await seedShop()
  const { order: id, purchases } = await givenOrder(shop, order(change))
  const [first = '', second = ''] = purchases
  return { shop, id, first, second }
}

const pay = (orderId: string, status: string, refunded = 0) =>
  write(sql`update transactions set status = ${status}, refunded_minor = ${refunded} where order_id = ${orderId}`)
const move = (purchaseId: string, status: string) =>
  write(sql`update purchases set status = ${status} where id = ${purchaseId}`)

const paymentOf = (orderId: string) =>
  db.first(
    sql<{
      status: string
      amount_minor: number
      refunded_minor: number
    }>`select status, amount_minor, refunded_minor from transactions where order_id = ${orderId}`,
  )
const readStatus = async (purchaseId: string) =>
  (await db.first(sql<{ status: string }>`select status from purchases where id = ${purchaseId}`))?.status

const path = '/v1/data-imports/external-orders'
const buildRequest = (shop: Shop, change: Record<string, unknown>) => ({
  method: 'POST',
  body: { ...shop, source: 'webshop', on_duplicate: 'update', emit_webhooks: true, orders: [order(change)] },
})

/** Imports the update, with `work` between its reads and its writes. */
const importAround = (shop: Shop, change: Record<string, unknown>, work: () => Promise<unknown>) =>
  callWith(interruptDatabase(/^update "orders"/, work), path, buildRequest(shop, change))

const dearer = [{ product: 'Day ticket', quantity: 3, unit_price: 100 }]

describe('an import that updates an order', () => {
  it.each(['partially_refunded', 'refunded', 'failed', 'cancelled'])(
    'changes neither the status nor the amount of a payment that is %s',
    async (status) => {
      const { shop, id } = await givenPaid()
      await pay(id, status, 5000)
      const reply = await callWith({}, path, buildRequest(shop, { status: 'completed', items: dearer }))
      expect(reply.body.updated_orders).toBe(1)
      expect(await paymentOf(id)).toEqual({ status, amount_minor: 20_000, refunded_minor: 5000 })
      const { completed_transaction_id, transactions } = (await get(`/v1/orders/${id}`)).body
      expect(completed_transaction_id).toBe(status.endsWith('refunded') ? transactions[0].id : null)
    },
  )

  it('does not turn a captured payment back into an authorized one', async () => {
    const { shop, id } = await givenPaid()
    await pay(id, 'captured')
    await callWith({}, path, buildRequest(shop, { status: 'confirmed', items: dearer }))
    expect(await paymentOf(id)).toMatchObject({ status: 'captured', amount_minor: 20_000 })
    expect((await get(`/v1/orders/${id}`)).body).toMatchObject({ amount: 300 })
    const [row] = (await get(`/v1/orders?edition_id=${shop.edition_id}`)).body.results
    expect(row.has_payment).toBe(true)
  })

  it('moves a payment forward with its order', async () => {
    const { shop, id } = await givenPaid({ status: 'pending' })
    for (const [status, payment] of [
      ['confirmed', 'authorized'],
      ['completed', 'captured'],
      ['cancelled', 'cancelled'],
    ]) {
      await callWith({}, path, buildRequest(shop, { status, items: dearer }))
      expect(await paymentOf(id)).toMatchObject({ status: payment, amount_minor: 30_000 })
    }
  })

  it.each(['partially_refunded', 'refunded'])(
    'does not change a payment that becomes %s while the import decides',
    async (status) => {
      const { shop, id } = await givenPaid()
      const reply = await importAround(shop, { status: 'completed', items: dearer }, () => pay(id, status, 5000))
      expect([reply.status, reply.body.updated_orders]).toEqual([201, 1])
      expect(await paymentOf(id)).toEqual({ status, amount_minor: 20_000, refunded_minor: 5000 })
      const row = await db.first(sql<{ has_payment: number }>`select has_payment from orders where id = ${id}`)
      expect(row?.has_payment).toBe(status === 'partially_refunded' ? 1 : 0)
    },
  )

  it.each(['used', 'refunded', 'expired'])('does not change a purchase that is %s', async (status) => {
    const { shop, id, first, second } = await givenPaid()
    await move(first, status)
    await callWith({}, path, buildRequest(shop, { status: 'completed' }))
    expect([await readStatus(first), await readStatus(second)]).toEqual([status, 'active'])
    await callWith({}, path, buildRequest(shop, { status: 'cancelled' }))
    expect([await readStatus(first), await readStatus(second)]).toEqual([status, 'cancelled'])
    expect((await get(`/v1/orders/${id}`)).body.status).toBe('cancelled')
  })

  it.each(['used', 'refunded', 'expired'])(
    'does not change a purchase that becomes %s while the import decides, and announces only the others',
    async (status) => {
      const { shop, first, second } = await givenPaid()
      await seedEndpoint({ organization: shop.organization_id, edition: shop.edition_id }, { breaker_until: null })
      const reply = await importAround(shop, { status: 'cancelled' }, () => move(first, status))
      expect([reply.status, reply.body.updated_orders]).toEqual([201, 1])
      expect([await readStatus(first), await readStatus(second)]).toEqual([status, 'cancelled'])
      const events = await listPurchaseEvents(shop.organization_id)
      expect(events.map(({ payload }) => JSON.parse(payload).data.purchase.id)).toEqual([second])
    },
  )
})
