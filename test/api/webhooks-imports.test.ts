import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { payloadSchema } from '../../src/modules/webhooks/events/payload-contract.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, listPurchaseEvents, createQuietClient } from '../support/webhook-rows.ts'

let shop: Shop
let client: ReturnType<typeof createQuietClient>
beforeEach(async () => {
  shop = await seedShop()
  client = createQuietClient()
})

const open = { breaker_until: null, is_slow: true }
const place = (edition: string | null = shop.edition_id) => ({ organization: shop.organization_id, edition })

const take = async (orders: unknown[], options: Record<string, unknown> = {}) => {
  const body = { ...shop, source: 'webshop', emit_webhooks: true, orders, ...options }
  const reply = await client.post('/v1/data-imports/external-orders', body)
  expect([reply.status, reply.body.failed_orders]).toEqual([201, 0])
  return reply
}

const announced = async () => {
  const events = await listPurchaseEvents(shop.organization_id)
  return events.map((event) => payloadSchema('purchase.action').strict().parse(JSON.parse(event.payload)))
}

const purchases = () =>
  db.all(
    sql<{
      id: string
      status: string
    }>`select id, status from purchases where edition_id = ${shop.edition_id} order by id`,
  )

describe('importExternalOrders with emit_webhooks', () => {
  it('announces each purchase that becomes active to every subscribed endpoint', async () => {
    const [edition, organisation] = [await seedEndpoint(place(), open), await seedEndpoint(place(null), open)]
    const other = await seedEdition({ id: shop.organization_id })
    const deaf = [
      await seedEndpoint(place(), { ...open, events: ['consent.given'] }),
      // The organisation has five active endpoints, so the request leaves all of them to the queue.
      await seedEndpoint(place(), { ...open, events: ['consent.withdrawn'] }),
      await seedEndpoint(place(), { ...open, is_active: false }),
      await seedEndpoint(place(other.id), open),
      await seedEndpoint({ organization: (await seedShop()).organization_id, edition: null }, open),
    ]
    const item = { product: 'Day ticket', variant: 'Adult', quantity: 2, unit_price: 225, vendor_code: 'DAY' }
    await take([
      anOrder({
        external_id: 'A',
        order_number: '7',
        items: [item, { product: 'Poster', quantity: 1, unit_price: 5 }],
      }),
    ])
    const events = await announced()
    const bought = await purchases()
    expect(
      events
        .map(({ data }) => data)
        .map((data) => (data as { purchase: { id: string } }).purchase.id)
        .toSorted(),
    ).toEqual(bought.map(({ id }) => id))
    expect(events[0]).toMatchObject({
      type: 'purchase.action',
      api_version: 'v1',
      organization_id: shop.organization_id,
      edition_id: shop.edition_id,
      data: {
        action: 'activated',
        purchase: {
          vendor_code: 'DAY',
          status: 'active',
          product: { name: 'Day ticket' },
          variant: { name: 'Adult' },
        },
        order: { order_number: '7' },
        refund_request: null,
      },
    })
    expect(events[2]?.data).toMatchObject({
      purchase: { vendor_code: null, product: { name: 'Poster' }, variant: null },
    })
    for (const endpoint of [edition, organisation]) {
      const rows = await loadDeliveries(endpoint.id)
      expect(rows.map(({ event_id }) => event_id).toSorted()).toEqual(events.map(({ id }) => id))
      expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['pending']))
    }
    for (const endpoint of deaf) expect(await loadDeliveries(endpoint.id)).toEqual([])
    expect(client.enqueued.map(({ endpoint_id }) => endpoint_id).toSorted()).toEqual(
      [edition.id, organisation.id].toSorted(),
    )
  })

  it('announces nothing without the option, for a dry run, or for skipped orders', async () => {
    await seedEndpoint(place(), open)
    const order = anOrder()
    await take([order], { emit_webhooks: false })
    await take([order])
    await take([anOrder()], { dry_run: true })
    expect(await announced()).toEqual([])
    expect(client.enqueued).toEqual([])
  })

  it('announces each change of an update once', async () => {
    const order = anOrder({ external_id: 'U', status: 'pending' })
    const update = (change: Record<string, unknown>) => take([{ ...order, ...change }], { on_duplicate: 'update' })
    const actions = async () =>
      (await announced()).map(({ data }) => {
        const { action, purchase } = data as { action: string; purchase: { status: string; product: { name: string } } }
        return [action, purchase.status, purchase.product.name]
      })
    await take([order])
    expect(await actions()).toEqual([])
    await update({ status: 'confirmed' })
    const first = [1, 2].map(() => ['activated', 'active', 'Day ticket'])
    expect(await actions()).toEqual(first)
    await update({ status: 'confirmed' })
    expect(await actions()).toEqual(first)
    const items = [{ product: 'Poster', quantity: 1, unit_price: 50 }]
    await update({ status: 'completed', items })
    const second = [
      ['cancelled', 'cancelled', 'Day ticket'],
      ['cancelled', 'cancelled', 'Day ticket'],
      ['activated', 'active', 'Poster'],
    ]
    expect((await actions()).slice(2)).toEqual(second)
    await update({ status: 'cancelled', items })
    expect((await actions()).slice(5)).toEqual([['cancelled', 'cancelled', 'Poster']])
    expect((await purchases()).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  it('accepts orders of five thousand units', async () => {
    const endpoint = await seedEndpoint(place(), open)
    const items = ['A', 'B', 'C', 'D', 'E'].map((product) => ({ product, quantity: 1000, unit_price: 1 }))
    await take([anOrder({ items }), anOrder()])
    expect(await announced()).toHaveLength(5002)
    expect(await loadDeliveries(endpoint.id)).toHaveLength(5002)
    expect(client.enqueued.every(({ endpoint_id }) => endpoint_id === endpoint.id)).toBe(true)
  })
})
