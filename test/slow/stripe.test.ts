import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FakeStripeServer, startFakeStripe } from '../../scripts/support/fake-stripe-server.ts'
import { refundReasons } from '../../src/domain/refunds/refunds.ts'
import { createStripeGateway } from '../../src/gateways/payments/stripe.ts'
import { addReadAtLeast } from '../support/read-at-least.ts'
import { startStripeMock, type StripeMock } from '../support/stripe-mock.ts'
import { buildCall, account } from '../support/stripe.ts'

addReadAtLeast()

afterEach(() => vi.restoreAllMocks())

let mock: StripeMock
beforeAll(async () => {
  mock = await startStripeMock()
  if ('reason' in mock) console.warn(`Skipped: stripe-mock is not there. ${mock.reason}`)
}, 240_000)
afterAll(() => {
  if ('stop' in mock) mock.stop()
})

/** Its keys begin as test keys of the other kind. */
const key = 'sk_test_123'

const gateway = (apiBase: string, provider_account: string | null = null) =>
  createStripeGateway({ ...account, api_key: key, provider_account }, { apiBase, timeoutMs: 5000 })

describe('requests to Stripe', () => {
  it('are valid for its API when they refund an intent or a charge, for every reason', async (context) => {
    if ('reason' in mock) return context.skip(mock.reason)
    for (const reason of refundReasons)
      for (const payment of ['pi_123', 'ch_123', 'py_123'])
        expect(await gateway(mock.url, 'acct_123').refund(buildCall({ reason, payment }))).toMatchObject({
          state: 'completed',
          provider_reference: expect.stringMatching(/^re_/),
        })
  })

  it('are valid for its API when they list the refunds of a payment, and read one', async (context) => {
    if ('reason' in mock) return context.skip(mock.reason)
    const fetched = vi.spyOn(globalThis, 'fetch')
    const ask = gateway(mock.url)
    for (const payment of ['pi_123', 'ch_123'])
      expect(await ask.lookUp({ key: 'rfr_1:1', payment, provider_reference: null })).toBe('not_found')
    expect(await ask.lookUp({ key: 'rfr_1:1', payment: 'pi_123', provider_reference: 're_123' })).toMatchObject({
      state: 'completed',
    })
    expect(await ask.findRefund('re_123')).toMatchObject({ outcome: { state: 'completed' } })
    const answers = await Promise.all(fetched.mock.results.map(({ value }) => value as Promise<Response>))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(answers.length).toBe(4)
  })

  it('are refused by the API with a wrong parameter, so that this check can fail', async (context) => {
    if ('reason' in mock) return context.skip(mock.reason)
    const outcome = await gateway(mock.url).refund(buildCall({ amount_minor: Number.NaN }))
    expect(outcome).toMatchObject({ state: 'failed', code: 'invalid_request' })
  })
})

describe('a refund through the fake of Stripe over the network', () => {
  let fake: FakeStripeServer
  beforeAll(async () => {
    fake = await startFakeStripe({ apiKeys: [key] })
  })
  afterAll(() => fake?.stop())

  it('is paid once after any fault of its first answer', async () => {
    const ask = createStripeGateway({ ...account, api_key: key }, { apiBase: fake.url, timeoutMs: 300 })
    for (const conduct of ['accept and hang', 'accept and cut', 'cut', { status: 500 }] as const) {
      const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
      fake.respondWith((_, nth) => (nth === 1 ? conduct : 'accept'))
      const call = buildCall({ payment: payment.id, key: payment.id })
      expect(await ask.refund(call)).toMatchObject({ state: 'unknown' })
      expect(await ask.refund(call)).toMatchObject({ state: 'completed' })
      expect(fake.store.paidBack(payment.id)).toBe(1250)
    }
  })

  it('is paid once while a request with the same key is running', async () => {
    const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
    fake.respondWith('accept')
    fake.delay(150)
    const call = buildCall({ payment: payment.id, key: 'one' })
    const outcomes = await Promise.all([gateway(fake.url).refund(call), gateway(fake.url).refund(call)])
    fake.delay(0)
    expect(outcomes.map(({ state }) => state).toSorted()).toEqual(['completed', 'unknown'])
    expect(fake.store.paidBack(payment.id)).toBe(1250)
  })

  it('is refused with an unknown API key', async () => {
    const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
    const other = createStripeGateway({ ...account, api_key: 'sk_test_other' }, { apiBase: fake.url })
    const call = buildCall({ payment: payment.id, key: 'two' })
    expect(await other.refund(call)).toMatchObject({ state: 'failed', code: 'account_not_ready' })
    expect(fake.store.paidBack(payment.id)).toBe(0)
  })
})
