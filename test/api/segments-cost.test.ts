import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { listSizes } from '../../src/db/schema/list-sizes.ts'
import { noLists } from '../../src/domain/cel/index.ts'
import { get, patch, post } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { anOrder, seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { calculated, calculator, messageFor, segmentNow } from '../support/segments.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { db } from '../support/seeding/rows.ts'

type Sizes = typeof listSizes.$inferSelect

const nested = 'user.is_active &&\n  purchases.exists(p, purchases.exists(q, q.product_id == p.variant_id))'
const reason =
  'For one person this looks at up to 102,400 combinations (320 purchases × 320 purchases). They have to stay below 100,000: ask for one list at a time, and join the answers with && or ||.'
/** The place of the inner macro in `nested`. */
const place = { line: 2, column: 23, start: nested.lastIndexOf('purchases'), end: nested.length - 1 }

const sizesOf = (organization_id: string) =>
  db.first(sql<Sizes>`select * from list_sizes where organization_id = ${organization_id}`)

const buying = (quantity: number, email: string, change: Record<string, unknown> = {}) =>
  anOrder({ customer: { email }, items: [{ product: 'Day ticket', quantity, unit_price: 1 }], ...change })

/** Of two customers, with lists of every kind. */
const variedOrders = () => [
  buying(3, 'a@example.dk', { metadata: { tags: ['x', 'y', { deep: [1, 2, 3, 4] }] } }),
  buying(2, 'a@example.dk'),
  anOrder({
    customer: { email: 'b@example.dk', metadata: { a: 1, b: 2, c: { d: 1 } } },
    items: [{ product: 'Day ticket', options: ['Early', 'Vegan'], quantity: 4, unit_price: 1 }],
  }),
]

/** A shop one of whose customers has so many purchases, in one order. */
async function givenShopWith(quantity: number): Promise<Shop> {
  const shop = await seedShop()
  expect((await importOrders(shop, [buying(quantity, 'crowd@example.dk')])).body.created_orders).toBe(1)
  return shop
}

const segmentFields = (organization_id: string, expression: string) => ({
  organization_id,
  name: 'Nested',
  communication_type: 'transactional',
  communication_channel: 'email',
  expression,
})

describe('the stored lengths of lists', () => {
  it('are the largest of any one person, and grow with each import', async () => {
    const shop = await seedShop()
    const { organization_id } = shop
    await importOrders(shop, variedOrders())
    const first = { orders: 2, purchases: 5, options: 2, user_metadata: 3, order_metadata: 4 }
    const totals = {
      people: 2,
      all_orders: 3,
      all_purchases: 9,
      campaigns: 0,
    }
    expect(await sizesOf(organization_id)).toEqual({ organization_id, ...first, ...totals })
    await importOrders(shop, [buying(2, 'b@example.dk'), buying(1, 'c@example.dk')])
    expect(await sizesOf(organization_id)).toEqual({
      organization_id,
      ...first,
      purchases: 6,
      people: 3,
      all_orders: 5,
      all_purchases: 12,
      campaigns: 0,
    })
  })

  it('grow when an update adds purchases or moves an order to another customer, and never shrink', async () => {
    const shop = await seedShop()
    const order = buying(2, 'a@example.dk')
    await importOrders(shop, [order, buying(3, 'b@example.dk')])
    const update = (change: Record<string, unknown>) =>
      importOrders(shop, [{ ...order, ...change }], { on_duplicate: 'update' })
    await update({ items: [{ product: 'Day ticket', quantity: 7, unit_price: 1 }] })
    expect(await sizesOf(shop.organization_id)).toMatchObject({ purchases: 7, orders: 1, all_purchases: 10 })
    await update({
      customer: { email: 'b@example.dk' },
      items: [{ product: 'Day ticket', quantity: 7, unit_price: 1 }],
    })
    expect(await sizesOf(shop.organization_id)).toMatchObject({ purchases: 10, orders: 2, all_purchases: 10 })
    await update({ metadata: { list: [1, 2, 3] } })
    expect(await sizesOf(shop.organization_id)).toMatchObject({ purchases: 10, orders: 2, order_metadata: 3 })
  })

  it('count what a new customer gets by an update together with what they buy in the same call', async () => {
    const shop = await seedShop()
    const order = buying(3, 'a@example.dk')
    await importOrders(shop, [order])
    const moved = { ...order, customer: { email: 'new@example.dk' } }
    await importOrders(shop, [moved, buying(2, 'new@example.dk')], { on_duplicate: 'update' })
    expect(await sizesOf(shop.organization_id)).toMatchObject({ purchases: 5, orders: 2, people: 2, all_purchases: 5 })
  })

  it('are not changed by a dry run, or by an order that is skipped or refused', async () => {
    const shop = await seedShop()
    const order = buying(2, 'a@example.dk')
    await importOrders(shop, [buying(9, 'x@example.dk')], { dry_run: true })
    expect(await sizesOf(shop.organization_id)).toBeUndefined()
    await importOrders(shop, [order])
    const before = await sizesOf(shop.organization_id)
    await importOrders(shop, [{ ...order, items: [{ product: 'Day ticket', quantity: 9, unit_price: 1 }] }])
    await importOrders(shop, [buying(9, 'y@example.dk', { currency: 'none' })])
    expect(await sizesOf(shop.organization_id)).toEqual(before)
  })

  it('are written in the transaction of the orders', async () => {
    const shop = await givenShopWith(2)
    await db.batch([
      sql.raw(`create trigger no_sizes before update on list_sizes begin select raise(abort, 'no sizes'); end`),
    ])
    const order = buying(5, 'crowd@example.dk')
    expect((await importOrders(shop, [order])).status).toBe(500)
    await db.batch([sql.raw('drop trigger no_sizes')])
    const count = sql<{
      n: number
    }>`select count(*) as n from purchases where edition_id = ${shop.edition_id}`
    expect((await db.first(count))?.n).toBe(2)
    await importOrders(shop, [order])
    expect((await db.first(count))?.n).toBe(7)
    expect(await sizesOf(shop.organization_id)).toMatchObject({ orders: 2, purchases: 7, all_purchases: 7 })
  })

  it('cost an import one statement, one written row and the rows of its customers', async () => {
    const shop = await givenShopWith(50)
    const cost = costOf(await importOrders(shop, [buying(1, 'crowd@example.dk')]))
    const later = costOf(await importOrders(shop, [buying(1, 'crowd@example.dk')]))
    // One purchase and one order more are counted.
    expect([later.queries, later.rows_written]).toEqual([cost.queries, cost.rows_written])
    expect(later.rows_read - cost.rows_read).toBe(2)
  })

  it('include the campaigns of the organisation', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const { id } = await givenSegment({ organization_id: organisation.id, communication_channel: 'sms' })
    const body = { organization_id: organisation.id, edition_id: edition.id, segment_id: id, channel: 'sms' }
    for (const name of ['One', 'Two'])
      expect((await post('/v1/campaigns', { ...body, name, sms_body: { en: 'Hello' } })).status).toBe(201)
    expect(await sizesOf(organisation.id)).toEqual({
      ...noLists,
      organization_id: organisation.id,
      campaigns: 2,
      people: 0,
      all_orders: 0,
      all_purchases: 0,
    })
  })
})

