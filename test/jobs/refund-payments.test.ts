import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { editions } from '../../src/db/schema/editions.ts'
import { insert, update } from '../../src/db/write.ts'
import { refundItems, refundRequests } from '../../src/db/schema/refunds.ts'
import { sweepRefunds } from '../../src/modules/refund-payments/jobs.ts'
import { recordOutcome } from '../../src/modules/refund-payments/pay.ts'
import { call } from '../support/api.ts'
import {
  actionsOf,
  auditOf,
  type Conduct,
  givenRefund,
  givenSale,
  providerOf,
  refundEmailsOf,
  refundEngine,
  refundRow,
  stateOf,
} from '../support/refund-payments.ts'
import { db, write } from '../support/seed.ts'
import { seedPurchaseLike } from '../support/wallet.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

beforeEach(() => db().all(sql`update refund_requests set due_at = null`))

async function given(columns: Parameters<typeof givenRefund>[1] = {}, options: Parameters<typeof providerOf>[0] = {}) {
  const sale = await givenSale()
  const refund = await givenRefund(sale, columns)
  const provider = providerOf(options)
  return { sale, refund, provider, engine: refundEngine(provider) }
}

const whole = { purchase: ['active', 10_000, 0], payment: ['refunded', 10_000, 0], refunds: [['captured', 10_000]] }
const untouched = { purchase: ['active', 0, 0], payment: ['captured', 0, 0], refunds: [] }
const waiting = { purchase: ['active', 0, 10_000], payment: ['captured', 0, 10_000], refunds: [] }

