import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { serveStripe } from '../../support/fake-stripe.ts'
import { countAnnouncements, aStep, seedRefundWorld, heal, takeStep, type World } from '../../support/refund-model.ts'
import { clearDueRefunds } from '../../support/refund-payments.ts'
import { expectCountersToBeSums, loadRefundItems, loadRefundRows, loadTransaction } from '../../support/refunds.ts'
import { db } from '../../support/seeding/rows.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

beforeEach(clearDueRefunds)
afterEach(() => vi.restoreAllMocks())

/** Checks that nothing is paid back twice, or beyond what was paid. */
function expectPaidOnce({ fake, payment }: World): void {
  expect(fake.store.paidBack(payment.id)).toBeLessThanOrEqual(payment.amount)
  const paid = fake.store.refunds.filter(({ status }) => status === 'pending' || status === 'succeeded')
  const keys = paid.flatMap(({ metadata }) => metadata['refund_key'] ?? [])
  const requests = keys.map((key) => key.split(':')[0])
  expect(new Set(requests).size).toBe(requests.length)
}

/** Checks that every transition was announced once, also for each purchase of its request, and recorded once. */
async function expectEdgesOnce(world: World): Promise<void> {
  const times = await countAnnouncements(world)
  for (const refund of await loadRefundRows(world.shop)) {
    const entries = await db.all(sql<{ action: string }>`select action from audit_log where resource_id = ${refund.id}`)
    const recorded = (...actions: string[]) => entries.filter(({ action }) => actions.includes(action)).length
    const takenBack = recorded('takeBackRefund')
    const failed = recorded('failRefund') + takenBack
    const approved = recorded('approveRefundRequest', 'retryRefundRequest')
    const isOpen = refund.status === 'approved' || refund.status === 'processing'
    const completed = takenBack + (refund.status === 'completed' ? 1 : 0)
    const expected = {
      refund_requested: 1,
      refund_approved: approved,
      refund_rejected: refund.status === 'rejected' ? 1 : 0,
      refunded: completed,
      refund_failed: failed,
    }
    const ends = ['refund.completed', 'refund.failed'].map((kind) => times.get(`${refund.id}  ${kind}`) ?? 0)
    expect([refund.id, ...ends]).toEqual([refund.id, completed, failed])
    if (refund.source === 'provider') continue
    expect([refund.id, approved]).toEqual([refund.id, failed - takenBack + completed + (isOpen ? 1 : 0)])
    for (const { purchase_id } of await loadRefundItems(refund.id))
      for (const [action, count] of Object.entries(expected))
        expect([refund.status, action, times.get(`${refund.id} ${purchase_id} ${action}`) ?? 0]).toEqual([
          refund.status,
          action,
          count,
        ])
  }
}

describe('refunds at a Stripe with random faults', () => {
  it('are paid once each, and in the end agree with Stripe to the cent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 12, maxLength: 30 }), async (steps) => {
        vi.restoreAllMocks()
        await clearDueRefunds()
        const world = await seedRefundWorld()
        const { fake, payment, shop, bought, byHand } = world
        serveStripe(fake)
        for (const step of steps) {
          await takeStep(world, step)
          expectPaidOnce(world)
          await expectCountersToBeSums(shop)
        }
        await heal(world)
        expectPaidOnce(world)
        await expectCountersToBeSums(shop)
        await expectEdgesOnce(world)
        const { refunded_minor, status } = await loadTransaction(bought.payment)
        expect(refunded_minor).toBe(fake.store.paidBack(payment.id))
        // A payment without refunds follows its order.
        if (refunded_minor === 0) expect(['captured', 'cancelled']).toContain(status)
        else expect(status).toBe(refunded_minor < payment.amount ? 'partially_refunded' : 'refunded')
        const rows = await db.all(sql<{ sum: number }>`select coalesce(sum(amount_minor), 0) as sum from transactions
          where order_id = ${bought.order} and type = 'refund' and status = 'captured'`)
        expect(rows).toEqual([{ sum: refunded_minor }])
        const manual = await loadTransaction(byHand.payment)
        expect(manual.refunded_minor + manual.reserved_minor).toBeLessThanOrEqual(manual.amount_minor)
      }),
      { numRuns: 4, endOnFailure: true },
    )
  }, 600_000)
})
