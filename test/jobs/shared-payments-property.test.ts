import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFakeStripe, type FakeStripe, serveStripe } from '../support/fake-stripe.ts'
import { importPaidOrder, payDue, payWith, seedStripeShop } from '../support/payment-references.ts'
import { clearDueRefunds } from '../support/refund-payments.ts'
import { actOnRefund, requestRefund, loadRefundRows } from '../support/refunds.ts'
import { deliverEvent } from '../support/stripe-refunds.ts'

let fake: FakeStripe
beforeEach(async () => {
  await clearDueRefunds()
  fake = createFakeStripe()
  serveStripe(fake)
})
afterEach(() => vi.restoreAllMocks())

const amounts = [100, 50, 30]
const total = 18_000

/** Amounts are in minor units, except in requests. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('ask' as const),
    order: fc.nat({ max: amounts.length - 1 }),
    amount: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({ kind: fc.constant('approve' as const), order: fc.constant(0), amount: fc.constant(0) }),
  fc.record({
    kind: fc.constant('at Stripe' as const),
    order: fc.constant(0),
    amount: fc.integer({ min: 1, max: 12_000 }),
  }),
)

it('the service never asks Stripe for more than a shared payment has left, whatever is approved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const shop = await seedStripeShop()
      const payment = payWith(fake, total)
      const orders: string[] = []
      for (const amount of amounts) orders.push((await importPaidOrder(shop, payment.id, amount)).order)
      for (const { kind, order, amount } of steps) {
        if (kind === 'ask') await requestRefund({ order_id: orders[order], amount })
        else if (kind === 'approve') {
          const pending = (await loadRefundRows(shop)).filter(({ status }) => status === 'pending')
          await Promise.all(pending.map(({ id }) => actOnRefund(id, 'approve')))
          await payDue()
        } else if (!('error' in fake.store.refund(payment, { amount, status: 'succeeded' })))
          expect((await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })).status).toBe(200)
      }
      const failed = (await loadRefundRows(shop)).filter(({ status }) => status === 'failed')
      expect(failed.map(({ failure_code }) => failure_code)).toEqual([])
      expect(fake.store.paidBack(payment.id)).toBeLessThanOrEqual(total)
    }),
    { numRuns: 25, seed: 7 },
  )
}, 60_000)