describe('the consumer of refunds', () => {
  it('pays back what was approved, once, and writes everything down in one commit', async () => {
    const { sale, refund, provider, engine } = await given({ cancel_purchase: 1 })
    await Promise.all([engine.run(), engine.run(), engine.run()])
    expect(provider.calls).toMatchObject([
      { key: `${refund}:1`, payment: `pi_${sale.transaction}`, amount_minor: 10_000, currency: 'dkk' },
    ])
    expect(await refundRow(refund)).toMatchObject({
      status: 'completed',
      attempts: 1,
      refunded_minor: 10_000,
      provider_reference: `re_1_pi_${sale.transaction}`,
      completed_at: engine.job.now(),
      due_at: null,
      lease_until: null,
    })
    expect(await stateOf(sale)).toEqual({ ...whole, purchase: ['refunded', 10_000, 0] })
    expect(await actionsOf(sale)).toEqual(['refunded:completed:refunded:100'])
    expect(await auditOf(refund)).toEqual(['completeRefund'])
    expect(await refundEmailsOf(refund)).toMatchObject([
      { kind: 'refund_confirmation', recipient: `${sale.user}@example.test`, status: 'pending', order_id: null },
    ])
  })

  it('stores the key before it calls', async () => {
    const { refund, provider, engine } = await given()
    const seen: unknown[] = []
    const { refund: pay } = provider.gateway
    provider.gateway.refund = async (made) => {
      const { status, provider_key, attempts } = await refundRow(refund)
      seen.push([status, provider_key, attempts, made.key])
      return pay(made)
    }
    await engine.run()
    expect(seen).toEqual([['processing', `${refund}:1`, 1, `${refund}:1`]])
  })

  it('pays parts of a payment, whose status follows', async () => {
    const { sale, provider, engine } = await given({ requested_minor: 4000, approved_minor: 2500 })
    await engine.run()
    const half = { purchase: ['active', 2500, 0], payment: ['partially_refunded', 2500, 0], refunds: [['captured', 2500]] }
    expect(await stateOf(sale)).toEqual(half)
    await givenRefund(sale, { approved_minor: 7500, due_at: engine.job.now() })
    await engine.run()
    expect((await stateOf(sale)).payment).toEqual(['refunded', 10_000, 0])
    expect(provider.paid()).toBe(10_000)
  })

  it('releases what the provider refuses to pay', async () => {
    const { sale, refund, provider, engine } = await given({ cancel_purchase: 1 })
    const refusal = { state: 'failed', provider_reference: null, code: 'declined', message: 'No.', is_retryable: true } as const
    provider.play([refusal])
    await engine.run()
    expect(await refundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'declined', failure_message: 'No.' })
    expect(await stateOf(sale)).toEqual(untouched)
    expect(await actionsOf(sale)).toEqual(['refund_failed:failed:active:100'])
    expect(await refundEmailsOf(refund)).toEqual([])
    expect(await auditOf(refund)).toEqual(['failRefund'])
  })

  it('calls nobody for an account that cannot be used, and says so', async () => {
    const { sale, refund, provider, engine } = await given()
    await write(update(editions, { merchant_account_id: null }, sql`id = ${sale.edition}`))
    await write(sql`update merchant_accounts set type = 'stripe' where id = ${sale.account}`)
    await engine.run()
    expect(provider.calls).toEqual([])
    expect(await refundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'account_not_ready' })
    expect(await stateOf(sale)).toEqual(untouched)
  })

  it('cancels all purchases of an order that is paid back, each with its own amount', async () => {
    const { sale, refund, engine } = await given({ target: 'order', purchase_id: null, cancel_purchase: 1 })
    const second = await seedPurchaseLike(sale.purchase)
    await write(
      sql`update refund_items set amount_minor = 6000 where refund_request_id = ${refund}`,
      insert(refundItems, { refund_request_id: refund, purchase_id: second, amount_minor: 4000 }),
      sql`update purchases set reserved_minor = 6000 where id = ${sale.purchase}`,
      sql`update purchases set reserved_minor = 4000, status = 'used' where id = ${second}`,
    )
    await engine.run()
    const rows = await db().all(sql`select status, refunded_minor, reserved_minor, status_before from purchases
      join refund_items on purchase_id = id where order_id = ${sale.order} order by refunded_minor`)
    expect(rows).toEqual([
      { status: 'refunded', refunded_minor: 4000, reserved_minor: 0, status_before: 'used' },
      { status: 'refunded', refunded_minor: 6000, reserved_minor: 0, status_before: 'active' },
    ])
    expect((await actionsOf(sale)).length).toBe(2)
  })

  it('leaves a purchase that has expired meanwhile as it is', async () => {
    const { sale, engine } = await given({ cancel_purchase: 1 })
    await write(sql`update purchases set status = 'expired' where id = ${sale.purchase}`)
    await engine.run()
    expect((await stateOf(sale)).purchase).toEqual(['expired', 10_000, 0])
    expect(await actionsOf(sale)).toEqual(['refunded:completed:expired:100'])
  })

  it('pays many, each once, by several consumers at once', async () => {
    const sale = await givenSale()
    for (let n = 0; n < 12; n++) await givenRefund(sale, { requested_minor: 100, approved_minor: 100 })
    const provider = providerOf()
    const engines = Array.from({ length: 3 }, () => refundEngine(provider))
    await Promise.all(engines.map(({ run }) => run()))
    expect(new Set(provider.calls.map(({ key }) => key)).size).toBe(12)
    expect(provider.calls).toHaveLength(12)
    expect(provider.paid()).toBe(1200)
    expect((await stateOf(sale)).payment).toEqual(['partially_refunded', 1200, 0])
  })
})

