import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { listAnnounced, loadPurchase, tally } from '../support/purchases.ts'
import { loadRefundEmails } from '../support/refund-payments.ts'
import {
  actOnRefund,
  requestRefund,
  requestPurchaseRefund,
  expectCountersToBeSums,
  loadRefundRow,
  threePurchases,
  loadTransaction,
} from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShopWithAccount, type Shop, givenOrder } from '../support/seeding/sales/orders.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShopWithAccount('manual')
})

describe('approveRefundRequest', () => {
  it('completes a refund by hand at once, with the same amounts in refund, purchase, events and payment', async () => {
    const { purchases, payment, order } = await givenOrder(shop)
    const [id = '', other = ''] = purchases
    const refundReply = await requestPurchaseRefund(id, { cancel_purchase: true })
    const reply = await actOnRefund(refundReply.body.id, 'approve', { note: 'By telephone' })
    expect([reply.status, reply.body]).toMatchObject([
      200,
      {
        status: 'completed',
        approved_amount: 225,
        refunded_amount: 225,
        service: 'manual',
        attempts: 1,
        note: 'By telephone',
      },
    ])
    expect((await get(`/v1/refund-requests/${refundReply.body.id}`)).body).toEqual(reply.body)
    expect(await loadPurchase(id)).toMatchObject({ status: 'refunded', refunded_minor: 22_500, reserved_minor: 0 })
    expect(await loadPurchase(other)).toMatchObject({ status: 'active', refunded_minor: 0 })
    expect(await listAnnounced({ id, shop })).toEqual([
      'refund_requested:active',
      'refund_approved:active',
      'refunded:refunded',
    ])
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({
      refunded_amount: 225,
      max_available_refund_amount: 225,
    })
    expect(await loadTransaction(payment)).toMatchObject({ status: 'partially_refunded', refunded_minor: 22_500 })
    await actOnRefund((await requestPurchaseRefund(other)).body.id, 'approve')
    expect(await loadTransaction(payment)).toMatchObject({ status: 'refunded', refunded_minor: 45_000 })
    await expectCountersToBeSums(shop)
  })

  it('releases what a smaller amount leaves, fees first', async () => {
    const { order } = await givenOrder(shop, threePurchases)
    const { body } = await requestRefund({ order_id: order, include_fees: true })
    const reply = await actOnRefund(body.id, 'approve', { amount: 100.01 })
    expect(reply.body).toMatchObject({ requested_amount: 295.83, approved_amount: 100.01, refunded_amount: 100.01 })
    expect(reply.body.breakdown).toMatchObject({ handling_fee: 0, service_fee: 0 })
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({
      refunded_amount: 100.01,
      pending_refund_amount: 0,
      max_available_refund_amount: 173.32,
    })
    await expectCountersToBeSums(shop)
  })

  it('refuses more than the requested amount, an amount of 0 that cancels nothing, and a second approval', async () => {
    const { purchases } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 100 })
    expect(describeRefusal(await actOnRefund(body.id, 'approve', { amount: 100.01 }))).toBe(
      '400 validation_error: amount_exceeds_available #/amount',
    )
    expect(describeRefusal(await actOnRefund(body.id, 'approve', { amount: 0 }))).toBe(
      '400 validation_error: amount_not_positive #/amount',
    )
    expect(await loadRefundRow(body.id)).toMatchObject({ status: 'pending', version: 1 })
    await actOnRefund(body.id, 'approve')
    const secondReply = await actOnRefund(body.id, 'approve')
    expect([secondReply.status, secondReply.body]).toMatchObject([
      409,
      { code: 'invalid_transition', current_status: 'completed', allowed_transitions: ['failed'] },
    ])
  })

  it('lets one of an approval and a rejection succeed, and one of an approval and a cancellation', async () => {
    for (const action of ['reject', 'cancel'] as const) {
      const { purchases } = await givenOrder(shop)
      const id = purchases[0] ?? ''
      const { body } = await requestPurchaseRefund(id)
      const replies = await Promise.all([
        actOnRefund(body.id, 'approve'),
        actOnRefund(body.id, action),
        actOnRefund(body.id, 'approve'),
      ])
      expect(tally(replies)).toEqual({ 200: 1, '409 invalid_transition': 2 })
      const isPaid = (await loadRefundRow(body.id)).status === 'completed'
      expect(await loadPurchase(id)).toMatchObject({ refunded_minor: isPaid ? 22_500 : 0, reserved_minor: 0 })
    }
    await expectCountersToBeSums(shop)
  })

  it('succeeds for a purchase that was used or has expired since, and is refused for a cancelled payment', async () => {
    for (const status of ['used', 'expired']) {
      const { purchases } = await givenOrder(shop)
      const { body } = await requestPurchaseRefund(purchases[0] ?? '', { cancel_purchase: true })
      await db.all(sql`update purchases set status = ${status} where id = ${purchases[0]}`)
      expect(await actOnRefund(body.id, 'approve')).toMatchObject({ status: 200, body: { status: 'completed' } })
      // An expired purchase does not become refunded.
      expect((await loadPurchase(purchases[0] ?? '')).status).toBe(status === 'used' ? 'refunded' : 'expired')
    }
    const { purchases, payment } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '')
    await db.all(sql`update transactions set status = 'cancelled' where id = ${payment}`)
    expect((await actOnRefund(body.id, 'approve')).body.code).toBe('transaction_not_captured')
  })
})

