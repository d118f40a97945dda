import { sql } from 'drizzle-orm'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { sealSecrets } from '../../src/modules/merchant-accounts/secrets.ts'
import { createPurchaseRefundRequest } from '../../src/modules/refunds/create.ts'
import { approveRefundRequest } from '../../src/modules/refunds/decisions/approve.ts'
import { rejectRefundRequest } from '../../src/modules/refunds/decisions/reject.ts'
import { findRefund } from '../../src/modules/refunds/queries.ts'
import { createContextAt } from '../support/context.ts'
import { createFakeStripe, serveStripe } from '../support/fake-stripe.ts'
import { importPaidOrder, payDue, payWith, seedStripeShop } from '../support/payment-references.ts'
import { listAnnounced, loadPurchase } from '../support/purchases.ts'
import { clearDueRefunds } from '../support/refund-payments.ts'
import {
  actOnRefund,
  requestRefund,
  requestPurchaseRefund,
  expectCountersToBeSums,
  oneTicket,
  loadRefundRow,
  loadTransaction,
} from '../support/refunds.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShop, type Shop, givenOrder, seedShopWithAccount } from '../support/seeding/sales/orders.ts'
import { deliverEvent } from '../support/stripe-refunds.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShopWithAccount('test')
})

afterEach(() => vi.restoreAllMocks())

/** Makes a context in which `work` runs once, just before the commit. */
function interruptedOnce(happen: () => Promise<unknown>) {
  const ctx = createContextAt(Date.now())
  const batch = ctx.db.batch.bind(ctx.db)
  let hasHappened = false
  ctx.db.batch = async (statements) => {
    // Reads also come in batches, of two statements.
    if (!hasHappened && statements.length > 2) {
      hasHappened = true
      await happen()
    }
    return batch(statements)
  }
  return ctx
}

const use = (id: string) => db.all(sql`update purchases set status = 'used' where id = ${id}`)

describe('a purchase that is used while its refund is decided', () => {
  it('sends a webhook that shows the purchase as used', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const ctx = interruptedOnce(() => use(id))
    await createPurchaseRefundRequest(ctx, id, { reason: 'other' })
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:used'])
    expect(await loadPurchase(id)).toMatchObject({ status: 'used', reserved_minor: 23_500 })
    await expectCountersToBeSums(shop)
  })

  it.each([
    ['approved', approveRefundRequest],
    ['rejected', (ctx, loaded) => rejectRefundRequest(ctx, loaded, { reason: 'No' })],
  ] as [string, typeof approveRefundRequest][])('keeps its refund from being %s', async (_, decide) => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const { body } = await requestPurchaseRefund(id)
    const ctx = interruptedOnce(() => use(id))
    await expect(decide(ctx, await findRefund(ctx, body.id), {})).rejects.toThrow(LostRace)
    expect(await loadRefundRow(body.id)).toMatchObject({ status: 'pending', version: 1 })
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:active'])
  })
})

describe('a payment that changes while a refund is approved', () => {
  it.each([
    ['becomes smaller than what is reserved of it', sql`amount_minor = 23499`],
    ['is cancelled', sql`status = 'cancelled'`],
  ])('aborts the approval when it %s', async (_, change) => {
    const { purchases, payment } = await givenOrder(shop, oneTicket)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '')
    const ctx = interruptedOnce(() => db.all(sql`update transactions set ${change} where id = ${payment}`))
    await expect(approveRefundRequest(ctx, await findRefund(ctx, body.id), {})).rejects.toThrow(LostRace)
    expect(await loadRefundRow(body.id)).toMatchObject({ status: 'pending', version: 1, approved_minor: null })
    expect(await loadTransaction(payment)).toMatchObject({ refunded_minor: 0, reserved_minor: 23_500 })
  })

  it('does not stop a refund of 0 that cancels a purchase when less than the reserved amount is left', async () => {
    const newShop = await seedShop()
    const { purchases, payment } = await givenOrder(newShop)
    await requestPurchaseRefund(purchases[0] ?? '')
    const { body } = await requestPurchaseRefund(purchases[1] ?? '', { amount: 0, cancel_purchase: true })
    await db.all(sql`update transactions set amount_minor = 100 where id = ${payment}`)
    const ctx = createContextAt(Date.now())
    await approveRefundRequest(ctx, await findRefund(ctx, body.id), {})
    expect(await loadRefundRow(body.id)).toMatchObject({ status: 'completed', refunded_minor: 0 })
  })
})

