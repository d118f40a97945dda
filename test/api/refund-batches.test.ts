import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import {
  actOnBatch,
  loadBatch,
  consume,
  expectTotalsToBeSums,
  createQuietJob,
  importPaidOrders,
  countRequestsPerPurchase,
  workUntilDone,
} from '../support/refund-batches.ts'
import {
  actOnRefund,
  requestRefund,
  expectCountersToBeSums,
  oneTicket,
  payDueRefunds,
  loadRefundRows,
} from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShopWithAccount, givenOrder, seedShop } from '../support/seeding/sales/orders.ts'
import { makeBatch } from '../support/seeding/sales/refund-batches.ts'

const dkk = (amount: number) => [{ currency: 'dkk', amount }]

describe('createRefundBatch', () => {
  it('counts what would be paid back and why purchases are excluded, and changes nothing', async () => {
    const shop = await seedShopWithAccount('test')
    const { purchases } = await givenOrder(shop)
    await givenOrder(shop, { status: 'pending' })
    await requestRefund({ purchase_id: purchases[0] })
    await importPaidOrders(shop, 3, oneTicket)
    const { status, body } = await makeBatch(shop)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'draft',
      dry_run: {
        orders: 4,
        purchases: 4,
        customers: 4,
        amounts: dkk(3 * 235 + 225),
        left_out: [
          { reason: 'not_held', purchases: 2 },
          { reason: 'already_requested', purchases: 1 },
        ],
      },
      requested: { orders: 0, purchases: 0, amounts: [], left_out: [] },
      requests: [],
    })
    expect(await loadRefundRows(shop)).toHaveLength(1)
    expect(await loadBatch(body.id)).toEqual(body)
  })

  it('counts a customer of several orders once', async () => {
    const shop = await seedShop()
    await importPaidOrders(shop, 3, { customer: { email: 'one@example.dk', first_name: 'Ægir', last_name: 'Holm' } })
    const { body } = await makeBatch(shop)
    expect(body.dry_run).toMatchObject({ orders: 3, customers: 1 })
  })

  it('counts a large edition in the background, with each customer once', async () => {
    const shop = await seedShop()
    await importPaidOrders(shop, 150)
    await importPaidOrders(shop, 120, { customer: { email: 'one@example.dk', first_name: 'Ægir', last_name: 'Holm' } })
    const { body } = await makeBatch(shop)
    expect(body).toMatchObject({ status: 'counting', dry_run: { orders: 100 } })
    expect((await actOnBatch(body.id, 'start')).body.code).toBe('invalid_transition')
    expect(await workUntilDone(body.id)).toMatchObject({
      status: 'draft',
      dry_run: { orders: 270, purchases: 540, customers: 151, amounts: dkk(540 * 225) },
    })
    expect(await db.all(sql`select * from refund_batch_customers where batch_id = ${body.id}`)).toEqual([])
  })

  it('excludes payments of a merchant account that is not ready', async () => {
    const shop = await seedShopWithAccount('test', { is_active: 0 })
    await importPaidOrders(shop, 1)
    expect((await makeBatch(shop)).body.dry_run).toMatchObject({
      orders: 0,
      left_out: [{ reason: 'merchant_not_ready', purchases: 2 }],
    })
  })

  it('selects the purchases of the filter, and rounds a percentage of them half up to the cent', async () => {
    const shop = await seedShop()
    const { order, purchases } = await givenOrder(shop, {
      items: [
        { product: 'Day ticket', quantity: 1, unit_price: 100.01 },
        { product: 'Camping', quantity: 1, unit_price: 50 },
      ],
    })
    const bought = (await get(`/v1/orders/${order}`)).body.purchases
    const day = bought.find((purchase: { product: { name: string } }) => purchase.product.name === 'Day ticket')
    const product_id = day.product.api_id
    const reply = await makeBatch(shop, { filter: { product_id }, amount: 'percent', percent: 50 })
    expect(reply.body).toMatchObject({ amount: 'percent', percent: 50, filter: { product_id, uses: null } })
    expect(reply.body.dry_run).toMatchObject({ purchases: 1, amounts: dkk(50.01) })
    await db.all(sql`update purchases set uses_count = 1 where id = ${day.id}`)
    const unused = await makeBatch(shop, { filter: { uses: 'unused' } })
    expect(unused.body.dry_run).toMatchObject({ purchases: 1, amounts: dkk(50) })
    const lateReply = await makeBatch(shop, { filter: { created_after: '9000-01-01T00:00:00Z' } })
    expect(lateReply.body.dry_run).toMatchObject({ purchases: 0, left_out: [] })
    expect(purchases).toHaveLength(2)
  })

  it('includes the time of created_after and excludes that of created_before', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop, { ...oneTicket, created: '2026-01-01T10:00:00.000Z' })
    const [{ created }] = (await get(`/v1/orders/${order}`)).body.purchases
    const next = new Date(Date.parse(created) + 1).toISOString()
    const count = async (filter: object) => (await makeBatch(shop, { filter })).body.dry_run.purchases
    expect(await count({ created_before: created })).toBe(0)
    expect(await count({ created_after: created, created_before: next })).toBe(1)
    expect(await count({ created_after: next })).toBe(0)
  })

  it('pays service fees back only together with the whole order', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop, { ...oneTicket, service_fee: 12.5 })
    const { purchases } = (await get(`/v1/orders/${order}`)).body
    const withFees = await makeBatch(shop, { include_fees: true })
    expect(withFees.body.dry_run.amounts).toEqual(dkk(252.5))
    await givenOrder(shop, {
      service_fee: 12.5,
      items: [...oneTicket.items, { product: 'Camping', quantity: 1, unit_price: 50, handling_fee: 2 }],
    })
    const filter = { product_id: purchases[0].product.api_id }
    const part = await makeBatch(shop, { include_fees: true, filter })
    expect(part.body.dry_run.amounts).toEqual(dkk(252.5 + 240))
  })

  it('points at each invalid field, and stores nothing', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const { order } = await givenOrder(other)
    const foreign = (await get(`/v1/orders/${order}`)).body.purchases[0].product.api_id
    const refusals = [
      await makeBatch(shop, { filter: { product_id: foreign } }),
      await makeBatch(shop, { amount: 'percent' }),
      await makeBatch(shop, { amount: 'full', percent: 50 }),
      await makeBatch(shop, { amount: 'percent', percent: 12.345 }),
      await makeBatch(shop, { amount: 'percent', percent: 0 }),
      await makeBatch(shop, { reason: 'weather' }),
    ].map(describeRefusal)
    expect(refusals).toEqual([
      '400 validation_error: does_not_exist #/filter/product_id',
      '400 validation_error: required #/percent',
      '400 validation_error: not_both #/percent',
      '400 validation_error: max_decimal_places #/percent',
      '400 validation_error: min_value #/percent',
      '400 validation_error: invalid_choice #/reason',
    ])
    expect((await get(`/v1/editions/${shop.edition_id}/refund-batches`)).body.count).toBe(0)
  })
})

