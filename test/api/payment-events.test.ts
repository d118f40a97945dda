import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { createContextAt } from '../support/context.ts'
import { serveStripeToEachTest } from '../support/each-stripe.ts'
import { type FakeEvent, type FakeStripe, serveStripe } from '../support/fake-stripe.ts'
import {
  listAnnouncedActions,
  listAuditActions,
  cancelledState,
  loadRefundEmails,
  createRefundEngine,
  loadRefundRow,
  loadRefundRows,
  loadSaleState,
} from '../support/refund-payments.ts'
import { db, unknownId, write } from '../support/seeding/rows.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { deliverEvent, seedStripeSale, type StripeSale } from '../support/stripe-refunds.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const createEngine = () => createRefundEngine({ payments: createContextAt(Date.now()).payments }, Date.now())
const lastEvent = (): FakeEvent => {
  const event = fake.store.events.at(-1)
  if (!event) throw new Error('nothing happened')
  return event
}
const payInDashboard = (sale: StripeSale, amount: number, status: 'succeeded' | 'pending' = 'succeeded') => {
  const refund = fake.store.refund(sale.payment, { amount, status })
  if ('error' in refund) throw new Error(refund.error.message)
  return refund
}
const eventsTaken = async (sale: StripeSale): Promise<number> =>
  (await db.all(sql`select 1 from payment_events where merchant_account_id = ${sale.account}`)).length

async function seedPaid(columns: Parameters<typeof seedDueRefund>[1] = {}) {
  const sale = await seedStripeSale(fake)
  const refund = await seedDueRefund(sale, { cancel_purchase: true, service: 'stripe', ...columns })
  await createEngine().run()
  return { sale, refund }
}

describe('the sender of a payment event', () => {
  it('must be Stripe: unknown accounts, wrong and old signatures get one answer, and nothing is written', async () => {
    const sale = await seedStripeSale(fake)
    const other = await seedStripeSale(fake)
    payInDashboard(sale, 500)
    const event = lastEvent()
    const replies = [
      await deliverEvent(unknownId(sale.account), event),
      await deliverEvent('nothing', event),
      await deliverEvent(sale.account, event, { secret: 'whsec_other' }),
      await deliverEvent(sale.account, event, { at: Date.now() - 301_000 }),
      await deliverEvent(sale.account, event, { at: Date.now() + 3_600_000 }),
      await deliverEvent(sale.account, event, { headers: {} }),
      await deliverEvent(sale.account, event, { body: `${event.body} ` }),
    ]
    const refusals = replies.map(({ status, text }) => [status, JSON.parse(text).code, JSON.parse(text).detail])
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1)
    expect(refusals[0]?.slice(0, 2)).toEqual([401, 'not_authenticated'])
    await write(sql`update merchant_accounts set type = 'manual' where id = ${other.account}`)
    expect((await deliverEvent(other.account, event)).status).toBe(401)
    expect([await eventsTaken(sale), await loadRefundRows(sale)]).toEqual([0, []])
  })

  it('may send at most 256 KiB', async () => {
    const sale = await seedStripeSale(fake)
    expect((await deliverEvent(sale.account, { body: 'x'.repeat(262_145) })).status).toBe(413)
  })

  it('may send other events and invalid JSON, which change nothing', async () => {
    const sale = await seedStripeSale(fake)
    for (const body of ['{"id":"evt_1","type":"charge.captured","data":{"object":{"id":"ch_1"}}}', 'hello', '[]', ''])
      expect([body, (await deliverEvent(sale.account, { body })).status]).toEqual([body, 200])
    expect(await eventsTaken(sale)).toBe(0)
  })

  it('may name an unknown account, and the event is ignored instead of being sent again for days', async () => {
    const { sale } = await seedPaid()
    const body = JSON.stringify({ ...JSON.parse(lastEvent().body), id: 'evt_odd', account: 'acct_1\nx: y' })
    expect((await deliverEvent(sale.account, { body })).status).toBe(200)
    expect(await eventsTaken(sale)).toBe(0)
  })

  it('can change only payments of its own account', async () => {
    const [sale, victim] = [await seedStripeSale(fake), await seedStripeSale(fake)]
    payInDashboard(victim, 500)
    expect((await deliverEvent(sale.account, lastEvent())).status).toBe(200)
    expect((await loadSaleState(victim)).payment).toEqual(['captured', 0, 0])
    expect([await loadRefundRows(victim), await loadRefundRows(sale)]).toEqual([[], []])
    // An Idempotency-Key with the id of a foreign request has no effect.
    const refund = await seedDueRefund(victim, {
      service: 'stripe',
      status: 'processing',
      provider_key: 'x',
      due_at: null,
    })
    await write(sql`update refund_requests set provider_key = ${`${refund}:1`} where id = ${refund}`)
    fake.store.refund(sale.payment, { amount: 100, metadata: { refund_key: `${refund}:1` } })
    expect((await deliverEvent(sale.account, lastEvent())).status).toBe(200)
    expect((await loadRefundRow(refund)).status).toBe('processing')
    expect(await loadRefundRows(sale)).toMatchObject([{ source: 'provider', refunded_minor: 100 }])
  })
})

