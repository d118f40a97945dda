import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  buildReferenceSince,
  buildReferenceTotal,
  buildSharedRemainder,
  isPaymentOfOtherEdition,
  mayBePaymentOfOtherEdition,
  selectRecordingEdition,
} from '../../../src/db/refunds.ts'
import { get, patch, post } from '../../support/api.ts'
import { createContextAt } from '../../support/context.ts'
import { serveStripeToEachTest } from '../../support/each-stripe.ts'
import type { FakeStripe, serveStripe } from '../../support/fake-stripe.ts'
import {
  changeReference,
  givenEditionMember,
  importPaidOrder,
  payDue,
  payWith,
  refundOrder,
  seedSibling,
  seedStripeAccount,
  seedStripeShop,
} from '../../support/payment-references.ts'
import { actOnBatch, workUntilDone } from '../../support/refund-batches.ts'
import { listAuditActions, createRefundEngine, loadRefundRow } from '../../support/refund-payments.ts'
import { actOnRefund, requestRefund, loadRefundRows } from '../../support/refunds.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { aRow } from '../../support/seeding/imports/staged-imports.ts'
import { db } from '../../support/seeding/rows.ts'
import { deliverEvent } from '../../support/stripe-refunds.ts'
import { importFile, listUndone, undoToEnd } from '../../support/undone-imports.ts'

let fake: FakeStripe
let network: ReturnType<typeof serveStripe>
serveStripeToEachTest((stripe, stripeNetwork) => {
  fake = stripe
  network = stripeNetwork
})

const unknownReference = 'pi_nobodyKnowsThisOne'
const callsToStripe = () =>
  network.mock.calls.map(([input, init]) => {
    const { method, url } = new Request(input, init)
    return `${method} ${new URL(url).pathname.replace(/(?<=\/(?:pi|ch))_\w+$/, '')}`
  })

/** Everything that a caller or Stripe sees of a refund, without ids and times. */
async function observe(order: string, token: string) {
  const before = callsToStripe().length
  const { requested, approved, row } = await refundOrder(order, {}, token)
  const { body } = await get(`/v1/refund-requests/${row.id}`, token)
  const { status, failure_code, failure_message, provider_reference, can_retry } = body
  const retried = await actOnRefund(row.id, 'retry', {}, token)
  await payDue()
  return {
    replies: [requested.status, requested.body.status, approved.status, approved.body.status, retried.body.status],
    shown: { status, failure_code, failure_message, provider_reference, can_retry },
    // The clock of the engine is ahead of the clock of requests.
    audit: (await listAuditActions(row.id)).toSorted(),
    attempts: (await loadRefundRow(row.id)).attempts,
    order: (await get(`/v1/orders/${order}`)).body.transactions.map((transaction: Record<string, unknown>) => [
      transaction['type'],
      transaction['status'],
      transaction['amount'],
      transaction['refunded_amount'],
    ]),
    calls: callsToStripe().slice(before),
  }
}

async function runBatch(edition: string, token?: string): Promise<void> {
  const batch = { filter: {}, amount: 'full', reason: 'event_cancelled' }
  const { body } = await post(`/v1/editions/${edition}/refund-batches`, batch, token)
  await actOnBatch(body.id, 'start', token)
  await workUntilDone(body.id)
  await payDue()
}

