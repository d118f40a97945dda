import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, remove } from '../support/api.ts'
import { serveStripeToEachTest } from '../support/each-stripe.ts'
import type { FakeStripe } from '../support/fake-stripe.ts'
import {
  givenEditionMember,
  importPaidOrder,
  payWith,
  refundOrder,
  seedStripeAccount,
  seedStripeShop,
} from '../support/payment-references.ts'
import { loadRefundEmails, loadRefundRow } from '../support/refund-payments.ts'
import { actOnRefund, loadTransaction, requestRefund } from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { aRow } from '../support/seeding/imports/staged-imports.ts'
import { db } from '../support/seeding/rows.ts'
import { givenMerchantAccount, seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'
import { givenOrder, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { importFile, undoToEnd } from '../support/undone-imports.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const change = async (shop: Shop, fields: Record<string, unknown>, token?: string) =>
  expect((await patch(`/v1/editions/${shop.edition_id}`, fields, token)).status).toBe(200)

describe('the account of a payment', () => {
  it.each(['null', 'a manual account'])('stays when the edition gets %s', async (account) => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    const { order } = await importPaidOrder(shop, payment.id)
    const { token } = await givenEditionMember(shop)
    const merchant_account_id =
      account === 'null' ? null : await seedMerchantAccount({ id: shop.organization_id }, { settle_manually: false })
    await change(shop, { merchant_account_id }, token)
    const { approved, row } = await refundOrder(order, {}, token)
    expect(approved.body).toMatchObject({ status: 'approved', service: 'stripe' })
    expect(row).toMatchObject({ status: 'completed', merchant_account_id: shop.account })
    expect(fake.store.paidBack(payment.id)).toBe(10_000)
  })

  it('is the new one for payments that are stored later', async () => {
    const shop = await seedStripeShop()
    const earlier = await importPaidOrder(shop, payWith(fake, 10_000).id)
    const account = await seedStripeAccount(shop)
    const later = await importPaidOrder(shop, payWith(fake, 10_000).id)
    const rows = [await loadTransaction(earlier.payment), await loadTransaction(later.payment)]
    expect(rows.map(({ merchant_account_id }) => merchant_account_id)).toEqual([shop.account, account])
  })

  it('has the connected account that the edition named when the payment was stored', async () => {
    const shop = await seedStripeShop()
    await change(shop, { merchant_id: { stripe: 'acct_First' } })
    const payment = fake.store.pay({ amount: 10_000, currency: 'dkk', account: 'acct_First' })
    const { order, payment: id } = await importPaidOrder(shop, payment.id)
    await change(shop, { merchant_id: { stripe: 'acct_Second' } })
    expect(await loadTransaction(id)).toMatchObject({ provider_account: 'acct_First' })
    expect((await refundOrder(order)).row.status).toBe('completed')
    expect(fake.calls().map(({ account }) => account)).toEqual(['acct_First'])
  })

  it.each([{ stripe: 7 }, { stripe: 'x\r\ny' }, { main: 'M-1' }, { stripe: { id: 'acct_x' } }])(
    'ignores a connected account that is none: %j',
    async (merchant_id) => {
      const shop = await seedStripeShop()
      await change(shop, { merchant_id })
      const { payment } = await importPaidOrder(shop, 'pi_1')
      expect(await loadTransaction(payment)).toMatchObject({ provider_account: null })
    },
  )

  it('stays when the order is imported again', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    const { payment: id, again } = await importPaidOrder(shop, payment.id)
    await seedStripeAccount(shop)
    for (const reference of [payment.id, 'pi_another', null])
      await again({
        items: [{ product: 'Day ticket', quantity: 1, unit_price: 100 }],
        payment: { service: 'stripe', reference },
      })
    expect(await loadTransaction(id)).toMatchObject({ merchant_account_id: shop.account, provider_reference: null })
  })

  it('comes with the next import of an order that had none, and goes with the undo of that import', async () => {
    const shop = await seedShop()
    const row = aRow({ 'order.payment_service': 'stripe', 'order.payment_reference': payWith(fake, 22_500).id })
    const { orders } = await importFile(shop, [row])
    const [payment] = (await get(`/v1/orders/${orders[0]}`)).body.transactions
    expect(await loadTransaction(payment.id)).toMatchObject({ merchant_account_id: null })
    const account = await seedStripeAccount(shop)
    const updated = await importFile(shop, [row])
    expect(await loadTransaction(payment.id)).toMatchObject({ merchant_account_id: account })
    await undoToEnd(updated.id)
    expect(await loadTransaction(payment.id)).toMatchObject({ merchant_account_id: null })
  })

  it('cannot be deleted', async () => {
    const shop = await seedStripeShop()
    const { order } = await importPaidOrder(shop, 'pi_1')
    await change(shop, { merchant_account_id: null })
    const { status, body } = await remove(`/v1/merchant-accounts/${shop.account}`)
    expect(describeRefusal({ status, body })).toBe('409 merchant_account_in_use')
    expect(body.related_objects).toMatchObject([{ type: 'order', id: order }])
  })
})

describe('a payment without an account', () => {
  it('is not refunded until a person confirms it, and only then is the customer told', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop)
    const { body } = await requestRefund({ order_id: order })
    const approved = await actOnRefund(body.id, 'approve')
    expect(approved.body).toMatchObject({
      status: 'processing',
      service: 'manual',
      allowed_actions: ['settle'],
      waiting_reason: 'A person has to pay this refund by hand and confirm it with `settle`.',
      waiting_since: approved.body.reviewed_at,
      next_attempt_at: null,
    })
    expect(await loadRefundEmails(body.id)).toEqual([])
    expect((await get(`/v1/orders/${order}`)).body.transactions).toMatchObject([{ refunded_amount: 0 }])
    expect((await actOnRefund(body.id, 'settle', { reference: 'Bank 17' })).status).toBe(200)
    expect(await loadRefundEmails(body.id)).toHaveLength(1)
    expect(await loadRefundRow(body.id)).toMatchObject({
      status: 'completed',
      refunded_minor: 45_000,
      waiting_reason: null,
      waiting_since: null,
    })
  })

  it('waits although the edition has an account now', async () => {
    const shop = await seedShop()
    const { order } = await importPaidOrder(shop, payWith(fake, 10_000).id)
    await seedStripeAccount(shop)
    expect((await refundOrder(order)).row).toMatchObject({ status: 'processing', service: 'manual' })
    expect(fake.calls()).toEqual([])
  })

  it('waits after a batch and after an automatic approval', async () => {
    const shop = await seedShop()
    await patch(`/v1/organizations/${shop.organization_id}`, { refund_policy: { auto_approve_below: 1000 } })
    const { order } = await givenOrder(shop)
    const { body } = await requestRefund({ order_id: order })
    expect(body).toMatchObject({ status: 'processing', service: 'manual', waiting_reason: expect.any(String) })
    expect(await loadRefundEmails(body.id)).toEqual([])
  })
})

describe('settle_manually', () => {
  it('is true for new accounts of type manual unless the request says otherwise', async () => {
    const { organization_id } = await seedShop()
    const create = async (fields: object) =>
      (await givenMerchantAccount({ id: organization_id }, fields)).settle_manually
    expect(await create({ type: 'manual' })).toBe(true)
    expect(await create({ type: 'manual', settle_manually: false })).toBe(false)
    expect(await create({ type: 'stripe' })).toBe(false)
    const { count } = (await db.first(
      sql<{
        count: number
      }>`select count(*) as count from merchant_accounts where organization_id = ${organization_id}`,
    )) ?? { count: 0 }
    expect(count).toBe(3)
  })
})
