import { describe, expect, it, vi } from 'vitest'
import { sweepOutages } from '../../src/modules/system/jobs.ts'
import { get } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { serveStripeToEachTest } from '../support/each-stripe.ts'
import { type FakeStripe, serveStripe } from '../support/fake-stripe.ts'
import { givenEditionMember, importPaidOrder, payWith, seedStripeShop } from '../support/payment-references.ts'
import { createRefundEngine } from '../support/refund-payments.ts'
import { actOnRefund, requestRefund } from '../support/refunds.ts'
import { deliverEvent } from '../support/stripe-refunds.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const minute = 60_000

const createEngine = () => createRefundEngine({ payments: createContextAt(Date.now()).payments })

async function approveRefunds(count: number) {
  const shop = await seedStripeShop()
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const { order } = await importPaidOrder(shop, payWith(fake, 10_000).id)
    const { body } = await requestRefund({ order_id: order })
    await actOnRefund(body.id, 'approve')
    ids.push(body.id)
  }
  return { shop, ids }
}

const readHealth = async (edition: string) => {
  const { body } = await get(`/v1/editions/${edition}/healthcheck`)
  return body.checks.find(({ check_id }: { check_id: string }) => check_id === 'payments.refunds_proceed')
}

const noWait = { waiting_reason: null, waiting_since: null, next_attempt_at: null }

describe('refunds whose provider fails', () => {
  it.each([
    [{ status: 500 }, 'The payment provider answers 500.'],
    [{ status: 429 }, 'The payment provider limits the number of calls (429).'],
    ['cut', 'The payment provider does not answer.'],
  ] as const)('say what they wait for: %j', async (conduct, waiting_reason) => {
    const { shop, ids } = await approveRefunds(2)
    const engine = createEngine()
    fake.respondWith(conduct)
    await engine.run()
    const since = new Date(engine.job.now()).toISOString()
    const nextAttempt = new Date(engine.job.now() + minute).toISOString()
    const waiting = { status: 'processing', waiting_reason, waiting_since: since, next_attempt_at: nextAttempt }
    for (const id of ids) expect((await get(`/v1/refund-requests/${id}`)).body).toMatchObject(waiting)
    expect(await readHealth(shop.edition_id)).toMatchObject({
      passed: false,
      severity: 'warning',
      message: `Refunds wait for the payment provider. ${waiting_reason}`,
    })
    engine.advance(minute)
    await engine.run()
    expect((await get(`/v1/refund-requests/${ids[0]}`)).body).toMatchObject({ waiting_reason, waiting_since: since })
    const listNotices = async () =>
      (await sweepOutages(engine.job)).filter(({ details }) => details['resource_id'] === shop.account)
    expect(await listNotices()).toMatchObject([
      { message: 'A service fails.', details: { reason: waiting_reason, waiting_since: since } },
    ])
    expect(await listNotices()).toEqual([])
    fake.respondWith('accept')
    engine.advance(10 * minute)
    await engine.run()
    expect(await listNotices()).toMatchObject([{ message: 'A service works again.' }])
    for (const id of ids)
      expect((await get(`/v1/refund-requests/${id}`)).body).toMatchObject({ status: 'completed', ...noWait })
    expect(await readHealth(shop.edition_id)).toMatchObject({ passed: true })
  })

  it('wait before the first call while nobody says which payment it is', async () => {
    const { ids } = await approveRefunds(1)
    const engine = createEngine()
    const network = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('', { status: 503 }))
    await engine.run()
    expect((await get(`/v1/refund-requests/${ids[0]}`)).body).toMatchObject({
      status: 'approved',
      waiting_reason: 'The payment provider answers 503.',
    })
    network.mockRestore()
    serveStripe(fake)
    engine.advance(minute)
    await engine.run()
    expect((await get(`/v1/refund-requests/${ids[0]}`)).body).toMatchObject({ status: 'completed', ...noWait })
  })

  it('no longer wait after an event of the provider', async () => {
    const { shop, ids } = await approveRefunds(1)
    const engine = createEngine()
    fake.respondWith('accept and cut')
    await engine.run()
    await deliverEvent(shop.account, fake.store.events.at(-1) ?? { body: '' })
    expect((await get(`/v1/refund-requests/${ids[0]}`)).body).toMatchObject({ status: 'completed', ...noWait })
  })

  it('look the same to a role of the edition', async () => {
    const { shop, ids } = await approveRefunds(1)
    const engine = createEngine()
    fake.respondWith({ status: 500 })
    await engine.run()
    const { token } = await givenEditionMember(shop, 'viewer')
    expect((await get(`/v1/refund-requests/${ids[0]}`, token)).body.waiting_reason).toBe(
      'The payment provider answers 500.',
    )
  })
})