describe('an expression that takes too long for the lists of its organisation', () => {
  it('is refused with place and reason when it is saved, and nothing is saved', async () => {
    const { organization_id } = await givenShopWith(320)
    const refused = await post('/v1/segments', segmentFields(organization_id, nested))
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_error'])
    const error = { code: 'cost_exceeded', detail: reason, attr: 'expression', pointer: '#/expression', ...place }
    expect(refused.body.errors).toEqual([error])
    expect((await get(`/v1/segments?organization_id=${organization_id}`)).body.count).toBe(0)

    const segment = await givenSegment({ organization_id })
    const changed = await patch(`/v1/segments/${segment.id}`, { name: 'Other', expression: nested })
    expect([changed.status, changed.body.errors]).toEqual([400, [error]])
    expect(await segmentNow(segment.id)).toMatchObject({ name: 'Everyone', version: 1 })
  })

  it('is refused by the validation, without an estimate', async () => {
    const { organization_id, edition_id } = await givenShopWith(320)
    for (const where of [{ organization_id }, { edition_id }]) {
      const { status, body } = await post('/v1/segments/validate-cel', { ...where, expression: nested })
      expect([status, body.is_valid, body.estimated_user_count, body.is_estimate]).toEqual([200, false, null, false])
      expect(body.errors).toEqual([{ code: 'cost_exceeded', message: reason, ...place }])
    }
  })

  it('is accepted where the lists are shorter, for any lists of other organisations', async () => {
    await givenShopWith(320)
    const { organization_id } = await givenShopWith(300)
    const segment = await givenSegment(segmentFields(organization_id, nested))
    expect(await calculated(segment.id)).toMatchObject({ status: 'ready' })
    const { body } = await post('/v1/segments/validate-cel', { organization_id, expression: nested })
    expect(body).toMatchObject({ is_valid: true, errors: [], estimated_user_count: 0 })
  })

  it('makes a calculation fail when the lists have grown, with the same message', async () => {
    const shop = await givenShopWith(300)
    const segment = await givenSegment(segmentFields(shop.organization_id, nested))
    await importOrders(shop, [buying(20, 'crowd@example.dk')])
    expect(await calculated(segment.id)).toMatchObject({ status: 'failed', error_message: reason, members_epoch: 0 })
    expect((await get(`/v1/segments/${segment.id}`)).body).toMatchObject({ status: 'failed', error_message: reason })
  })

  it('ends a running calculation, and keeps the old members', async () => {
    const shop = await givenShopWith(300)
    const expression = 'user.is_active || purchases.exists(p, purchases.exists(q, q.product_id == p.variant_id))'
    await seedPeople({ organization: shop.organization_id }, [{}, {}, {}])
    const segment = await givenSegment(segmentFields(shop.organization_id, expression))
    expect(await calculated(segment.id)).toMatchObject({ status: 'ready', user_count: 4 })
    await post(`/v1/segments/${segment.id}/recalculate`, undefined)
    const machine = calculator()
    const message = messageFor(await segmentNow(segment.id))
    await machine.takeDying([message], 2, { roundTrip: 2, when: 'after' })
    expect(await segmentNow(segment.id)).toMatchObject({ status: 'calculating', walked_count: 2 })
    await importOrders(shop, [buying(20, 'crowd@example.dk')])
    await machine.take([message], 2)
    expect(await segmentNow(segment.id)).toMatchObject({ status: 'failed', user_count: 4, members_epoch: 1 })
  })

  it('is refused by explainSegment too', async () => {
    const shop = await givenShopWith(300)
    const segment = await givenSegment(segmentFields(shop.organization_id, nested))
    const user = await db.first(
      sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}`,
    )
    const explain = () => get(`/v1/segments/${segment.id}/explain?user_id=${user?.id}`)
    expect((await explain()).status).toBe(200)
    await importOrders(shop, [buying(20, 'crowd@example.dk')])
    const { status, body } = await explain()
    expect([status, body.code, body.detail]).toEqual([400, 'validation_error', reason])
  })
})
