import { beforeEach, describe, expect, it } from 'vitest'
import { dayMs as day } from '../../../src/domain/time/instants.ts'
import { recordOutcome } from '../../../src/modules/refund-payments/provider/pay.ts'
import { get } from '../../support/api.ts'
import {
  listAnnouncedActions,
  approveAgain,
  listAuditActions,
  cancelledState,
  type Conduct,
  seedDueSale,
  refundedState,
  loadRefundEmails,
  loadRefundRow,
  buildRefusal,
  clearDueRefunds,
  loadSaleState,
  pendingState,
  unrefundedState,
} from '../../support/refund-payments.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { seedDueRefund } from '../../support/seeding/sales/refunds.ts'

checkSalesCounts()

const minute = 60_000
const hour = 60 * minute

beforeEach(clearDueRefunds)

describe('a refund whose call had no answer', () => {
  it('stays processing under its key until an answer comes', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    provider.setScript(['lose the call', 'pay and lose the answer'])
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'processing', checks: 1, claimed_until: null })
    expect(await loadSaleState(sale)).toEqual(pendingState)
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    engine.advance(minute)
    await engine.run()
    engine.advance(2 * minute)
    await engine.run()
    expect(new Set(provider.calls.map(({ key }) => key))).toEqual(new Set([`${refund}:1`]))
    expect(provider.sumPaid()).toBe(10_000)
    expect(await loadSaleState(sale)).toEqual(refundedState)
  })

  it('is looked up once its key may be forgotten, and is not paid under that key any more', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    provider.setScript(['pay and lose the answer'])
    await engine.run()
    engine.advance(20 * hour)
    await engine.run()
    expect([provider.calls.length, provider.lookedUpKeys]).toEqual([1, [`${refund}:1`]])
    expect(await loadSaleState(sale)).toEqual(refundedState)
  })

  it('fails when the provider never received it, and can then be retried', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    provider.setScript(['lose the call'])
    await engine.run()
    engine.advance(20 * hour)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'provider_error' })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
    await approveAgain(sale, refund, engine.job.now())
    await engine.run()
    expect(provider.calls.at(-1)?.key).toBe(`${refund}:2`)
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', attempts: 2, failure_code: null })
    expect(await loadSaleState(sale)).toEqual(refundedState)
  })

  it('does not fail when only the repeated call is refused', async () => {
    const { sale, provider, engine } = await seedDueSale()
    const refusal = buildRefusal('account_not_ready')
    provider.setScript(['pay and lose the answer', refusal])
    await engine.run()
    provider.setReachable(false)
    engine.advance(minute)
    await engine.run()
    expect(await loadSaleState(sale)).toEqual(pendingState)
    provider.setScript([refusal])
    provider.setReachable(true)
    engine.advance(2 * minute)
    await engine.run()
    expect(await loadSaleState(sale)).toEqual(refundedState)
    expect(provider.sumPaid()).toBe(10_000)
  })

  it('is never called a second time when the provider does not deduplicate', async () => {
    const { sale, refund, provider, engine } = await seedDueSale({}, { isIdempotent: false })
    provider.setScript(['pay and lose the answer', 'pay'])
    await engine.run()
    engine.advance(minute)
    await engine.run()
    expect([provider.calls.length, provider.sumPaid()]).toEqual([1, 10_000])
    expect((await loadRefundRow(refund)).status).toBe('completed')
    expect(await loadSaleState(sale)).toEqual(refundedState)
  })
})

describe('a refund that is pending at the provider', () => {
  it('is looked up after 1, 6, 24 and 72 hours and each day, and is flagged for a person after 30 days', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    const health = async () => {
      const { body } = await get(`/v1/editions/${sale.edition}/healthcheck`)
      const checks = body.checks as { check_id: string; passed: boolean }[]
      return checks.find(({ check_id }) => check_id === 'payments.refunds_settled')?.passed
    }
    provider.setScript(['pay later'])
    await engine.run()
    const began = engine.job.now()
    const dues: number[] = []
    for (let round = 0; round < 34; round++) {
      const { due_at, needs_attention } = await loadRefundRow(refund)
      if (needs_attention) break
      dues.push(((due_at ?? 0) - began) / hour)
      engine.advance((due_at ?? 0) - engine.job.now())
      await engine.run()
    }
    expect(dues.slice(0, 6)).toEqual([1, 6, 24, 72, 96, 120])
    expect([dues.length, dues.at(-1), provider.calls.length]).toEqual([31, 720, 1])
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'processing', needs_attention: true })
    expect(await loadSaleState(sale)).toEqual(pendingState)
    expect(await health()).toBe(false)
    provider.decide(`re_1_pi_${sale.transaction}`, true)
    engine.advance(8 * day)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', needs_attention: false })
    expect(await health()).toBe(true)
  })

  it('releases its amount when it fails late', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    provider.setScript(['pay later'])
    await engine.run()
    provider.decide(`re_1_pi_${sale.transaction}`, false)
    engine.advance(hour)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'expired_card' })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
  })
})

