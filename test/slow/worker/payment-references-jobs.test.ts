import { describe, expect, it } from 'vitest'
import { PaymentProviderUnavailable } from '../../../src/gateways/payments/payments.ts'
import { createContextAt } from '../../support/context.ts'
import { serveStripeToEachTest } from '../../support/each-stripe.ts'
import type { FakeStripe } from '../../support/fake-stripe.ts'
import {
  changeReference,
  givenEditionMember,
  importPaidOrder,
  payDue,
  payWith,
  seedSibling,
  seedStripeShop,
} from '../../support/payment-references.ts'
import { createRefundEngine, loadRefundRow, seedDueSale } from '../../support/refund-payments.ts'
import { actOnRefund, requestRefund } from '../../support/refunds.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const minute = 60_000

async function approvedRefund(order: string, token: string): Promise<string> {
  const { body } = await requestRefund({ order_id: order }, token)
  await actOnRefund(body.id, 'approve', {}, token)
  return String(body.id)
}

/** Seeds an order of another edition with the reference of the first edition's payment. */
async function seedForeignRefund() {
  const shop = await seedStripeShop()
  const payment = payWith(fake, 10_000)
  const first = await importPaidOrder(shop, payment.id)
  const other = await seedSibling(shop)
  const { token } = await givenEditionMember(other)
  const foreign = await importPaidOrder(other, payment.id)
  return { payment, first, token, refund: await approvedRefund(foreign.order, token) }
}

describe('a refund of a payment reference of another edition', () => {
  it('is never paid, wherever the consumer crashes', async () => {
    for (let trips = 0; ; trips++) {
      const { payment, refund } = await seedForeignRefund()
      const engine = createRefundEngine({ payments: createContextAt(Date.now()).payments })
      const hasDied = await engine.runUntilCrash(trips)
      for (let round = 0; round < 4; round++) {
        engine.advance(10 * minute)
        await engine.runUntilCrash()
      }
      const { status, failure_code } = await loadRefundRow(refund)
      expect([trips, status, failure_code]).toEqual([trips, 'failed', 'payment_not_found'])
      expect(fake.store.paidBack(payment.id)).toBe(0)
      if (!hasDied) break
    }
  })

  it('stays unpaid under its key when the first order is deleted while a call is open', async () => {
    const { payment, first, token, refund } = await seedForeignRefund()
    fake.respondWith('cut')
    const engine = createRefundEngine({ payments: createContextAt(Date.now()).payments })
    await engine.run()
    expect((await loadRefundRow(refund)).status).toBe('processing')
    await changeReference(first, 'pi_another')
    fake.respondWith('accept')
    engine.advance(minute)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'payment_not_found' })
    expect(fake.store.paidBack(payment.id)).toBe(0)
    await actOnRefund(refund, 'retry', {}, token)
    await payDue()
    expect((await loadRefundRow(refund)).status).toBe('completed')
    expect(fake.store.paidBack(payment.id)).toBe(10_000)
  })
})

describe('a refund whose payment the provider does not name', () => {
  it('waits without a call until the provider answers, and is then paid once', async () => {
    const { refund, provider, engine } = await seedDueSale()
    const { listReferences } = provider.gateway
    provider.gateway.listReferences = () => Promise.reject(new PaymentProviderUnavailable('down'))
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({
      status: 'approved',
      checks: 1,
      claimed_until: null,
      provider_key: null,
    })
    expect([provider.calls, (await loadRefundRow(refund)).due_at]).toEqual([[], engine.job.now() + minute])
    provider.gateway.listReferences = listReferences
    engine.advance(minute)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', checks: 0, attempts: 1 })
    expect(provider.sumPaid()).toBe(10_000)
  })

  it('fails the healthcheck of its edition after 30 days', async () => {
    const { refund, provider, engine } = await seedDueSale()
    provider.gateway.listReferences = () => Promise.reject(new PaymentProviderUnavailable('down'))
    await engine.run()
    engine.advance(31 * 24 * 60 * minute)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'approved', needs_attention: true })
  })

  it('stops at any other fault, and is paid when its claim has expired', async () => {
    const { refund, provider, engine } = await seedDueSale()
    const { listReferences } = provider.gateway
    provider.gateway.listReferences = () => Promise.reject(new Error('a fault'))
    await expect(engine.run()).rejects.toThrow('refunds could not be paid')
    provider.gateway.listReferences = listReferences
    engine.advance(2 * minute)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', attempts: 1 })
  })
})