describe('an event about a refund that this service requested', () => {
  it('completes the refund when the call had no answer, and is not recorded as a refund from outside', async () => {
    fake.respondWith('accept and cut')
    const { sale, refund } = await seedPaid()
    expect((await loadRefundRow(refund)).status).toBe('processing')
    for (let time = 0; time < 3; time++) expect((await deliverEvent(sale.account, lastEvent())).status).toBe(200)
    expect(await loadRefundRow(refund)).toMatchObject({
      status: 'completed',
      provider_reference: fake.store.refunds[0]?.id,
    })
    expect(await loadSaleState(sale)).toEqual(cancelledState)
    expect((await loadRefundRows(sale)).length).toBe(1)
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:refunded:100'])
    expect([await eventsTaken(sale), (await loadRefundEmails(refund)).length]).toEqual([1, 1])
  })

  it('completes the refund once when it comes while the call is open', async () => {
    const sale = await seedStripeSale(fake)
    const refund = await seedDueRefund(sale, { cancel_purchase: true, service: 'stripe' })
    const engine = createEngine()
    const { payments } = createContextAt(Date.now())
    const early = createRefundEngine({
      payments: {
        get: (account) => ({
          ...payments.get(account),
          refund: async (call) => {
            const outcome = await payments.get(account).refund(call)
            expect((await deliverEvent(sale.account, lastEvent())).status).toBe(200)
            return outcome
          },
        }),
      },
    })
    await early.run()
    await engine.run()
    expect(await loadSaleState(sale)).toEqual(cancelledState)
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:refunded:100'])
    expect(await loadRefundEmails(refund)).toHaveLength(1)
  })

  it('reverts amounts and purchase after a late failure, with webhook, audit entry and e-mail', async () => {
    const { sale, refund } = await seedPaid()
    expect(await loadSaleState(sale)).toEqual(cancelledState)
    fake.store.change(fake.store.refunds[0]?.id ?? '', 'failed', 'expired_or_canceled_card')
    for (const event of [...fake.store.events, ...fake.store.events])
      expect((await deliverEvent(sale.account, event)).status).toBe(200)
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', refunded_minor: 0, completed_at: null })
    expect(await loadSaleState(sale)).toEqual({
      purchase: ['active', 0, 0],
      payment: ['captured', 0, 0],
      refunds: [['cancelled', 10_000]],
    })
    expect(await listAnnouncedActions(sale)).toEqual([
      'refunded:completed:refunded:100',
      'refund_failed:failed:active:100',
    ])
    expect(await listAuditActions(refund)).toEqual(['completeRefund', 'takeBackRefund'])
    expect((await loadRefundEmails(refund)).map(({ kind }) => kind).toSorted()).toEqual([
      'refund_confirmation',
      'refund_correction',
    ])
  })

  it('does not change a purchase after a late failure when something else has changed it since', async () => {
    const { sale } = await seedPaid({ cancel_purchase: false })
    await write(sql`update purchases set status = 'expired' where id = ${sale.purchase}`)
    fake.store.change(fake.store.refunds[0]?.id ?? '', 'failed')
    await deliverEvent(sale.account, lastEvent())
    expect((await loadSaleState(sale)).purchase).toEqual(['expired', 0, 0])
  })

  it('is refused after an error of the service or of Stripe, so that Stripe sends it again', async () => {
    fake.respondWith('accept and cut')
    const { sale, refund } = await seedPaid()
    const event = lastEvent()
    vi.restoreAllMocks()
    const network = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Network connection lost.'))
    expect((await deliverEvent(sale.account, event)).status).toBe(503)
    network.mockRestore()
    expect([await eventsTaken(sale), (await loadRefundRow(refund)).status]).toEqual([0, 'processing'])
    serveStripe(fake)
    expect((await deliverEvent(sale.account, event)).status).toBe(200)
    expect((await loadRefundRow(refund)).status).toBe('completed')
  })

  it('completes a request that waits for its next attempt when an earlier attempt was paid after all', async () => {
    fake.respondWith('accept and cut')
    const { sale, refund } = await seedPaid()
    await write(
      sql`update refund_requests set status = 'approved', provider_key = null, due_at = ${Date.now()}, attempts = 1,
        version = version + 1 where id = ${refund}`,
    )
    expect((await deliverEvent(sale.account, lastEvent())).status).toBe(200)
    await createEngine().run()
    expect(await loadSaleState(sale)).toEqual(cancelledState)
    expect(fake.store.paidBack(sale.payment.id)).toBe(10_000)
  })

  it('counts the amount of an attempt that had failed, and flags the refund for a person', async () => {
    fake.respondWith('accept and cut')
    const { sale, refund } = await seedPaid()
    await write(
      sql`update refund_requests set status = 'failed', due_at = null, version = version + 1 where id = ${refund}`,
      sql`update purchases set reserved_minor = 0 where id = ${sale.purchase}`,
      sql`update transactions set reserved_minor = 0 where id = ${sale.transaction}`,
    )
    for (let time = 0; time < 2; time++) await deliverEvent(sale.account, lastEvent())
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', needs_attention: true })
    expect((await loadRefundRows(sale)).map(({ source, refunded_minor }) => [source, refunded_minor])).toEqual([
      ['api', 0],
      ['provider', 10_000],
    ])
    expect((await loadSaleState(sale)).payment).toEqual(['refunded', 10_000, 0])
  })
})

