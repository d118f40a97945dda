import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { sweepImportData } from '../../../src/modules/data-imports/jobs.ts'
import { get, post } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { expectWhole, listRecords } from '../../support/consents.ts'
import { countContents } from '../../support/orders.ts'
import { finishErasures } from '../../support/personal-data.ts'
import { scan } from '../../support/purchases.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../../support/seeding/webhooks.ts'
import { givenTwo, loadCustomer } from '../../support/shared-customers.ts'
import { dumpBeside, listUndone, undoToEnd } from '../../support/undone-imports.ts'
import { listPurchaseEvents } from '../../support/webhook-rows.ts'

checkSalesCounts()

const dayMs = 86_400_000

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const update = { on_duplicate: 'update' }

const listRows = async (id: string, query = '') => {
  const reply = await get(`/v1/data-imports/${id}/rows${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body.results
}

describe('the undo of a call that imported orders', () => {
  it('deletes orders, customers and products that the call created', async () => {
    const before = await dumpBeside()
    const orders = Array.from({ length: 60 }, () => anOrder())
    const { body } = await importOrders(shop, [...orders, anOrder({ currency: 'xyz' })])
    expect(body).toMatchObject({ created_orders: 60, failed_orders: 1 })
    const stored = await get(`/v1/data-imports/${body.id}`)
    expect(stored.body.allowed_actions).toContain('undo')
    expect(Date.parse(stored.body.undo_until) - Date.parse(stored.body.created)).toBeGreaterThan(29 * dayMs)
    expect(await undoToEnd(body.id)).toMatchObject({ status: 'undone', undone_orders: 60, kept_orders: 0 })
    expect(await dumpBeside()).toEqual(before)
    expect((await get(`/v1/data-imports/${body.id}`)).body).toMatchObject({ status: 'undone', undone_orders: 60 })
  })

  it('restores orders that the call updated, with their customers and consents', async () => {
    const consent = (await givenConsent(shop.organization_id, {})) as { id: string; key: string }
    await write(
      sql`update consents set created_at = 0 where id = ${consent.id}`,
      sql`update consent_versions set created_at = 0 where consent_id = ${consent.id}`,
    )
    const order = (change: Record<string, unknown>) =>
      anOrder({
        external_id: 'A-1',
        created: '2026-01-05T10:00:00Z',
        customer: { email: 'anna@example.dk' },
        ...change,
      })
    await importOrders(shop, [order({ order_number: 'N-1' })])
    const before = await dumpBeside()
    const change = {
      order_number: 'N-2',
      customer: { email: 'anna@example.dk', first_name: 'Anna', phone_number: '+4520304050' },
      consents: { [consent.key]: true },
      items: [{ product: 'Camping', quantity: 3, unit_price: 100 }],
    }
    const { body } = await importOrders(shop, [order(change)], update)
    const { id: user } = await loadCustomer(shop, 'anna@example.dk')
    expect((await listRecords(user, consent.id)).map(({ status }) => status)).toEqual(['given'])
    expect(await undoToEnd(body.id)).toMatchObject({ undone_orders: 1, kept_orders: 0 })
    expect(await dumpBeside()).toEqual(before)
    await expectWhole(shop.organization_id)
  })

  it('keeps what changed since, and lists its orders with the reason', async () => {
    const orders = Array.from({ length: 3 }, () => anOrder())
    const { body } = await importOrders(shop, orders)
    const [, changed, used] = body.results.map(({ order_id }: { order_id: string }) => order_id)
    await importOrders(shop, [{ ...orders[1], order_number: 'N-9' }], update)
    const purchase = await db.first(sql<{ id: string }>`select id from purchases where order_id = ${used}`)
    await scan(purchase?.id ?? '', { quantity: 1 })
    expect(await undoToEnd(body.id)).toMatchObject({ undone_orders: 1, kept_orders: 2 })
    expect(await listRows(body.id)).toMatchObject([
      { row_number: 1, outcome: 'created', undo_outcome: 'undone', undo_reason: null, values: {} },
      { row_number: 2, order_id: changed, undo_outcome: 'kept', undo_reason: 'order_changed' },
      { row_number: 3, order_id: used, undo_outcome: 'kept', undo_reason: 'purchase_used' },
    ])
    expect(await listRows(body.id, `?order_id=${used}`)).toMatchObject([{ row_number: 3 }])
    expect(await listRows(body.id, '?outcome=updated')).toEqual([])
    expect(await listRows(body.id, '?has_errors=true')).toEqual([])
    expect(await listRows(body.id, '?outcome=created&page_size=2')).toHaveLength(2)
  })

  it('takes back an order that the call has twice', async () => {
    const before = await dumpBeside()
    const order = anOrder()
    const { body } = await importOrders(shop, [order, anOrder(), { ...order, order_number: 'N-1' }], update)
    expect(body).toMatchObject({ created_orders: 2, updated_orders: 1 })
    expect(await undoToEnd(body.id)).toMatchObject({ undone_orders: 3, kept_orders: 0 })
    expect(await dumpBeside()).toEqual(before)
  })

  it('records nothing of a dry run and of skipped orders', async () => {
    const order = anOrder()
    await importOrders(shop, [order])
    const count = () => db.first(sql<{ n: number }>`select count(*) as n from import_orders`)
    const before = await count()
    await importOrders(shop, [anOrder()], { dry_run: true })
    await importOrders(shop, [order])
    expect(await count()).toEqual(before)
  })

  it('announces cancelled purchases if the call announced its own', async () => {
    await seedEndpoint(
      { organization: shop.organization_id, edition: shop.edition_id },
      { events: ['purchase.action'] },
    )
    const [loud, silent] = [
      await importOrders(shop, [anOrder()], { emit_webhooks: true }),
      await importOrders(shop, [anOrder()]),
    ]
    await undoToEnd(loud.body.id)
    await undoToEnd(silent.body.id)
    const events = await listPurchaseEvents(shop.organization_id)
    const actions = events.map(({ payload }) => JSON.parse(payload).data.action)
    expect(actions.toSorted()).toEqual(['activated', 'activated', 'cancelled', 'cancelled'])
  })

  it('changes nothing that belongs to the organisation when a role of an edition asks for it', async () => {
    const two = await givenTwo()
    const email = 'returning@example.dk'
    await importOrders(two.theirs, [anOrder({ customer: { email } })])
    const { body } = await importOrders(two.mine, [anOrder({ customer: { email, first_name: 'Ægir' } })])
    expect(await undoToEnd(body.id, two.manager)).toMatchObject({ undone_orders: 1, shared_customer_orders: 1 })
    expect(await loadCustomer(two.mine, email)).toMatchObject({ first_name: 'Ægir' })
    const other = await seedShop()
    expect((await post(`/v1/data-imports/${body.id}/undo`, undefined, (await givenTwo()).manager)).status).toBe(404)
    expect(await countContents(other)).toMatchObject({ orders: 0 })
  })
})

describe('what is stored to undo a call', () => {
  const countStored = (id: string) =>
    db.first(sql<{ n: number }>`select count(*) as n from import_orders where import_id = ${id}`)

  it('is deleted after 30 days', async () => {
    const { body } = await importOrders(shop, [anOrder()])
    await sweepImportData(createJob({ now: () => Date.now() + 29 * dayMs }))
    expect(await countStored(body.id)).toEqual({ n: 1 })
    await sweepImportData(createJob({ now: () => Date.now() + 31 * dayMs }))
    expect(await countStored(body.id)).toEqual({ n: 0 })
    expect((await post(`/v1/data-imports/${body.id}/undo`, undefined)).status).toBe(409)
    expect((await get(`/v1/data-imports/${body.id}/rows`)).body.code).toBe('import_data_deleted')
  })

  it('says nothing of an erased person whose ticket a later call gave to somebody else', async () => {
    const email = 'erased@example.dk'
    await importOrders(shop, [anOrder({ customer: { email } })])
    const { id } = await loadCustomer(shop, email)
    const order = (user: Record<string, unknown>) =>
      anOrder({ external_id: 'A-1', customer: { email: 'bo@example.dk' }, items: [{ ...item, user }] })
    const item = { product: 'Day ticket', quantity: 1, unit_price: 225 }
    const { body } = await importOrders(shop, [order({ email, first_name: 'Unmistakable' })])
    await importOrders(shop, [order({ email: 'eva@example.dk' })], update)
    const texts = async () => JSON.stringify(await listUndone(body.id))
    expect(await texts()).toContain('Unmistakable')
    expect((await post(`/v1/user/${id}/erase`, {})).status).toBe(200)
    await finishErasures()
    expect(await texts()).not.toContain('Unmistakable')
  })

  it('says nothing of a person after their erasure', async () => {
    const customer = { email: 'erased@example.dk' }
    await importOrders(shop, [anOrder({ external_id: 'A-1', customer })])
    const named = { ...customer, first_name: 'Unmistakable', phone_number: '+4520304050' }
    const { body } = await importOrders(shop, [anOrder({ external_id: 'A-1', customer: named })], update)
    const texts = async () => JSON.stringify(await listUndone(body.id))
    expect(await texts()).toContain('Unmistakable')
    const { id } = await loadCustomer(shop, customer.email)
    expect((await post(`/v1/user/${id}/erase`, {})).status).toBe(200)
    await finishErasures()
    expect(await texts()).not.toMatch(/Unmistakable|erased@example|20304050/)
    await undoToEnd(body.id)
    expect((await listUndone(body.id)).map(({ undo_reason }) => undo_reason)).toEqual(['customer_erased'])
  })
})