describe('a payment that several orders share', () => {
  it('aborts the approval of a refund when Stripe pays the payment back at the same time', async () => {
    const fake = createFakeStripe()
    serveStripe(fake)
    const stripeShop = await seedStripeShop()
    const payment = payWith(fake, 15_000)
    await importPaidOrder(stripeShop, payment.id, 100)
    const two = await importPaidOrder(stripeShop, payment.id, 50)
    const { body } = await requestRefund({ order_id: two.order })
    fake.store.refund(payment, { amount: 12_000, status: 'succeeded' })
    const ctx = interruptedOnce(() => deliverEvent(stripeShop.account, fake.store.events.at(-1) ?? { body: '' }))
    await expect(approveRefundRequest(ctx, await findRefund(ctx, body.id), {})).rejects.toThrow(LostRace)
    expect(await loadRefundRow(body.id)).toMatchObject({ status: 'pending', approved_minor: null })
    expect((await actOnRefund(body.id, 'approve')).body).toMatchObject({ max_available_refund_amount: 30 })
  })

  it('is paid back at most once when refunds of all its orders are requested at the same time', async () => {
    // Refunds that other files left due would be paid first.
    await clearDueRefunds()
    const fake = createFakeStripe()
    serveStripe(fake)
    const stripeShop = await seedStripeShop()
    const payment = payWith(fake, 15_000)
    const orders = [
      await importPaidOrder(stripeShop, payment.id, 100),
      await importPaidOrder(stripeShop, payment.id, 50),
    ]
    const replies = await Promise.all(
      [...orders, ...orders, ...orders].map(({ order }) => requestRefund({ order_id: order })),
    )
    const createdReplies = replies.filter(({ status }) => status === 201)
    expect(createdReplies.map(({ body }) => body.requested_amount).toSorted()).toEqual([100, 50])
    await Promise.all([...createdReplies, ...createdReplies].map(({ body }) => actOnRefund(body.id, 'approve')))
    await payDue()
    expect(fake.store.paidBack(payment.id)).toBe(15_000)
    expect(fake.calls()).toHaveLength(2)
  })
})

describe('a Stripe payment without a reference', () => {
  it('is not refunded until a person confirms it, and only then confirmed to the customer', async () => {
    const stripeShop = await seedShopWithAccount('stripe')
    const ctx = createContextAt(Date.now())
    const account = await db.first(
      sql<{ id: string }>`select id from merchant_accounts where organization_id = ${stripeShop.organization_id}`,
    )
    const secrets = { api_key: 'rk_test_12345678', webhook_secret: null }
    const { sealed_api_key, sealed_with } = await sealSecrets(ctx, account?.id ?? '', secrets)
    await db.all(sql`update merchant_accounts set sealed_api_key = ${sealed_api_key}, sealed_with = ${sealed_with}
      where id = ${account?.id}`)
    const { purchases } = await givenOrder(stripeShop, oneTicket)
    const [id = ''] = purchases
    const { body } = await requestPurchaseRefund(id)
    const later = createContextAt(Date.now())
    const approved = await approveRefundRequest(later, await findRefund(later, body.id), {})
    expect(approved).toMatchObject({ status: 'processing', service: 'manual', due_at: null })
    expect((await actOnRefund(body.id, 'approve')).body.code).toBe('invalid_transition')
    expect(await loadRefundRow(body.id)).toMatchObject({
      status: 'processing',
      refunded_minor: 0,
      merchant_account_id: null,
    })
    expect(await loadPurchase(id)).toMatchObject({ reserved_minor: 23_500, refunded_minor: 0 })
    expect(await db.all(sql`select id from transactional_emails where refund_request_id = ${body.id}`)).toEqual([])
    expect(await listAnnounced({ id, shop: stripeShop })).toEqual(['refund_requested:active', 'refund_approved:active'])
  })
})
