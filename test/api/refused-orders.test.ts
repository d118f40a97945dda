import { describe, expect, it } from 'vitest'
import { call, get, type Reply } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { countContents } from '../support/orders.ts'
import { describeRefusal } from '../support/refusals.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const nothing = { orders: 0, purchases: 0, users: 0, products: 0 }
const refused = () => anOrder({ currency: 'jpy' })

const listActions = (reply: Reply): string[] => reply.body.results.map((result: { action: string }) => result.action)

async function loadImport(shop: Shop) {
  const { body } = await get(`/v1/data-imports?edition_id=${shop.edition_id}`)
  expect(body.count).toBe(1)
  return body.results[0]
}

async function givenConfirmed() {
  const shop = await seedShop()
  const order = anOrder({ status: 'confirmed' })
  await importOrders(shop, [order])
  return { shop, order }
}

describe('importExternalOrders', () => {
  it('answers 422 when every order is refused, with errors at the orders and the import as in a 201', async () => {
    const shop = await seedShop()
    const reply = await importOrders(shop, [refused(), { external_id: 'x' }])
    expect(describeRefusal(reply)).toMatch(/^422 orders_refused: /)
    expect(reply.body.detail).toContain('eur, usd')
    const pointers = reply.body.errors.map((error: { pointer: string }) => error.pointer)
    expect(pointers).toContain('#/orders/0/currency')
    expect(pointers).toContain('#/orders/1/currency')
    const { data_import } = reply.body
    expect(data_import).toMatchObject({ status: 'failed', total_rows: 2, created_orders: 0, failed_orders: 2 })
    expect(listActions(reply)).toEqual(['error', 'error'])
    expect(await loadImport(shop)).toMatchObject({
      id: data_import.id,
      status: 'failed',
      failed_orders: 2,
      progress: 1,
      allowed_actions: [],
    })
    expect(await countContents(shop)).toEqual({ ...nothing, data_imports: 1 })
    expect(await listEntries(reply)).toMatchObject([{ action: 'importExternalOrders', resource_id: data_import.id }])
  })

  it('answers a dry run with 422 too, and stores nothing', async () => {
    const shop = await seedShop()
    const reply = await importOrders(shop, [refused()], { dry_run: true })
    expect([reply.status, reply.body.data_import]).toMatchObject([422, { id: null, dry_run: true, status: 'failed' }])
    expect(await countContents(shop)).toEqual({ ...nothing, data_imports: 0 })
  })

  it('answers 422 when all orders exist already and duplicates are errors', async () => {
    const shop = await seedShop()
    const order = anOrder()
    expect((await importOrders(shop, [order])).status).toBe(201)
    const reply = await importOrders(shop, [order], { on_duplicate: 'error' })
    expect(reply.status).toBe(422)
    expect(reply.body.errors).toMatchObject([{ code: 'duplicate_in_edition', pointer: '#/orders/0/external_id' }])
  })

  it('answers 201 when an order is stored beside a refused one', async () => {
    const created = await importOrders(await seedShop(), [refused(), anOrder()])
    expect([created.status, created.body.status]).toEqual([201, 'completed_with_errors'])
  })

  it('answers 201 when an order that exists is skipped, beside a refused one or alone', async () => {
    const { shop, order } = await givenConfirmed()
    const skipped = await importOrders(shop, [order, refused()])
    expect([skipped.status, skipped.body.status]).toEqual([201, 'completed_with_errors'])
    const allSkipped = await importOrders(shop, [order])
    expect([allSkipped.status, allSkipped.body.status]).toEqual([201, 'completed'])
  })

  it('answers 201 when an order that exists is updated beside a refused one', async () => {
    const { shop, order } = await givenConfirmed()
    const updated = await importOrders(shop, [{ ...order, status: 'completed' }, refused()], { on_duplicate: 'update' })
    expect([updated.status, listActions(updated)]).toEqual([201, ['updated', 'error']])
  })

  it('points at every one of a hundred refused orders, with a hundred errors', async () => {
    const reply = await importOrders(
      await seedShop(),
      Array.from({ length: 100 }, () => ({})),
    )
    expect([reply.status, reply.body.errors.length]).toEqual([422, 100])
    const orders = reply.body.errors.map(({ pointer }: { pointer: string }) => pointer.split('/')[2])
    expect(new Set(orders).size).toBe(100)
  })

  it('repeats the refusal for the same Idempotency-Key, and stores one import', async () => {
    const shop = await seedShop()
    const send = {
      body: { ...shop, source: 'webshop', orders: [refused()] },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }
    const first = await call('/v1/data-imports/external-orders', send)
    const second = await call('/v1/data-imports/external-orders', send)
    expect([first.status, second.status, second.text]).toEqual([422, 422, first.text])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await countContents(shop)).toEqual({ ...nothing, data_imports: 1 })
  })
})
