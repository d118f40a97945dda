import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { patch } from '../../support/api.ts'
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
import { dearRuns } from '../../support/property-runs.ts'
import { actOnRefund, requestRefund, loadRefundRows, loadTransaction } from '../../support/refunds.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { seedMerchantAccount } from '../../support/seeding/sales/merchant-accounts.ts'
import type { BoughtOrder } from '../../support/seeding/sales/orders.ts'
import { deliverEvent } from '../../support/stripe-refunds.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const amounts = [100, 50, 30]
const total = 18_000

/** Amounts are in minor units, except in requests. */
const paymentStep = fc.oneof(
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
    fc.asyncProperty(fc.array(paymentStep, { minLength: 4, maxLength: 14 }), async (steps) => {
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

type DisputeStep =
  | { kind: 'import'; edition: number; name: number }
  | { kind: 'give up'; which: number }
  | { kind: 'ask'; which: number; amount: number }
  | { kind: 'approve'; which: number; by: number }
  | { kind: 'pay' }
  | { kind: 'change account'; edition: number; to: number }
  | { kind: 'forbid reading'; isForbidden: boolean }

const index = fc.nat({ max: 5 })
const bit = fc.nat({ max: 1 })
const disputeStep: fc.Arbitrary<DisputeStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('import' as const), edition: bit, name: bit }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('give up' as const), which: index }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), which: index, amount: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('approve' as const), which: index, by: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pay' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change account' as const), edition: bit, to: bit }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forbid reading' as const), isForbidden: fc.boolean() }) },
)

/** Two editions that may both have orders with one payment. */
async function seedDispute() {
  const shop = await seedStripeShop()
  const shops = [shop, await seedSibling(shop)]
  const tokens = await Promise.all(shops.map(async (place) => (await givenEditionMember(place)).token))
  const manager = await givenMember({ id: shop.organization_id }, 'manager')
  const manual = await seedMerchantAccount({ id: shop.organization_id }, { settle_manually: false })
  return { shop, shops, tokens: [...tokens, manager.token], manual, payment: payWith(fake, total) }
}

type Dispute = Awaited<ReturnType<typeof seedDispute>>
interface Claim {
  edition: number
  name: number
  bought: BoughtOrder
}

/** Pays what is due, and checks each new refund of the payment against the model. */
async function payAndCheck({ shops, shop }: Dispute, claims: readonly Claim[], isReadable: boolean): Promise<void> {
  const load = async () => (await Promise.all(shops.map(loadRefundRows))).flat()
  const before = new Set((await load()).filter(({ status }) => status === 'completed').map(({ id }) => id))
  await payDue()
  for (const row of await load()) {
    if (row.status !== 'completed' || before.has(row.id) || row.service !== 'stripe') continue
    const own = claims.find(({ bought }) => bought.order === row.order_id)
    const others = claims.filter(({ edition }) => edition !== own?.edition)
    const comparable = isReadable ? others : others.filter(({ name }) => name === own?.name)
    expect(comparable.length === 0 || row.is_approved_by_organization).toBe(true)
    expect(others.length).toBe(comparable.length)
    expect(row.merchant_account_id).toBe(shop.account)
  }
}

it('a payment of several editions is paid back only as a role of the organisation approved, by its own account', async () => {
  await fc.assert(
    fc.asyncProperty(bit, fc.array(disputeStep, { minLength: 6, maxLength: 18 }), async (name, randomSteps) => {
      const imports = [0, 1].map((edition) => ({ kind: 'import' as const, edition, name: edition * name }))
      const steps: DisputeStep[] = [...imports, ...randomSteps]
      fake.allowReading(true)
      const dispute = await seedDispute()
      const { shops, tokens, payment, shop, manual } = dispute
      const accounts: (string | null)[] = [shop.account, shop.account]
      let claims: Claim[] = []
      let isReadable = true
      const orders: { edition: number; order: string }[] = []
      for (const step of steps)
        if (step.kind === 'import') {
          const { edition } = step
          const place = shops[edition] ?? shop
          const bought = await importPaidOrder(place, step.name === 0 ? payment.id : payment.charge, 100)
          claims.push({ edition, name: step.name, bought })
          orders.push({ edition, order: bought.order })
          expect((await loadTransaction(bought.payment)).merchant_account_id).toBe(accounts[edition] ?? null)
        } else if (step.kind === 'give up') {
          const claim = claims[step.which]
          if (!claim) continue
          await changeReference(claim.bought, 'pi_another')
          const { provider_reference } = await loadTransaction(claim.bought.payment)
          if (provider_reference === 'pi_another') claims = claims.filter((other) => other !== claim)
        } else if (step.kind === 'ask') {
          const { order, edition } = orders[step.which % Math.max(1, orders.length)] ?? {}
          if (order !== undefined) await requestRefund({ order_id: order, amount: step.amount }, tokens[edition ?? 0])
        } else if (step.kind === 'approve') {
          const rows = (await Promise.all(shops.map(loadRefundRows))).flat()
          const row = rows[step.which % Math.max(1, rows.length)]
          if (row) await actOnRefund(row.id, 'approve', {}, tokens[step.by])
        } else if (step.kind === 'pay') await payAndCheck(dispute, claims, isReadable)
        else if (step.kind === 'change account') {
          const merchant_account_id = step.to === 0 ? null : manual
          accounts[step.edition] = merchant_account_id
          const path = `/v1/editions/${shops[step.edition]?.edition_id}`
          expect((await patch(path, { merchant_account_id }, tokens[step.edition])).status).toBe(200)
        } else {
          isReadable = !step.isForbidden
          fake.allowReading(isReadable)
        }
      await payAndCheck(dispute, claims, isReadable)
      expect(fake.store.paidBack(payment.id)).toBeLessThanOrEqual(total)
    }),
    { numRuns: dearRuns(60, 8), seed: 11 },
  )
}, 120_000)