describe('rejectRefundRequest', () => {
  it('releases the amount and stores the reason', async () => {
    const { purchases } = await givenOrder(shop)
    const [id = ''] = purchases
    const { body } = await requestPurchaseRefund(id)
    expect(describeRefusal(await actOnRefund(body.id, 'reject', { reason: ' ' }))).toBe(
      '400 validation_error: blank #/reason',
    )
    const reply = await actOnRefund(body.id, 'reject', { reason: 'Too late' })
    expect(reply.body).toMatchObject({
      status: 'rejected',
      rejection_reason: 'Too late',
      reviewed_by: 'root',
      allowed_actions: [],
    })
    expect((await get(`/v1/purchases/${id}`)).body).toMatchObject({
      max_available_refund_amount: 225,
      pending_refund_amount: 0,
    })
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:active', 'refund_rejected:active'])
    expect(await requestPurchaseRefund(id)).toMatchObject({ status: 201 })
    await expectCountersToBeSums(shop)
  })

  it.each([
    ['the request wants it', {}, {}, true],
    ['the rejection wants it', { notify_customer: false }, { notify_customer: true }, true],
    ['the request does not want it', { notify_customer: false }, {}, false],
    ['the rejection does not want it', {}, { notify_customer: false }, false],
  ])('sends its reason to the customer at most once: %s', async (_, request, rejection, isSent) => {
    const { purchases } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', request)
    const reject = () => actOnRefund(body.id, 'reject', { reason: 'Too late', ...rejection })
    const replies = await Promise.all([reject(), reject()])
    expect(tally(replies)).toEqual({ 200: 1, '409 invalid_transition': 1 })
    const mails = (await loadRefundEmails(body.id)).map(({ kind, refund }) => [kind, refund?.rejection_reason])
    expect(mails).toEqual(isSent ? [['refund_rejection', 'Too late']] : [])
  })
})

describe('cancelRefundRequest', () => {
  it('is allowed to the account that made the request, with any of its tokens, while it is pending', async () => {
    const { purchases } = await givenOrder(shop)
    const admin = await givenMember({ id: shop.organization_id }, 'admin')
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', {}, admin.token)
    expect(await actOnRefund(body.id, 'cancel')).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(await actOnRefund(body.id, 'cancel', {}, admin.token)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    })
    expect((await actOnRefund(body.id, 'cancel', {}, admin.token)).body.code).toBe('invalid_transition')
    expect(await loadPurchase(purchases[0] ?? '')).toMatchObject({ reserved_minor: 0 })
    await expectCountersToBeSums(shop)
  })
})

describe('an order that is cancelled or changed by an import', () => {
  it('cancels pending requests, and releases their amounts', async () => {
    const { purchases, order, payment, again } = await givenOrder(shop, threePurchases)
    const refundReplies = [
      await requestRefund({ order_id: order, amount: 50 }),
      await requestPurchaseRefund(purchases[0] ?? '', { amount: 10 }),
    ]
    await again({ status: 'cancelled' })
    for (const { body } of refundReplies) expect(await loadRefundRow(body.id)).toMatchObject({ status: 'cancelled' })
    expect(await loadTransaction(payment)).toMatchObject({ reserved_minor: 0 })
    for (const id of purchases) expect(await loadPurchase(id)).toMatchObject({ status: 'cancelled', reserved_minor: 0 })
    await expectCountersToBeSums(shop)
  })
})