describe('a refund of which no answer came', () => {
  it('stays processing under its key until an answer comes', async () => {
    const { sale, refund, provider, engine } = await given()
    provider.play(['lose the call', 'pay and lose the answer'])
    await engine.run()
    expect(await refundRow(refund)).toMatchObject({ status: 'processing', checks: 1, lease_until: null })
    expect(await stateOf(sale)).toEqual(waiting)
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    engine.advance(minute)
    await engine.run()
    engine.advance(2 * minute)
    await engine.run()
    expect(new Set(provider.calls.map(({ key }) => key))).toEqual(new Set([`${refund}:1`]))
    expect(provider.paid()).toBe(10_000)
    expect(await stateOf(sale)).toEqual(whole)
  })

  it('is asked for once its key may be forgotten, and paid under it no more', async () => {
    const { sale, refund, provider, engine } = await given()
    provider.play(['pay and lose the answer'])
    await engine.run()
    engine.advance(20 * hour)
    await engine.run()
    expect([provider.calls.length, provider.asked]).toEqual([1, [`${refund}:1`]])
    expect(await stateOf(sale)).toEqual(whole)
  })

  it('fails when the provider never heard of it, and is then free for another attempt', async () => {
    const { sale, refund, provider, engine } = await given()
    provider.play(['lose the call'])
    await engine.run()
    engine.advance(20 * hour)
    await engine.run()
    expect(await refundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'provider_error' })
    expect(await stateOf(sale)).toEqual(untouched)
    // As `retry` does.
    await write(
      sql`update refund_requests set status = 'approved', due_at = ${engine.job.now()}, version = version + 1
        where id = ${refund}`,
      sql`update purchases set reserved_minor = 10000 where id = ${sale.purchase}`,
      sql`update transactions set reserved_minor = 10000 where id = ${sale.transaction}`,
    )
    await engine.run()
    expect(provider.calls.at(-1)?.key).toBe(`${refund}:2`)
    expect(await refundRow(refund)).toMatchObject({ status: 'completed', attempts: 2, failure_code: null })
    expect(await stateOf(sale)).toEqual(whole)
  })

  it('is never taken for refused when the refusal is only of the repeated call', async () => {
    const { sale, provider, engine } = await given()
    const refusal = { state: 'failed', provider_reference: null, code: 'account_not_ready', message: '', is_retryable: true } as const
    provider.play(['pay and lose the answer', refusal])
    await engine.run()
    provider.reach(false)
    engine.advance(minute)
    await engine.run()
    expect(await stateOf(sale)).toEqual(waiting)
    provider.play([refusal])
    provider.reach(true)
    engine.advance(2 * minute)
    await engine.run()
    expect(await stateOf(sale)).toEqual(whole)
    expect(provider.paid()).toBe(10_000)
  })

  it('is never called for a second time where the provider knows no keys', async () => {
    const { sale, refund, provider, engine } = await given({}, { isIdempotent: false })
    provider.play(['pay and lose the answer', 'pay'])
    await engine.run()
    engine.advance(minute)
    await engine.run()
    expect([provider.calls.length, provider.paid()]).toEqual([1, 10_000])
    expect((await refundRow(refund)).status).toBe('completed')
    expect(await stateOf(sale)).toEqual(whole)
  })
})

describe('a refund that the provider has taken and not decided', () => {
  it('is asked for after 1, 6, 24 and 72 hours and each day, and after 30 days it is for people', async () => {
    const { sale, refund, provider, engine } = await given()
    const health = async () => {
      const { body } = await call(`/v1/editions/${sale.edition}/healthcheck`)
      const checks = body.checks as { check_id: string; passed: boolean }[]
      return checks.find(({ check_id }) => check_id === 'payments.refunds_settled')?.passed
    }
    provider.play(['pay later'])
    await engine.run()
    const began = engine.job.now()
    const dues: number[] = []
    for (let round = 0; round < 34; round++) {
      const { due_at, needs_attention } = await refundRow(refund)
      if (needs_attention) break
      dues.push(((due_at ?? 0) - began) / hour)
      engine.advance((due_at ?? 0) - engine.job.now())
      await engine.run()
    }
    expect(dues.slice(0, 6)).toEqual([1, 6, 24, 72, 96, 120])
    expect([dues.length, dues.at(-1), provider.calls.length]).toEqual([31, 720, 1])
    expect(await refundRow(refund)).toMatchObject({ status: 'processing', needs_attention: 1 })
    expect(await stateOf(sale)).toEqual(waiting)
    expect(await health()).toBe(false)
    provider.decide(`re_1_pi_${sale.transaction}`, true)
    engine.advance(8 * day)
    await engine.run()
    expect(await refundRow(refund)).toMatchObject({ status: 'completed', needs_attention: 0 })
    expect(await health()).toBe(true)
  })

  it('is released when it fails late', async () => {
    const { sale, refund, provider, engine } = await given()
    provider.play(['pay later'])
    await engine.run()
    provider.decide(`re_1_pi_${sale.transaction}`, false)
    engine.advance(hour)
    await engine.run()
    expect(await refundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'expired_card' })
    expect(await stateOf(sale)).toEqual(untouched)
  })
})

