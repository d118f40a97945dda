import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createContextAt } from '../../support/context.ts'
import { serveStripeToEachTest } from '../../support/each-stripe.ts'
import type { FakeStripe } from '../../support/fake-stripe.ts'
import { createRefundEngine, clearDueRefunds, loadSaleState } from '../../support/refund-payments.ts'
import { seedDueRefund } from '../../support/seeding/sales/refunds.ts'
import { deliverEvent, seedStripeSale } from '../../support/stripe-refunds.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const createEngine = () => createRefundEngine({ payments: createContextAt(Date.now()).payments }, Date.now())

describe('payment events that are repeated, lost and come in any order', () => {
  it('lead to the sums at Stripe', async () => {
    const conduct = fc.constantFrom('accept', 'accept and cut', 'accept and fail', 'cut')
    const run = fc.record({
      amounts: fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 3 }),
      conducts: fc.array(conduct, { maxLength: 4 }),
      dashboard: fc.option(fc.integer({ min: 1, max: 2000 })),
      fails: fc.array(fc.nat(3), { maxLength: 2 }),
      order: fc.array(fc.nat(100), { minLength: 1, maxLength: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ amounts, conducts, dashboard, fails, order }) => {
        await clearDueRefunds()
        const sale = await seedStripeSale(fake)
        const script = [...conducts]
        fake.respondWith(() => script.shift() ?? 'accept')
        let remainder = sale.amount
        for (const amount of amounts) {
          if (amount > remainder) continue
          remainder -= amount
          await seedDueRefund(sale, { service: 'stripe', requested_minor: amount, approved_minor: amount })
        }
        const engine = createEngine()
        await engine.run()
        if (dashboard !== null) fake.store.refund(sale.payment, { amount: Math.min(dashboard, remainder || 1) })
        const listOwnRefunds = () => fake.store.refunds.filter((refund) => refund.payment_intent === sale.payment.id)
        for (const index of fails) {
          const refund = listOwnRefunds()[index]
          if (refund?.status === 'succeeded') fake.store.change(refund.id, 'failed')
        }
        const events = fake.store.events.filter(({ body }) => body.includes(sale.payment.id))
        const shuffled = order.flatMap((index) => events[index % Math.max(1, events.length)] ?? [])
        for (const event of shuffled) expect((await deliverEvent(sale.account, event)).status).toBe(200)
        for (let round = 0; round < 3; round++) {
          engine.advance(1_800_000)
          await engine.run()
        }
        // Stripe repeats events without an answer, so each event comes at least once in the end.
        const undelivered = fake.store.events.filter(({ body }) => body.includes(sale.payment.id))
        for (const event of undelivered.toReversed()) expect((await deliverEvent(sale.account, event)).status).toBe(200)
        const { payment } = await loadSaleState(sale)
        expect(payment.slice(1)).toEqual([fake.store.paidBack(sale.payment.id), 0])
        const keys = listOwnRefunds().map(({ metadata }) => metadata['refund_key'] ?? '')
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 10 },
    )
  })
})