describe('a payment reference that another edition has, for roles of the edition', () => {
  it('is refused like a reference that nobody knows', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    const foreign = await importPaidOrder(other, payment.id)
    const unknown = await importPaidOrder(other, unknownReference)
    const { token } = await givenEditionMember(other)
    const foreignView = await observe(foreign.order, token)
    expect(foreignView).toEqual(await observe(unknown.order, token))
    expect(foreignView.shown).toMatchObject({
      status: 'failed',
      failure_code: 'payment_not_found',
      failure_message: 'The provider does not know this payment, or a role of the organisation has to approve it.',
    })
    expect(fake.store.paidBack(payment.id)).toBe(0)
    expect(fake.calls().map((call) => call.payment)).not.toContain(payment.id)
  })

  it('takes as long to refuse as a reference that nobody knows', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    const foreign = await importPaidOrder(other, payment.id)
    const { token } = await givenEditionMember(other)
    fake.delay(150)
    const began = Date.now()
    await refundOrder(foreign.order, {}, token)
    expect(Date.now() - began).toBeGreaterThanOrEqual(150)
  })

  it('is excluded from a batch', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    await importPaidOrder(other, payment.id)
    await runBatch(other.edition_id, (await givenEditionMember(other, 'admin')).token)
    expect(await loadRefundRows(other)).toMatchObject([{ status: 'failed', failure_code: 'payment_not_found' }])
    expect(fake.store.paidBack(payment.id)).toBe(0)
    // The start of a batch is an approval.
    await runBatch(other.edition_id)
    expect((await loadRefundRows(other)).map(({ status }) => status).toSorted()).toEqual(['completed', 'failed'])
  })

  it('is refused by a policy that approves at once, and by a retry', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    const foreign = await importPaidOrder(other, payment.id)
    const unknown = await importPaidOrder(other, unknownReference)
    await patch(`/v1/organizations/${shop.organization_id}`, {
      refund_policy: { four_eyes: false, manager_limit: null, auto_approve_below: 1000 },
    })
    const { token } = await givenEditionMember(other)
    expect((await requestRefund({ order_id: unknown.order }, token)).body.status).toBe('approved')
    const { body } = await requestRefund({ order_id: foreign.order }, token)
    expect(body.status).toBe('approved')
    await payDue()
    await actOnRefund(body.id, 'retry', {}, token)
    await payDue()
    expect(await loadRefundRow(body.id)).toMatchObject({
      status: 'failed',
      failure_code: 'payment_not_found',
      attempts: 2,
    })
    expect(fake.store.paidBack(payment.id)).toBe(0)
  })

  it('stays refused when an older order takes it in an update, and when the edition changes its account', async () => {
    const shop = await seedStripeShop()
    const other = await seedSibling(shop)
    const older = await importPaidOrder(other, 'pi_itsOwnPayment', 100, { created: '2020-01-01T10:00:00Z' })
    const payment = payWith(fake, 10_000)
    const first = await importPaidOrder(shop, payment.id)
    await changeReference(older, payment.id)
    await seedStripeAccount(other)
    const { token } = await givenEditionMember(other)
    expect((await refundOrder(older.order, {}, token)).row).toMatchObject({
      status: 'failed',
      failure_code: 'payment_not_found',
    })
    expect((await refundOrder(first.order)).row).toMatchObject({ status: 'completed' })
    expect(fake.store.paidBack(payment.id)).toBe(10_000)
  })

  it.each(['intent', 'charge'])(
    'stays refused when it names the %s of the payment, and the first order has the other name',
    async (kind) => {
      const shop = await seedStripeShop()
      const payment = payWith(fake, 10_000)
      const names = kind === 'intent' ? [payment.charge, payment.id] : [payment.id, payment.charge]
      const first = await importPaidOrder(shop, names[0] ?? '')
      const other = await seedSibling(shop)
      const foreign = await importPaidOrder(other, names[1] ?? '')
      const unknown = await importPaidOrder(other, kind === 'intent' ? unknownReference : 'ch_nobodyKnowsThisOne')
      const { token } = await givenEditionMember(other)
      expect(await observe(foreign.order, token)).toEqual(await observe(unknown.order, token))
      expect(fake.store.paidBack(payment.id)).toBe(0)
      expect((await refundOrder(first.order)).row.status).toBe('completed')
    },
  )

  it('can be refunded once the order that had it first has given it up', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    const wrong = await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    const { token } = await givenEditionMember(other)
    const right = await importPaidOrder(other, payment.id)
    expect((await refundOrder(right.order, {}, token)).row.status).toBe('failed')
    await changeReference(wrong, 'pi_another')
    expect((await refundOrder(right.order, {}, token)).row.status).toBe('completed')
    expect(fake.store.paidBack(payment.id)).toBe(10_000)
  })

  it('can be refunded once the import of the first order is undone', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 22_500)
    const row = aRow({ 'order.payment_service': 'stripe', 'order.payment_reference': payment.id })
    const { id, orders } = await importFile(shop, [row])
    expect((await get(`/v1/orders/${orders[0]}`)).body.transactions).toMatchObject([{ provider_reference: payment.id }])
    const other = await seedSibling(shop)
    const { token } = await givenEditionMember(other)
    const right = await importPaidOrder(other, payment.id, 225)
    expect((await refundOrder(right.order, {}, token)).row.status).toBe('failed')
    await undoToEnd(id)
    expect((await refundOrder(right.order, {}, token)).row.status).toBe('completed')
  })

  it('is refused in both editions when an update that gave it up is undone', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 22_500)
    const named = { 'order.payment_service': 'stripe', 'order.payment_reference': payment.id }
    const row = aRow(named)
    const first = await importFile(shop, [row])
    const update = { values: { ...row.values, 'order.payment_reference': 'pi_another' } }
    const updated = await importFile(shop, [update])
    const other = await seedSibling(shop)
    const next = await importPaidOrder(other, payment.id, 225)
    await undoToEnd(updated.id)
    const order = first.orders[0] ?? ''
    expect((await get(`/v1/orders/${order}`)).body.transactions).toMatchObject([{ provider_reference: payment.id }])
    for (const [place, refunded] of [
      [shop, order],
      [other, next.order],
    ] as const)
      expect((await refundOrder(refunded, {}, (await givenEditionMember(place)).token)).row).toMatchObject({
        status: 'failed',
        failure_code: 'payment_not_found',
      })
    expect((await refundOrder(next.order)).row.status).toBe('completed')
  })

  it('cannot be restored by undoing an update whose payment is being refunded', async () => {
    const shop = await seedStripeShop()
    const [payment, ownPayment] = [payWith(fake, 22_500), payWith(fake, 22_500)]
    await importPaidOrder(shop, payment.id, 225)
    // The refund holds no purchase, so only the payment shows that it is running.
    const row = aRow({
      'order.status': 'completed',
      'order.amount': 22_500,
      'order.payment_service': 'stripe',
      'order.payment_reference': payment.id,
      'item.status': 'cancelled',
    })
    const other = await seedSibling(shop)
    const { orders } = await importFile(other, [row])
    const order = orders[0] ?? ''
    const { token } = await givenEditionMember(other)
    const { row: refund } = await refundOrder(order, { include_fees: true }, token)
    expect(refund).toMatchObject({ status: 'failed', failure_code: 'payment_not_found' })
    const updated = await importFile(other, [{ values: { ...row.values, 'order.payment_reference': ownPayment.id } }])
    fake.respondWith((_, nth) => (nth === 1 ? { status: 429 } : 'accept'))
    await actOnRefund(refund.id, 'retry')
    await payDue()
    expect((await loadRefundRow(refund.id)).status).toBe('processing')
    await undoToEnd(updated.id)
    expect(await listUndone(updated.id)).toMatchObject([{ undo_outcome: 'kept', undo_reason: 'payment_changed' }])
    await createRefundEngine({ payments: createContextAt(Date.now()).payments }, Date.now() + 120_000).run()
    expect((await loadRefundRow(refund.id)).status).toBe('completed')
    expect([fake.store.paidBack(payment.id), fake.store.paidBack(ownPayment.id)]).toEqual([0, 22_500])
  })

  it('can be refunded in another organisation, which has its own account', async () => {
    const [shop, tenant] = [await seedStripeShop(), await seedStripeShop()]
    const payment = payWith(fake, 10_000)
    await importPaidOrder(tenant, payment.id)
    const { order } = await importPaidOrder(shop, payment.id)
    expect((await refundOrder(order)).row.status).toBe('completed')
  })

  it('is found as fast however many other organisations have it', async () => {
    const shared = buildSharedRemainder(sql`paid`, sql`'edn_1'`)
    const paid = sql`(select 'x' as organization_id, 'pi_1' as provider_reference, 'dkk' as currency,
      1 as reference_since, 0 as refunded_minor, 0 as reserved_minor) as paid`
    const [organization, edition] = [sql`'org_00000001'`, sql`'edn_1'`]
    for (const query of [
      sql`select ${isPaymentOfOtherEdition(organization, edition, sql`'["pi_1"]'`)}`,
      sql`select ${mayBePaymentOfOtherEdition('org_00000001', edition, ['ch_', 'py_'])}`,
      sql`select ${selectRecordingEdition('org_00000001', sql`'["pi_1"]'`)}`,
      sql`select ${buildReferenceSince('org_00000001', sql`'pi_1'`, 1)}`,
      sql`select ${shared} from ${paid}`,
      sql`select ${buildReferenceTotal(sql`paid`)} from ${paid}`,
    ]) {
      const plan = await db.all(sql<{ detail: string }>`explain query plan ${query}`)
      const read = plan
        .map(({ detail }) => detail)
        .filter((line) => /transactions|holder|claim|sharing|orders|sharer/.test(line))
      expect(read.filter((line) => line.includes('transactions_of_provider')).length).toBeGreaterThan(0)
      expect(read.filter((line) => /^SCAN (?!claim$)/.test(line))).toEqual([])
    }
  })
})