describe('a consumer that dies', () => {
  const conducts: Conduct[] = ['pay', 'pay and die', 'die', 'pay and lose the answer', 'pay later']
  it.each(conducts)('at any of its round trips neither pays twice nor loses a refund (%s)', async (conduct) => {
    for (let trips = 0; ; trips++) {
      const { sale, refund, provider, engine } = await given({ cancel_purchase: 1 })
      provider.play([conduct])
      const hasDied = await engine.runDying(trips)
      for (let round = 0; round < 4; round++) {
        engine.advance(10 * minute)
        await engine.runDying()
      }
      for (const reference of provider.refunds.keys()) provider.decide(reference, true)
      engine.advance(hour)
      await engine.run()
      expect([trips, provider.paid(), (await refundRow(refund)).status]).toEqual([trips, 10_000, 'completed'])
      expect(provider.refunds.size).toBe(1)
      expect(await stateOf(sale)).toEqual({ ...whole, purchase: ['refunded', 10_000, 0] })
      expect(await actionsOf(sale)).toEqual(['refunded:completed:refunded:100'])
      expect(await refundEmailsOf(refund)).toHaveLength(1)
      expect(await auditOf(refund)).toEqual(['completeRefund'])
      if (!hasDied && trips > 8) break
      if (trips > 20) break
    }
  })

  it('leaves the refund to another only when its lease is over', async () => {
    const { refund, provider, engine } = await given()
    provider.play(['die'])
    await engine.runDying()
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    engine.advance(3 * minute)
    await engine.run()
    expect(provider.calls.map(({ key }) => key)).toEqual([`${refund}:1`, `${refund}:1`])
    expect((await refundRow(refund)).status).toBe('completed')
  })

  it('and comes back with an old answer changes nothing any more', async () => {
    const { sale, refund, provider, engine } = await given()
    provider.play(['lose the call'])
    await engine.run()
    const old = await refundRow(refund)
    engine.advance(minute)
    await engine.run()
    const failed = { state: 'failed', provider_reference: null, code: 'declined', message: '', is_retryable: true } as const
    await recordOutcome(engine.job, old, failed)
    await recordOutcome(engine.job, old, { state: 'completed', provider_reference: 're_other' })
    expect(await stateOf(sale)).toEqual(whole)
    expect(await actionsOf(sale)).toEqual(['refunded:completed:active:100'])
  })
})

describe('the sweep of refunds', () => {
  it('sends a message for what a lost one left behind, and none when nothing is due', async () => {
    const { engine } = await given()
    await sweepRefunds(engine.job)
    expect(engine.rung).toEqual([0])
    await engine.run()
    engine.rung.length = 0
    await sweepRefunds(engine.job)
    expect(engine.rung).toEqual([])
  })

  it('reads what is due and nothing beside it', async () => {
    const { sale, engine } = await given()
    await engine.run()
    const columns = { status: 'processing' as const, due_at: engine.job.now() + day }
    for (let n = 0; n < 20; n++) await givenRefund(sale, { ...columns, requested_minor: 1, approved_minor: 1 })
    const { meter } = engine.job.db
    const before = { ...meter }
    await sweepRefunds(engine.job)
    expect(meter.queries - before.queries).toBe(1)
    expect(meter.rows_read - before.rows_read).toBeLessThanOrEqual(1)
    expect(await db().all(sql`select 1 from ${refundRequests} where due_at is not null limit 1`)).toHaveLength(1)
  })
})
