import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { listAnnounced, loadPurchase } from '../support/purchases.ts'
import {
  actOnRefund,
  requestPurchaseRefund,
  payUntil,
  expectCountersToBeSums,
  loadRefundRow,
  loadTransaction,
} from '../support/refunds.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShopWithAccount, givenOrder } from '../support/seeding/sales/orders.ts'

describe('a refund that a provider pays back', () => {
  it('is paid in the background after its approval', async () => {
    const shop = await seedShopWithAccount('test')
    const { purchases, payment } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 100 })
    expect(await actOnRefund(body.id, 'approve')).toMatchObject({
      status: 200,
      body: { status: 'approved', service: 'test' },
    })
    const row = await payUntil(body.id, ({ status }) => status === 'completed')
    expect(row).toMatchObject({ attempts: 1, refunded_minor: 10_000, provider_key: `${body.id}:1` })
    expect(await loadTransaction(payment)).toMatchObject({ status: 'partially_refunded', refunded_minor: 10_000 })
    await expectCountersToBeSums(shop)
  })

  it('waits while its merchant account has no key or is switched off, and completes afterwards', async () => {
    for (const [type, columns] of [
      ['stripe', {}],
      ['test', { is_active: 0 }],
    ] as const) {
      const shop = await seedShopWithAccount(type, columns)
      const { purchases, payment } = await givenOrder(shop)
      const refundReply = await requestPurchaseRefund(purchases[0] ?? '')
      expect(await actOnRefund(refundReply.body.id, 'approve')).toMatchObject({
        status: 409,
        body: { code: 'merchant_not_ready' },
      })
      expect(await loadRefundRow(refundReply.body.id)).toMatchObject({ status: 'pending', version: 1 })
      expect(await loadTransaction(payment)).toMatchObject({ reserved_minor: 22_500 })
      // A request that the policy would approve at once waits for a review.
      const refund_policy = { auto_approve_below: 1000 }
      expect((await patch(`/v1/organizations/${shop.organization_id}`, { refund_policy })).status).toBe(200)
      expect(await requestPurchaseRefund(purchases[1] ?? '')).toMatchObject({
        status: 201,
        body: { status: 'pending' },
      })
      await expectCountersToBeSums(shop)
    }
  })

  it('waits for a person where the account requires it', async () => {
    const shop = await seedShopWithAccount('manual', { settle_manually: 1 })
    const { purchases } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '')
    const approved = await actOnRefund(body.id, 'approve')
    expect(approved.body).toMatchObject({ status: 'processing', service: 'manual', allowed_actions: ['settle'] })
    expect(await actOnRefund(body.id, 'settle', { reference: 'Bank 17' })).toMatchObject({ status: 200 })
    expect(await loadRefundRow(body.id)).toMatchObject({
      status: 'completed',
      provider_reference: 'Bank 17',
      refunded_minor: 22_500,
    })
    await expectCountersToBeSums(shop)
  })
})

/** Makes a refund that the provider refuses, as the test provider does with this amount. */
async function givenFailed() {
  const shop = await seedShopWithAccount('test')
  const { purchases } = await givenOrder(shop)
  const [purchase = ''] = purchases
  const { body } = await requestPurchaseRefund(purchase, { amount: 100.01 })
  await actOnRefund(body.id, 'approve')
  expect(await payUntil(body.id, ({ status }) => status === 'failed')).toMatchObject({ attempts: 1 })
  return { shop, purchase, refund: body.id as string }
}

const listActions = async (ticket: Parameters<typeof listAnnounced>[0]) =>
  (await listAnnounced(ticket)).map((event) => event.split(':')[0])

describe('retryRefundRequest', () => {
  it('is refused for a refund that has not failed', async () => {
    const shop = await seedShopWithAccount('test')
    const { purchases } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 100.01 })
    expect((await actOnRefund(body.id, 'retry')).body).toMatchObject({
      code: 'invalid_transition',
      current_status: 'pending',
    })
  })

  it('reserves the amount that the failure released, and is a new refund at the provider', async () => {
    const { purchase, refund, shop } = await givenFailed()
    expect((await get(`/v1/purchases/${purchase}`)).body).toMatchObject({
      max_available_refund_amount: 225,
      pending_refund_amount: 0,
    })
    expect((await get(`/v1/refund-requests/${refund}`)).body.allowed_actions).toEqual(['approve', 'retry'])
    expect(await actOnRefund(refund, 'retry')).toMatchObject({
      status: 200,
      body: { status: 'approved', failure_code: null },
    })
    expect(await loadPurchase(purchase)).toMatchObject({ reserved_minor: 10_001 })
    const secondAttempt = await payUntil(refund, ({ status, attempts }) => status === 'failed' && attempts === 2)
    expect(secondAttempt.provider_key).toBe(`${refund}:2`)
    expect(await listActions({ id: purchase, shop })).toEqual([
      'refund_requested',
      'refund_approved',
      'refund_failed',
      'refund_approved',
      'refund_failed',
    ])
    await expectCountersToBeSums(shop)
  })

  it('is refused beyond the available amount, of which a smaller amount is approved and paid', async () => {
    const { purchase, refund, shop } = await givenFailed()
    await requestPurchaseRefund(purchase, { amount: 200 })
    expect((await actOnRefund(refund, 'retry')).body).toMatchObject({ max_available_refund_amount: 25 })
    expect((await actOnRefund(refund, 'approve', { amount: 25 })).status).toBe(200)
    await payUntil(refund, ({ status }) => status === 'completed')
    expect(await loadPurchase(purchase)).toMatchObject({ refunded_minor: 2_500, reserved_minor: 20_000 })
    expect(await listActions({ id: purchase, shop })).toEqual([
      'refund_requested',
      'refund_approved',
      'refund_failed',
      'refund_requested',
      'refund_approved',
      'refunded',
    ])
    await expectCountersToBeSums(shop)
  })

  it('is refused when the provider has paid an earlier attempt', async () => {
    const shop = await seedShopWithAccount('test')
    const { purchases } = await givenOrder(shop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 100.01 })
    await actOnRefund(body.id, 'approve')
    await payUntil(body.id, ({ status }) => status === 'failed')
    await db.all(sql`update refund_requests set needs_attention = 1 where id = ${body.id}`)
    for (const action of ['approve', 'retry'] as const)
      expect((await actOnRefund(body.id, action)).body.code).toBe('invalid_transition')
    expect(await loadPurchase(purchases[0] ?? '')).toMatchObject({ reserved_minor: 0 })
  })
})