describe('a payment that several orders of one edition share', () => {
  it('is paid back from each of them', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 15_000)
    const [one, two] = [await importPaidOrder(shop, payment.id, 100), await importPaidOrder(shop, payment.id, 50)]
    expect((await refundOrder(two.order)).row).toMatchObject({ status: 'completed', refunded_minor: 5000 })
    expect((await refundOrder(one.order)).row).toMatchObject({ status: 'completed', refunded_minor: 10_000 })
    expect(fake.store.paidBack(payment.id)).toBe(15_000)
  })

  it('is requested by a batch only up to what Stripe has not paid back yet', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 18_000)
    for (const amount of [100, 50, 30]) await importPaidOrder(shop, payment.id, amount)
    fake.store.refund(payment, { amount: 12_000, status: 'succeeded' })
    await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })
    await runBatch(shop.edition_id)
    const requestedRefunds = (await loadRefundRows(shop)).filter(({ source }) => source === 'api')
    // Requests of one millisecond have no order.
    expect(requestedRefunds.map(({ status, refunded_minor }) => [status, refunded_minor])).toEqual(
      expect.arrayContaining([
        ['completed', 5000],
        ['completed', 1000],
      ]),
    )
    expect(requestedRefunds).toHaveLength(2)
    expect(fake.store.paidBack(payment.id)).toBe(18_000)
  })

  it('has nothing left for one order after Stripe has paid everything back', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 15_000)
    const [one, two] = [await importPaidOrder(shop, payment.id, 100), await importPaidOrder(shop, payment.id, 50)]
    const waiting = await requestRefund({ order_id: two.order, amount: 20 })
    fake.store.refund(payment, { amount: 15_000, status: 'succeeded' })
    expect((await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })).status).toBe(200)
    expect((await get(`/v1/orders/${one.order}`)).body.transactions[0]).toMatchObject({ refunded_amount: 100 })
    expect(describeRefusal(await requestRefund({ order_id: two.order }))).toBe('409 nothing_to_refund')
    expect((await actOnRefund(waiting.body.id, 'approve')).body).toMatchObject({
      code: 'validation_error',
      max_available_refund_amount: 0,
    })
  })
})