describe('a refund that was made at Stripe itself', () => {
  it('is recorded once, counts on the payment, and does not change the purchase', async () => {
    const sale = await seedStripeSale(fake)
    const refund = payInDashboard(sale, 2500)
    const [event] = fake.store.events
    const twin = {
      ...lastEvent(),
      body: lastEvent().body.replace('refund.created', 'refund.updated').replace('evt_', 'evt_x'),
    }
    await Promise.all(
      [event, event, twin, twin].map((delivered) => deliverEvent(sale.account, delivered ?? lastEvent())),
    )
    expect(await loadRefundRows(sale)).toMatchObject([
      {
        source: 'provider',
        status: 'completed',
        target: 'transaction',
        requested_minor: 2500,
        refunded_minor: 2500,
        provider_reference: refund.id,
        requested_by: null,
        needs_attention: false,
      },
    ])
    expect(await loadSaleState(sale)).toEqual({
      purchase: ['active', 0, 0],
      payment: ['partially_refunded', 2500, 0],
      refunds: [['captured', 2500]],
    })
    const [row] = await loadRefundRows(sale)
    expect(await listAuditActions(row?.id ?? '')).toEqual(['recordProviderRefund'])
    expect([await listAnnouncedActions(sale), await loadRefundEmails(row?.id ?? '')]).toEqual([[], []])
  })

  it('no longer counts when it fails late', async () => {
    const sale = await seedStripeSale(fake)
    const refund = payInDashboard(sale, 2500)
    await deliverEvent(sale.account, lastEvent())
    fake.store.change(refund.id, 'failed')
    await deliverEvent(sale.account, lastEvent())
    expect(await loadRefundRows(sale)).toMatchObject([{ status: 'failed', refunded_minor: 0 }])
    expect(await loadSaleState(sale)).toMatchObject({ payment: ['captured', 0, 0], refunds: [['cancelled', 2500]] })
  })

  it.each(['pending', 'authorized', 'cancelled'])('counts on a payment that is %s in this service', async (status) => {
    const sale = await seedStripeSale(fake)
    await write(sql`update transactions set status = ${status} where id = ${sale.transaction}`)
    payInDashboard(sale, 2500)
    await deliverEvent(sale.account, lastEvent())
    expect((await loadSaleState(sale)).payment).toEqual(['partially_refunded', 2500, 0])
  })

  it('is reserved while it is pending, and is looked up when no event reports its end', async () => {
    const sale = await seedStripeSale(fake)
    const refund = payInDashboard(sale, 2500, 'pending')
    await deliverEvent(sale.account, lastEvent())
    expect((await loadSaleState(sale)).payment).toEqual(['captured', 0, 2500])
    fake.store.change(refund.id, 'succeeded')
    const engine = createEngine()
    engine.advance(3_700_000)
    await engine.run()
    expect((await loadSaleState(sale)).payment).toEqual(['partially_refunded', 2500, 0])
    expect(await loadRefundRows(sale)).toMatchObject([{ status: 'completed', source: 'provider' }])
  })

  it('counts in full when open requests have reserved the amount, and these are then refused', async () => {
    const sale = await seedStripeSale(fake)
    const refund = await seedDueRefund(sale, { service: 'stripe' })
    payInDashboard(sale, 10_000)
    await deliverEvent(sale.account, lastEvent())
    expect((await loadSaleState(sale)).payment).toEqual(['refunded', 10_000, 10_000])
    await createEngine().run()
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'failed', failure_code: 'already_refunded' })
    expect((await loadSaleState(sale)).payment).toEqual(['refunded', 10_000, 0])
  })

  it('does not count in a currency other than that of the order, and is flagged for a person', async () => {
    const sale = await seedStripeSale(fake)
    await write(sql`update transactions set currency = 'eur' where id = ${sale.transaction}`)
    payInDashboard(sale, 2500)
    await deliverEvent(sale.account, lastEvent())
    expect(await loadRefundRows(sale)).toMatchObject([
      { refunded_minor: 0, requested_minor: 2500, needs_attention: true },
    ])
    expect(await loadSaleState(sale)).toMatchObject({ payment: ['captured', 0, 0], refunds: [] })
  })
})