describe('a crash of the consumer of refunds', () => {
  const conducts: Conduct[] = ['pay', 'pay and die', 'die', 'pay and lose the answer', 'pay later']
  it.each(conducts)('pays no refund twice and loses none, at any round trip (%s)', async (conduct) => {
    for (let trips = 0; ; trips++) {
      const { sale, refund, provider, engine } = await seedDueSale({ cancel_purchase: true })
      provider.setScript([conduct])
      const hasDied = await engine.runUntilCrash(trips)
      for (let round = 0; round < 4; round++) {
        engine.advance(10 * minute)
        await engine.runUntilCrash()
      }
      for (const reference of provider.refunds.keys()) provider.decide(reference, true)
      engine.advance(hour)
      await engine.run()
      expect([trips, provider.sumPaid(), (await loadRefundRow(refund)).status]).toEqual([trips, 10_000, 'completed'])
      expect(provider.refunds.size).toBe(1)
      expect(await loadSaleState(sale)).toEqual(cancelledState)
      expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:refunded:100'])
      expect(await loadRefundEmails(refund)).toHaveLength(1)
      expect(await listAuditActions(refund)).toEqual(['completeRefund'])
      if (!hasDied && trips > 8) break
      if (trips > 20) break
    }
  })

  it('lets no other consumer pay the refund until its claim has expired', async () => {
    const { refund, provider, engine } = await seedDueSale()
    provider.setScript(['die'])
    await engine.runUntilCrash()
    engine.advance(89_000)
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    engine.advance(1000)
    await engine.run()
    expect(provider.calls.map(({ key }) => key)).toEqual([`${refund}:1`, `${refund}:1`])
    expect((await loadRefundRow(refund)).status).toBe('completed')
  })

  it('changes nothing when its answer comes too late', async () => {
    const { sale, refund, provider, engine } = await seedDueSale()
    provider.setScript(['lose the call'])
    await engine.run()
    const old = await loadRefundRow(refund)
    engine.advance(minute)
    await engine.run()
    const failed = buildRefusal('declined')
    await recordOutcome(engine.job, old, failed)
    await recordOutcome(engine.job, old, { state: 'completed', provider_reference: 're_other' })
    expect(await loadSaleState(sale)).toEqual(refundedState)
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:active:100'])
  })
})

describe('a refund that the provider reverts without an event', () => {
  it('is found by looking it up after 1, 3, 7, 14 and 30 days', async () => {
    const { sale, refund, provider, engine } = await seedDueSale({ cancel_purchase: true })
    await engine.run()
    const began = engine.job.now()
    const dues: number[] = []
    for (let round = 0; round < 4; round++) {
      const { due_at } = await loadRefundRow(refund)
      dues.push(((due_at ?? 0) - began) / day)
      engine.advance((due_at ?? 0) - engine.job.now())
      await engine.run()
    }
    expect([dues, provider.calls.length]).toEqual([[1, 3, 7, 14], 1])
    provider.decide(`re_1_pi_${sale.transaction}`, false)
    engine.advance(16 * day)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', due_at: null, failure_code: 'expired_card' })
    expect(await loadSaleState(sale)).toEqual({ ...unrefundedState, refunds: [['cancelled', 10_000]] })
    expect(await listAnnouncedActions(sale)).toEqual([
      'refunded:completed:refunded:100',
      'refund_failed:failed:active:100',
    ])
    expect((await loadRefundEmails(refund)).map(({ kind }) => kind)).toContain('refund_correction')
  })

  it('is not looked up after 30 days', async () => {
    const { refund, engine } = await seedDueSale()
    await engine.run()
    engine.advance(31 * day)
    await engine.run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', due_at: null, claimed_until: null })
  })
})

describe('a purchase that two refunds cancelled', () => {
  it('is restored only when both have failed late', async () => {
    const half = { cancel_purchase: true, requested_minor: 5000, approved_minor: 5000 }
    const { sale, refund, provider, engine } = await seedDueSale(half)
    const other = await seedDueRefund(sale, half)
    await engine.run()
    expect(await loadSaleState(sale)).toMatchObject({
      purchase: ['refunded', 10_000, 0],
      payment: ['refunded', 10_000, 0],
    })
    const statuses: unknown[] = []
    for (const id of [refund, other]) {
      provider.decide((await loadRefundRow(id)).provider_reference ?? '', false)
      engine.advance(day)
      await engine.run()
      statuses.push((await loadSaleState(sale)).purchase)
      engine.advance(2 * day)
    }
    expect(statuses).toEqual([
      ['refunded', 5000, 0],
      ['active', 0, 0],
    ])
    expect((await listAnnouncedActions(sale)).slice(2)).toEqual([
      'refund_failed:failed:refunded:50',
      'refund_failed:failed:active:50',
    ])
  })
})
