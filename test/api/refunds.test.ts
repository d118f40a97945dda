import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { listAnnounced, loadPurchase, tally } from '../support/purchases.ts'
import {
  actOnRefund,
  requestRefund,
  requestPurchaseRefund,
  expectCountersToBeSums,
  loadRefundItems,
  oneTicket,
  threePurchases,
  loadTransaction,
} from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShop, seedShopWithAccount, type Shop, givenOrder } from '../support/seeding/sales/orders.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShopWithAccount('manual')
})

const parallel = <Result>(count: number, run: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

describe('createPurchaseRefundRequest', () => {
  it('reserves everything except the fees, and sends the webhook', async () => {
    const { purchases, payment, order } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const reply = await requestPurchaseRefund(id, { comment: 'Is ill', metadata: { ticket: 7 } })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      {
        status: 'pending',
        target: 'purchase',
        purchase: { id, product: { name: 'Day ticket' } },
        order: { id: order },
        transaction_id: payment,
        currency: 'dkk',
        requested_amount: 235,
        approved_amount: null,
        refunded_amount: 0,
        breakdown: { price: 225, deposit: 10, handling_fee: 0, service_fee: 0 },
        reason: 'customer_request',
        comment: 'Is ill',
        source: 'api',
        requested_by: 'root',
        allowed_actions: ['approve', 'reject', 'cancel'],
        metadata: { ticket: 7 },
      },
    ])
    expect((await get(`/v1/refund-requests/${reply.body.id}`)).body).toEqual(reply.body)
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/refund-requests/${reply.body.id}$`))
    expect((await get(`/v1/purchases/${id}`)).body).toMatchObject({
      status: 'active',
      max_available_refund_amount: 0,
      pending_refund_amount: 235,
      refunded_amount: 0,
      refund_requests: [{ id: reply.body.id, status: 'pending', requested_amount: 235 }],
    })
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:active'])
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({
      refunded_amount: 0,
      pending_refund_amount: 235,
      max_available_refund_amount: 0,
      transactions: [{ status: 'captured', available_refund_amount: 0, pending_refund_amount: 235 }],
    })
    await expectCountersToBeSums(shop)
  })

  it('succeeds once for twenty simultaneous full refunds', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const replies = await parallel(20, () => requestPurchaseRefund(id, { cancel_purchase: true, include_fees: true }))
    expect(tally(replies)).toEqual({ 201: 1, '409 nothing_to_refund': 19 })
    expect(await loadPurchase(id)).toMatchObject({ reserved_minor: 24_000, refunded_minor: 0 })
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:active'])
    await expectCountersToBeSums(shop)
  })

  it('never exceeds the purchase or the payment by simultaneous partial refunds', async () => {
    // The discount leaves 150 for each purchase.
    const { purchases, payment } = await givenOrder(shop, { discount: 150 })
    const replies = await parallel(12, (index) => requestPurchaseRefund(purchases[index % 2] ?? '', { amount: 50 }))
    expect(tally(replies.filter(({ status }) => status === 201))).toEqual({ 201: 6 })
    const refusals = replies.filter(({ status }) => status !== 201)
    for (const { body } of refusals) expect(['validation_error', 'nothing_to_refund']).toContain(body.code)
    expect(await loadTransaction(payment)).toMatchObject({ amount_minor: 30_000, reserved_minor: 30_000 })
    await expectCountersToBeSums(shop)
  })

  it('refuses more than the available amount, names that amount, and accepts that amount', async () => {
    const { purchases } = await givenOrder(shop, { ...oneTicket, discount: 50.5 })
    const [id = ''] = purchases
    const { max_available_refund_amount } = (await get(`/v1/purchases/${id}`)).body
    expect(max_available_refund_amount).toBe(184.5)
    const reply = await requestPurchaseRefund(id, { amount: 184.51 })
    expect([describeRefusal(reply), reply.body]).toMatchObject([
      '400 validation_error: amount_exceeds_available #/amount',
      { code: 'validation_error', max_available_refund_amount: 184.5, currency: 'dkk' },
    ])
    expect(await requestPurchaseRefund(id, { amount: max_available_refund_amount })).toMatchObject({ status: 201 })
  })

  it.each([
    [{ amount: -1 }, 'amount_not_positive #/amount'],
    [{ amount: 0 }, 'amount_not_positive #/amount'],
    [{ amount: -1, cancel_purchase: true }, 'amount_not_positive #/amount'],
    [{ amount: 1.005 }, 'max_decimal_places #/amount'],
    [{ amount: 1e300 }, 'max_value #/amount'],
    [{ amount: 1, currency: 'eur' }, 'currency_mismatch #/currency'],
    [{ reason: 'boredom' }, 'invalid_choice #/reason'],
    [{ purchase_id: 'pur_1' }, 'unknown_field #/purchase_id'],
    [{ comment: 'x'.repeat(2001) }, 'max_length #/comment'],
  ])('refuses an invalid field and changes nothing: %#', async (body, fault) => {
    const { purchases, payment } = await givenOrder(shop, oneTicket)
    expect(describeRefusal(await requestPurchaseRefund(purchases[0] ?? '', body))).toBe(
      `400 validation_error: ${fault}`,
    )
    expect(await loadTransaction(payment)).toMatchObject({ reserved_minor: 0 })
  })

  it.each([
    ['pending', 'pending', 'purchase_not_refundable'],
    ['confirmed', 'active', 'transaction_not_captured'],
    ['cancelled', 'cancelled', 'purchase_not_refundable'],
  ])('is refused for an order that is %s', async (status, current, code) => {
    const { purchases } = await givenOrder(shop, { ...oneTicket, status })
    const reply = await requestPurchaseRefund(purchases[0] ?? '')
    expect(describeRefusal(reply)).toBe(`409 ${code}`)
    expect((await loadPurchase(purchases[0] ?? '')).status).toBe(current)
  })

  it('refuses a purchase that has expired', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    await db.all(sql`update purchases set status = 'expired' where id = ${purchases[0]}`)
    const reply = await requestPurchaseRefund(purchases[0] ?? '')
    expect([reply.status, reply.body]).toMatchObject([
      409,
      { code: 'purchase_not_refundable', current_status: 'expired' },
    ])
  })

  it('writes 13 rows in four statements, besides those of webhooks', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const cost = readCost(await requestPurchaseRefund(purchases[0] ?? ''))
    // The request reads the purchase's place, the order and its purchases, and writes the audit entry and the event.
    expect(cost.queries - 3 - 1 - 2).toBe(4)
    // Nobody subscribes to the event, which is one row and an entry in the order of commits. The request has five indexes,
    // the item and the entry have one each, and the statistics have one.
    const event = 2
    expect(cost.rows_written - event).toBe(6 + 1 + 1 + 2 + 2 + 1)
  })
})

describe('createRefundRequest', () => {
  it('prevents the deletion of the payment and of the purchases', async () => {
    const { order, purchases, payment } = await givenOrder(shop, oneTicket)
    expect((await requestRefund({ order_id: order })).status).toBe(201)
    await expect(db.all(sql`delete from transactions where id = ${payment}`)).rejects.toThrow('constraint failed')
    await expect(db.all(sql`delete from purchases where id = ${purchases[0]}`)).rejects.toThrow('constraint failed')
    await expect(db.all(sql`delete from orders where id = ${order}`)).rejects.toThrow('constraint failed')
    expect(await loadTransaction(payment)).toMatchObject({ status: 'captured' })
  })

  it('spreads the refund of an order over its purchases to the cent', async () => {
    const { order, purchases, payment } = await givenOrder(shop, threePurchases)
    const reply = await requestRefund({ order_id: order, amount: 100 })
    expect(reply).toMatchObject({ status: 201, body: { target: 'order', purchase: null, requested_amount: 100 } })
    const items = await loadRefundItems(reply.body.id)
    expect(items.map((item) => item.purchase_id)).toEqual(purchases)
    // The items can be refunded with 120.00, 120.00 and 33.33.
    expect(items.map((item) => item.amount_minor).toSorted((a, b) => a - b)).toEqual([1_220, 4_390, 4_390])
    expect(await loadTransaction(payment)).toMatchObject({ reserved_minor: 10_000 })
    for (const id of purchases) expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:active'])
    await expectCountersToBeSums(shop)
  })

  it('excludes fees by default, and can include everything that was paid', async () => {
    const [without, withFees] = [await givenOrder(shop, threePurchases), await givenOrder(shop, threePurchases)]
    expect((await requestRefund({ order_id: without.order })).body).toMatchObject({
      requested_amount: 273.33,
      breakdown: { price: 233.33, deposit: 40, handling_fee: 0, service_fee: 0 },
    })
    const { body } = await requestRefund({ transaction_id: withFees.payment, include_fees: true })
    expect(body).toMatchObject({
      target: 'transaction',
      requested_amount: 295.83,
      breakdown: { price: 233.33, deposit: 40, handling_fee: 10, service_fee: 12.5 },
    })
    const remainder = await requestRefund({ order_id: without.order, amount: 22.51, include_fees: true })
    expect([describeRefusal(remainder), remainder.body.max_available_refund_amount]).toEqual([
      '400 validation_error: amount_exceeds_available #/amount',
      22.5,
    ])
    expect(await requestRefund({ order_id: without.order, amount: 22.5, include_fees: true })).toMatchObject({
      status: 201,
      body: { breakdown: { price: 0, deposit: 0, handling_fee: 10, service_fee: 12.5 } },
    })
    await expectCountersToBeSums(shop)
  })

  it('never exceeds the payment by simultaneous refunds of an order and of its purchases', async () => {
    const { order, purchases, payment } = await givenOrder(shop, threePurchases)
    await parallel(12, (index) =>
      index % 3 === 0
        ? requestRefund({ order_id: order, amount: 60 })
        : requestRefund({ purchase_id: purchases[index % 3], amount: 30 }),
    )
    const { amount_minor, reserved_minor } = await loadTransaction(payment)
    expect(reserved_minor).toBeLessThanOrEqual(amount_minor)
    expect(reserved_minor).toBeGreaterThan(15_000)
    await expectCountersToBeSums(shop)
  })

  it('requires exactly one target', async () => {
    const { order, purchases } = await givenOrder(shop)
    expect(describeRefusal(await requestRefund({}))).toBe('400 validation_error: exactly_one_target #/purchase_id')
    expect(describeRefusal(await requestRefund({ order_id: order, purchase_id: purchases[0] }))).toBe(
      '400 validation_error: exactly_one_target #/order_id',
    )
    expect(describeRefusal(await requestRefund({ order_id: null }))).toBe(
      '400 validation_error: exactly_one_target #/purchase_id',
    )
  })

  it('treats ids of other tenants, and ids of refunds in place of payments, as missing', async () => {
    const { order, purchases, payment } = await givenOrder(shop)
    const other = await seedShop()
    const stranger = await givenMember({ id: other.organization_id }, 'admin')
    const sibling = await seedEdition({ id: shop.organization_id })
    const neighbour = await givenMember({ id: shop.organization_id }, 'admin', sibling.id)
    for (const { token } of [stranger, neighbour]) {
      expect(describeRefusal(await requestRefund({ order_id: order }, token))).toBe(
        '400 validation_error: does_not_exist #/order_id',
      )
      expect(describeRefusal(await requestRefund({ purchase_id: purchases[0] }, token))).toBe(
        '400 validation_error: does_not_exist #/purchase_id',
      )
      expect(describeRefusal(await requestRefund({ transaction_id: payment }, token))).toBe(
        '400 validation_error: does_not_exist #/transaction_id',
      )
      expect((await requestPurchaseRefund(purchases[0] ?? '', {}, token)).status).toBe(404)
    }
    const { body } = await requestRefund({ order_id: order })
    await actOnRefund(body.id, 'approve')
    const refund = (await get(`/v1/orders/${order}`)).body.transactions.find(
      ({ type }: { type: string }) => type === 'refund',
    )
    expect(describeRefusal(await requestRefund({ transaction_id: refund.id }))).toBe(
      '400 validation_error: does_not_exist #/transaction_id',
    )
  })

  it('accepts an amount of 0 that cancels, and is refused for a payment that was paid back', async () => {
    const { purchases, order } = await givenOrder(shop, oneTicket)
    const { body } = await requestRefund({ purchase_id: purchases[0], amount: 0, cancel_purchase: true })
    expect(await actOnRefund(body.id, 'approve')).toMatchObject({
      status: 200,
      body: { status: 'completed', refunded_amount: 0 },
    })
    expect(await loadPurchase(purchases[0] ?? '')).toMatchObject({ status: 'refunded', refunded_minor: 0 })
    expect((await requestRefund({ purchase_id: purchases[0] })).body.code).toBe('nothing_to_refund')
    expect((await requestRefund({ order_id: order })).body.code).toBe('nothing_to_refund')
    await expectCountersToBeSums(shop)
  })

  it('requires a role that may change the edition', async () => {
    const { order } = await givenOrder(shop)
    const viewer = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const manager = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    expect((await requestRefund({ order_id: order }, viewer.token)).body.code).toBe('permission_denied')
    const { body } = await requestRefund({ order_id: order }, manager.token)
    expect((await get(`/v1/refund-requests/${body.id}`, viewer.token)).body).toMatchObject({ allowed_actions: [] })
    expect((await actOnRefund(body.id, 'approve', {}, viewer.token)).status).toBe(403)
  })
})