describe('a refund made at Stripe of a shared reference', () => {
  it('counts in the edition whose order had the reference first', async () => {
    const shop = await seedStripeShop()
    const other = await seedSibling(shop)
    const older = await importPaidOrder(other, 'pi_itsOwnPayment', 100)
    const payment = payWith(fake, 10_000)
    const first = await importPaidOrder(shop, payment.id)
    await changeReference(older, payment.id)
    fake.store.refund(payment, { amount: 2500, status: 'succeeded' })
    await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })
    const readRefundedAmount = async (order: string) =>
      (await get(`/v1/orders/${order}`)).body.transactions[0].refunded_amount
    expect([await readRefundedAmount(first.order), await readRefundedAmount(older.order)]).toEqual([25, 0])
  })

  it('counts nowhere when that edition had another account', async () => {
    const shop = await seedStripeShop()
    const other = await seedSibling(shop)
    const payment = payWith(fake, 10_000)
    await seedStripeAccount(shop)
    await importPaidOrder(shop, payment.id)
    const foreign = await importPaidOrder(other, payment.id)
    fake.store.refund(payment, { amount: 2500, status: 'succeeded' })
    await deliverEvent(other.account, fake.store.events.at(-1) ?? { body: '' })
    expect((await get(`/v1/orders/${foreign.order}`)).body.transactions).toMatchObject([{ refunded_amount: 0 }])
  })

  it('counts in the edition for which a role of the organisation approved a refund', async () => {
    const shop = await seedStripeShop()
    const owner = await seedSibling(shop)
    const payment = payWith(fake, 10_000)
    const early = await importPaidOrder(shop, payment.id)
    const owned = await importPaidOrder(owner, payment.id)
    expect((await refundOrder(owned.order, { amount: 10 })).row.status).toBe('completed')
    fake.store.refund(payment, { amount: 2500, status: 'succeeded' })
    await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })
    const readRefundedAmount = async (order: string) =>
      (await get(`/v1/orders/${order}`)).body.transactions[0].refunded_amount
    expect([await readRefundedAmount(early.order), await readRefundedAmount(owned.order)]).toEqual([0, 35])
  })

  it('counts for an order that has enough left', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 15_000)
    const [one, two] = [await importPaidOrder(shop, payment.id, 50), await importPaidOrder(shop, payment.id, 100)]
    fake.store.refund(payment, { amount: 10_000, status: 'succeeded' })
    await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })
    const readRefundedAmount = async (order: string) =>
      (await get(`/v1/orders/${order}`)).body.transactions[0].refunded_amount
    expect([await readRefundedAmount(one.order), await readRefundedAmount(two.order)]).toEqual([0, 100])
  })
})