describe('startRefundBatch', () => {
  it('pays each purchase back once, with one refund an order, and cancels it', async () => {
    const shop = await seedShopWithAccount('test')
    await importPaidOrders(shop, 12)
    const { body } = await makeBatch(shop, { cancel_purchases: true })
    expect((await actOnBatch(body.id, 'start')).body).toMatchObject({ status: 'running', started_by: 'root' })
    const finishedBatch = await workUntilDone(body.id)
    expect(finishedBatch).toMatchObject({
      status: 'finished',
      requested: { orders: 12, purchases: 24, amounts: dkk(5400), left_out: [] },
      requests: [{ currency: 'dkk', open: 12, open_amount: 5400, completed: 0 }],
    })
    expect(await countRequestsPerPurchase(body.id)).toEqual({ 1: 24 })
    expect((await actOnBatch(body.id, 'start')).body.code).toBe('invalid_transition')
    for (let tries = 0; tries < 3; tries++) await payDueRefunds()
    expect((await loadBatch(body.id)).requests).toMatchObject([{ open: 0, completed: 12, completed_amount: 5400 }])
    const unrefunded = await db.all(
      sql`select id from purchases where edition_id = ${shop.edition_id} and status <> 'refunded'`,
    )
    expect(unrefunded).toEqual([])
    await expectCountersToBeSums(shop)
    await expectTotalsToBeSums(body.id)
  })

  it('completes at once for accounts without settlement, and the mail shows the message as text', async () => {
    const shop = await seedShopWithAccount('manual')
    await importPaidOrders(shop, 2)
    const { body } = await makeBatch(shop, { message: 'Sorry! <b>{{ order.number }}</b>' })
    await actOnBatch(body.id, 'start')
    expect(await workUntilDone(body.id)).toMatchObject({ requests: [{ completed: 2, completed_amount: 900 }] })
    const mails = await db.all(sql<{ refund: string }>`select refund from transactional_emails
      where edition_id = ${shop.edition_id}`)
    expect(mails.map(({ refund }) => JSON.parse(refund).message)).toEqual(
      Array(2).fill('Sorry! <b>{{ order.number }}</b>'),
    )
  })

  it('writes an audit entry and the webhook events of each request', async () => {
    const shop = await seedShopWithAccount('test')
    await importPaidOrders(shop, 1)
    const { body } = await makeBatch(shop)
    await actOnBatch(body.id, 'start')
    await workUntilDone(body.id)
    const [refund] = await loadRefundRows(shop)
    expect(refund).toMatchObject({ batch_id: body.id, status: 'approved', target: 'order', reviewed_by: 'root' })
    const entries = await db.all(sql<{
      action: string
    }>`select action from audit_log where resource_id in (${refund?.id}, ${body.id})
      order by created_at, id`)
    expect(entries.map(({ action }) => action).toSorted()).toEqual([
      'createRefundBatch',
      'requestBatchRefund',
      'startRefundBatch',
    ])
  })

  it('leaves out purchases that were requested since the dry run, and never exceeds its amounts', async () => {
    const shop = await seedShopWithAccount('test')
    const requestedOrder = await givenOrder(shop)
    const freed = await givenOrder(shop)
    const refundReply = await requestRefund({ order_id: freed.order })
    const { body } = await makeBatch(shop)
    expect(body.dry_run.amounts).toEqual(dkk(450))
    await actOnRefund(refundReply.body.id, 'reject')
    await actOnBatch(body.id, 'start')
    await requestRefund({ purchase_id: requestedOrder.purchases[0] })
    const { requested } = await workUntilDone(body.id)
    expect(requested).toMatchObject({
      orders: 1,
      purchases: 1,
      left_out: [
        { reason: 'already_requested', purchases: 1 },
        { reason: 'beyond_draft', purchases: 2 },
      ],
    })
    await expectCountersToBeSums(shop)
  })

  it('limits the retry of a failed request to the purchases of the batch', async () => {
    const shop = await seedShopWithAccount('test')
    // The test provider fails amounts with these cents.
    const { order } = await givenOrder(shop, {
      items: [
        { product: 'Day ticket', quantity: 2, unit_price: 50 },
        { product: 'Camping', quantity: 1, unit_price: 80 },
      ],
    })
    const bought = (await get(`/v1/orders/${order}`)).body.purchases
    const day = bought.filter((purchase: { product: { name: string } }) => purchase.product.name === 'Day ticket')
    const { body } = await makeBatch(shop, { filter: { product_id: day[0].product.api_id }, cancel_purchases: true })
    await actOnBatch(body.id, 'start')
    await workUntilDone(body.id)
    const [refund] = await loadRefundRows(shop)
    const id = refund?.id ?? ''
    await db.batch([
      sql`update refund_requests set status = 'failed', due_at = null, version = version + 1 where id = ${id}`,
      sql`update purchases set reserved_minor = 0 where order_id = ${order}`,
      sql`update transactions set reserved_minor = 0 where order_id = ${order}`,
    ])
    expect(await actOnRefund(id, 'retry')).toMatchObject({ status: 200, body: { approved_amount: 100 } })
    const items = await db.all(sql<{ purchase_id: string; amount_minor: number }>`select purchase_id, amount_minor
      from refund_items where refund_request_id = ${id} order by purchase_id`)
    expect(items.map(({ purchase_id }) => purchase_id)).toEqual(
      day.map((purchase: { id: string }) => purchase.id).toSorted(),
    )
    await expectTotalsToBeSums(body.id)
    await expectCountersToBeSums(shop)
  })

  it('stops when the edition is archived', async () => {
    const shop = await seedShopWithAccount('test')
    await importPaidOrders(shop, 1)
    const { body } = await makeBatch(shop)
    await actOnBatch(body.id, 'start')
    await db.all(sql`update editions set is_archived = 1 where id = ${shop.edition_id}`)
    expect(await workUntilDone(body.id)).toMatchObject({ status: 'cancelled', requested: { orders: 0 } })
    expect((await makeBatch(shop)).body.code).toBe('edition_archived')
    expect(await loadRefundRows(shop)).toEqual([])
  })

  it('is refused when there is nothing to pay back', async () => {
    const { body } = await makeBatch(await seedShop())
    expect((await actOnBatch(body.id, 'start')).status).toBe(409)
  })
})

describe('cancelRefundBatch', () => {
  it('stops further requests, and keeps the existing ones', async () => {
    const shop = await seedShopWithAccount('test')
    await importPaidOrders(shop, 25)
    const { body } = await makeBatch(shop)
    await actOnBatch(body.id, 'start')
    let enqueued = 0
    // The clock ends the consumer's time after one step.
    await consume(body.id, createQuietJob({ now: () => Date.now() + (enqueued++ > 6 ? 60_000 : 0) }))
    const requestedOrders = (await loadBatch(body.id)).requested.orders
    expect(requestedOrders).toBeGreaterThan(0)
    expect(requestedOrders).toBeLessThan(25)
    expect((await actOnBatch(body.id, 'cancel')).body).toMatchObject({ status: 'cancelled' })
    expect(await workUntilDone(body.id)).toMatchObject({ status: 'cancelled', requested: { orders: requestedOrders } })
    expect(await loadRefundRows(shop)).toHaveLength(requestedOrders)
    expect((await actOnBatch(body.id, 'cancel')).body.code).toBe('invalid_transition')
  })
})
