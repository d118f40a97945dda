import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { editions } from '../../src/db/schema/editions.ts'
import { refundItems, refundRequests } from '../../src/db/schema/refunds.ts'
import { insert, update } from '../../src/db/write.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import type { PaymentGateway } from '../../src/gateways/payments/payments.ts'
import { sweepRefunds } from '../../src/modules/refund-payments/jobs.ts'
import {
  listAnnouncedActions,
  listAuditActions,
  cancelledState,
  seedDueSale,
  createProvider,
  loadRefundEmails,
  createRefundEngine,
  loadRefundRow,
  buildRefusal,
  clearDueRefunds,
  loadSaleState,
  unrefundedState,
} from '../support/refund-payments.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale, seedPurchaseLike } from '../support/seeding/sales/trades.ts'

beforeEach(clearDueRefunds)

describe('the consumer of refunds', () => {
  it('pays approved refunds once, with the same amounts in refund, purchase, webhook and e-mail', async () => {
    const { sale, refund, provider, engine } = await seedDueSale({ cancel_purchase: true })
    await Promise.all([engine.run(), engine.run(), engine.run()])
    expect(provider.calls).toMatchObject([
      { key: `${refund}:1`, payment: `pi_${sale.transaction}`, amount_minor: 10_000, currency: 'dkk' },
    ])
    expect(await loadRefundRow(refund)).toMatchObject({
      status: 'completed',
      attempts: 1,
      refunded_minor: 10_000,
      provider_reference: `re_1_pi_${sale.transaction}`,
      completed_at: engine.job.now(),
      due_at: engine.job.now() + dayMs,
      claimed_until: null,
    })
    expect(await loadSaleState(sale)).toEqual(cancelledState)
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:refunded:100'])
    expect(await listAuditActions(refund)).toEqual(['completeRefund'])
    expect(await loadRefundEmails(refund)).toMatchObject([
      { kind: 'refund_confirmation', recipient: `${sale.user}@example.test`, status: 'pending', order_id: null },
    ])
  })

  it('never calls the provider with a key that is not stored', async () => {
    const { refund, provider, engine } = await seedDueSale()
    const storedKeys: unknown[] = []
    const { refund: pay } = provider.gateway
    provider.gateway.refund = async (call) => {
      const { status, provider_key, attempts } = await loadRefundRow(refund)
      storedKeys.push([status, provider_key, attempts, call.key])
      return pay(call)
    }
    await engine.run()
    expect(storedKeys).toEqual([['processing', `${refund}:1`, 1, `${refund}:1`]])
  })

  it('pays parts of a payment, and updates its status', async () => {
    const { sale, provider, engine } = await seedDueSale({ requested_minor: 4000, approved_minor: 2500 })
    await engine.run()
    const half = {
      purchase: ['active', 2500, 0],
      payment: ['partially_refunded', 2500, 0],
      refunds: [['captured', 2500]],
    }
    expect(await loadSaleState(sale)).toEqual(half)
    await seedDueRefund(sale, { approved_minor: 7500, due_at: engine.job.now() })
    await engine.run()
    expect((await loadSaleState(sale)).payment).toEqual(['refunded', 10_000, 0])
    expect(provider.sumPaid()).toBe(10_000)
  })

  it('releases the amount that the provider refuses to pay', async () => {
    const { sale, refund, provider, engine } = await seedDueSale({ cancel_purchase: true })
    const refusal = buildRefusal('declined')
    provider.setScript([refusal])
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({
      status: 'failed',
      failure_code: 'declined',
      failure_message: 'No.',
    })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
    expect(await listAnnouncedActions(sale)).toEqual(['refund_failed:failed:active:100'])
    expect(await loadRefundEmails(refund)).toEqual([])
    expect(await listAuditActions(refund)).toEqual(['failRefund'])
  })

  it('fails a refund with the reason, and without a call, when its account cannot be used', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    await write(update(editions, { merchant_account_id: null }, sql`id = ${sale.edition}`))
    await write(sql`update merchant_accounts set type = 'stripe' where id = ${sale.account}`)
    await engine.run()
    expect(provider.calls).toEqual([])
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'account_not_ready' })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
  })

  it('cancels all purchases of a refunded order, each with its own amount', async () => {
    const { sale, refund, engine } = await seedDueSale({ target: 'order', purchase_id: null, cancel_purchase: true })
    const second = await seedPurchaseLike(sale.purchase)
    await write(
      sql`update refund_items set amount_minor = 6000 where refund_request_id = ${refund}`,
      insert(refundItems, { refund_request_id: refund, purchase_id: second, amount_minor: 4000 }),
      sql`update purchases set reserved_minor = 6000 where id = ${sale.purchase}`,
      sql`update purchases set reserved_minor = 4000, status = 'used' where id = ${second}`,
    )
    await engine.run()
    const rows = await db.all(sql`select status, refunded_minor, reserved_minor, status_before from purchases
      join refund_items on purchase_id = id where order_id = ${sale.order} order by refunded_minor`)
    expect(rows).toEqual([
      { status: 'refunded', refunded_minor: 4000, reserved_minor: 0, status_before: 'used' },
      { status: 'refunded', refunded_minor: 6000, reserved_minor: 0, status_before: 'active' },
    ])
    expect((await listAnnouncedActions(sale)).length).toBe(2)
  })

  it('does not change a purchase that has expired since', async () => {
    const { sale, engine } = await seedDueSale({ cancel_purchase: true })
    await write(sql`update purchases set status = 'expired' where id = ${sale.purchase}`)
    await engine.run()
    expect((await loadSaleState(sale)).purchase).toEqual(['expired', 10_000, 0])
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:expired:100'])
  })

  it('pays many refunds, each once, with several consumers at once', async () => {
    const sale = await seedSale()
    for (let n = 0; n < 12; n++) await seedDueRefund(sale, { requested_minor: 100, approved_minor: 100 })
    const provider = createProvider()
    const engines = Array.from({ length: 3 }, () => createRefundEngine(provider))
    await Promise.all(engines.map(({ run }) => run()))
    expect(new Set(provider.calls.map(({ key }) => key)).size).toBe(12)
    expect(provider.calls).toHaveLength(12)
    expect(provider.sumPaid()).toBe(1200)
    expect((await loadSaleState(sale)).payment).toEqual(['partially_refunded', 1200, 0])
  })

  it('leaves the other refunds to the next run, which starts at once, when its time is over', async () => {
    const sale = await seedSale()
    for (let n = 0; n < 12; n++) await seedDueRefund(sale, { requested_minor: 100, approved_minor: 100 })
    const provider = createProvider()
    const slow: PaymentGateway = {
      ...provider.gateway,
      refund: (call) => {
        engine.advance(5000)
        return provider.gateway.refund(call)
      },
    }
    const engine = createRefundEngine({ payments: { get: () => slow } })
    await seedDueRefund(sale, { requested_minor: 1, approved_minor: 1, due_at: engine.job.now() + 600_000 })
    await engine.run()
    expect(provider.calls).toHaveLength(10)
    expect(engine.enqueued).toEqual([0])
    await engine.run()
    expect(provider.calls).toHaveLength(12)
    expect(engine.enqueued.at(-1)).toBeGreaterThan(500)
  })
})

describe('the sweep of refunds', () => {
  it('enqueues a message for due refunds, and no message when nothing is due', async () => {
    const { engine } = await seedDueSale()
    await sweepRefunds(engine.job)
    expect(engine.enqueued).toEqual([0])
    await engine.run()
    engine.enqueued.length = 0
    await sweepRefunds(engine.job)
    expect(engine.enqueued).toEqual([])
  })

  it('reads only due rows', async () => {
    const { sale, engine } = await seedDueSale()
    await engine.run()
    const columns = { status: 'processing' as const, due_at: engine.job.now() + dayMs }
    for (let n = 0; n < 20; n++) await seedDueRefund(sale, { ...columns, requested_minor: 1, approved_minor: 1 })
    const { meter } = engine.job.db
    const before = { ...meter }
    await sweepRefunds(engine.job)
    expect(meter.queries - before.queries).toBe(1)
    expect(meter.rows_read - before.rows_read).toBeLessThanOrEqual(1)
    expect(await db.all(sql`select 1 from ${refundRequests} where due_at is not null limit 1`)).toHaveLength(1)
  })
})
