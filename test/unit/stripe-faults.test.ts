import { afterEach, describe, expect, it, vi } from 'vitest'
import { PaymentProviderUnavailable } from '../../src/gateways/payments/payments.ts'
import { createFakeStripe, disorderEvents, type FakePayment, serveStripe, signPost } from '../support/fake-stripe.ts'
import { buildCall, account, mockAnswer, buildStripeRefund, createGateway } from '../support/stripe.ts'

afterEach(() => vi.restoreAllMocks())

describe('the result of a refund at Stripe', () => {
  it('is found by its key among all refunds of the payment, page by page', async () => {
    const fake = createFakeStripe()
    const fetched = serveStripe(fake)
    const payment = fake.store.pay({ amount: 100_000, currency: 'dkk' })
    for (let nth = 1; nth <= 130; nth++)
      fake.store.refund(payment, { amount: 10, metadata: { refund_key: `rfr_${nth}:1` } })
    const lookup = (key: string) => createGateway().lookUp({ key, payment: payment.charge, provider_reference: null })
    expect(await lookup('rfr_1:1')).toMatchObject({ state: 'completed' })
    expect(await lookup('rfr_130:1')).toMatchObject({ state: 'completed' })
    expect(await lookup('rfr_1:2')).toBe('not_found')
    expect(fetched.mock.calls.map(([url]) => new URL(url as string).searchParams.has('starting_after'))).toEqual([
      false,
      true,
      false,
      false,
      true,
    ])
  })

  it('is read by its reference when that is known', async () => {
    const fake = createFakeStripe()
    serveStripe(fake)
    const payment = fake.store.pay({ amount: 500, currency: 'dkk', account: 'acct_1' })
    const refund = fake.store.refund(payment, { amount: 500 }) as { id: string }
    const call = { key: 'rfr_1:1', payment: payment.id, provider_reference: refund.id }
    const connected = createGateway({ provider_account: 'acct_1' })
    expect(await connected.lookUp(call)).toEqual({ state: 'completed', provider_reference: refund.id })
    fake.store.change(refund.id, 'failed', 'insufficient_funds')
    expect(await connected.lookUp(call)).toMatchObject({ state: 'failed', code: 'insufficient_funds' })
    expect(await createGateway().lookUp(call)).toBe('not_found')
    expect(await connected.findRefund(refund.id)).toMatchObject({
      payments: [payment.id, payment.charge],
      amount_minor: 500,
    })
    expect(await connected.findRefund('re_other')).toBeNull()
    expect(await connected.findRefund('../charges')).toBeNull()
  })

  it.each([401, 403, 429, 500, 503])('is unknown after the answer %i', async (status) => {
    mockAnswer(status, { error: { type: 'api_error', message: 'No.' } })
    const call = { key: 'rfr_1:1', payment: 'pi_1' }
    expect(await createGateway().lookUp({ ...call, provider_reference: null })).toMatchObject({ state: 'unknown' })
    expect(await createGateway().lookUp({ ...call, provider_reference: 're_1' })).toMatchObject({ state: 'unknown' })
    await expect(createGateway().findRefund('re_1')).rejects.toThrow(PaymentProviderUnavailable)
  })

  it.each([
    ['does not end', { object: 'list', data: [buildStripeRefund({ metadata: {} })], has_more: true }],
    ['has refunds that cannot be read', { object: 'list', data: [{ id: 're_2' }], has_more: false }],
    ['does not say whether it ends', { object: 'list', data: [] }],
  ])('is unknown when the list %s', async (_, answer) => {
    mockAnswer(200, answer)
    const call = { key: 'rfr_1:1', payment: 'pi_1', provider_reference: null }
    expect(await createGateway().lookUp(call)).toMatchObject({ state: 'unknown' })
  })
})

describe('a refund at a Stripe with faults', () => {
  it.each(['accept and hang', 'accept and cut', 'cut', { status: 409 }, { status: 429 }, { status: 500 }] as const)(
    'is paid once when the same key is used again after: %o',
    async (conduct) => {
      const fake = createFakeStripe()
      serveStripe(fake)
      const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
      fake.respondWith((_, nth) => (nth === 1 ? conduct : 'accept'))
      const call = buildCall({ payment: payment.id })
      expect(await createGateway().refund(call)).toMatchObject({ state: 'unknown' })
      expect(await createGateway().refund(call)).toMatchObject({ state: 'completed' })
      expect(fake.store.paidBack(payment.id)).toBe(1250)
    },
  )

  it('stays unknown by its key after a 500 that paid, and is found by looking it up', async () => {
    const fake = createFakeStripe()
    serveStripe(fake)
    const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
    fake.respondWith('accept and fail')
    const call = buildCall({ payment: payment.id })
    expect(await createGateway().refund(call)).toMatchObject({ state: 'unknown' })
    fake.respondWith('accept')
    expect(await createGateway().refund(call)).toMatchObject({ state: 'unknown' })
    expect(await createGateway().lookUp({ ...call, provider_reference: null })).toMatchObject({ state: 'completed' })
    expect(fake.store.paidBack(payment.id)).toBe(1250)
  })

  it('is refused beyond the payment, and is unknown under a key of another call', async () => {
    const fake = createFakeStripe()
    serveStripe(fake)
    const { id } = fake.store.pay({ amount: 2000, currency: 'dkk' }) satisfies FakePayment
    expect(await createGateway().refund(buildCall({ payment: id, amount_minor: 2001 }))).toMatchObject({
      code: 'amount_too_large',
    })
    const call = buildCall({ payment: id, key: 'k', amount_minor: 2000 })
    expect(await createGateway().refund(call)).toMatchObject({ state: 'completed' })
    expect(await createGateway().refund({ ...call, amount_minor: 1 })).toMatchObject({ state: 'unknown' })
    expect(await createGateway().refund({ ...call, key: 'other' })).toMatchObject({ code: 'already_refunded' })
    expect(fake.store.paidBack(id)).toBe(2000)
  })
})

describe('an event of Stripe', () => {
  const now = Date.parse('2026-06-01T08:00:00Z')
  const event = {
    id: 'evt_1',
    type: 'refund.failed',
    account: 'acct_1',
    data: { object: buildStripeRefund({ status: 'failed' }) },
  }
  const body = JSON.stringify(event)
  const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  const secret = account.webhook_secret ?? ''
  const verify = (header: string | undefined, text = body, more = {}) =>
    createGateway(more).readWebhook(
      new Headers(header === undefined ? {} : { 'stripe-signature': header }),
      bytes(text),
      now,
    )
  const signAt = async (at: number, by = secret) => (await signPost(by, { body }, at)).headers['stripe-signature'] ?? ''

  it('has its refund and its account', async () => {
    expect(await verify(await signAt(now))).toEqual({
      id: 'evt_1',
      type: 'refund.failed',
      provider_reference: 're_1',
      payment: 'pi_1',
      provider_account: 'acct_1',
    })
  })

  it('matches an independently computed signature', async () => {
    // printf '1780300800.{"id":"evt_2"}' | openssl dgst -sha256 -hmac whsec_of_the_tests
    const header = 't=1780300800,v1=5e959d5a8f96f243fd6319c73a54bc594384e440f202e36702e460959a6b2f17'
    expect(await verify(header, '{"id":"evt_2"}')).toBeNull()
    await expect(verify(header, '{"id":"evt_3"}')).rejects.toMatchObject({ code: 'not_authenticated' })
  })

  it('is accepted within five minutes in both directions, and by one of several signatures', async () => {
    for (const distance of [-300_000, 299_000]) expect(await verify(await signAt(now + distance))).not.toBeNull()
    const good = await signAt(now)
    const [time = '', signature = ''] = good.split(',')
    expect(await verify(`${time},v1=${'0'.repeat(64)},v0=1,${signature}`)).not.toBeNull()
    expect(await verify(`${time}, ${signature}`)).not.toBeNull()
  })

  it('is refused with any other signature', async () => {
    const [time = '', signature = ''] = (await signAt(now)).split(',')
    const wrong = [
      undefined,
      '',
      time,
      signature,
      `${time},v0=${signature.slice(3)}`,
      `${time},v1=`,
      `${time},v1=zz`,
      `${time},${signature.slice(0, -1)}`,
      `${time},${time},${signature}`,
      `t=x,${signature}`,
      await signAt(now - 301_000),
      await signAt(now + 301_000),
      await signAt(now, 'whsec_of_others'),
    ]
    for (const header of wrong) await expect(verify(header)).rejects.toMatchObject({ code: 'not_authenticated' })
    const good = await signAt(now)
    await expect(verify(good, `${body} `)).rejects.toMatchObject({ code: 'not_authenticated' })
    for (const missingSecret of [null, ''])
      await expect(verify(await signAt(now, ' '), body, { webhook_secret: missingSecret })).rejects.toMatchObject({
        code: 'not_authenticated',
      })
  })

  it.each([
    '{}',
    'null',
    'no JSON',
    '{"id":"evt_1","type":"charge.refunded","data":{"object":{"object":"charge","id":"ch_1"}}}',
    '{"id":"evt_1","type":"refund.updated","data":{"object":{"object":"refund"}}}',
    '{"id":"evt_1","type":"payout.paid","data":{"object":{"object":"refund","id":"re_1","amount":1,"currency":"dkk"}}}',
  ])('is ignored when it is of another kind: %s', async (text) => {
    const { headers } = await signPost(secret, { body: text }, now)
    expect(await verify(headers['stripe-signature'], text)).toBeNull()
  })
})

describe('the fake of Stripe', () => {
  it('reports each refund, and each late failure', async () => {
    const { store } = createFakeStripe()
    const payment = store.pay({ amount: 1000, currency: 'dkk', account: 'acct_1' })
    const refund = store.refund(payment, { amount: 400 }) as { id: string }
    expect(store.paidBack(payment.id)).toBe(400)
    store.change(refund.id, 'failed', 'declined')
    expect(store.paidBack(payment.id)).toBe(0)
    expect(store.events.map(({ type }) => type)).toEqual(['refund.created', 'refund.updated', 'refund.failed'])
    const posts = await Promise.all(store.events.map((event) => signPost(account.webhook_secret ?? '', event)))
    for (const { headers, body } of posts) {
      const bytes = new TextEncoder().encode(body) as Uint8Array<ArrayBuffer>
      expect(await createGateway().readWebhook(new Headers(headers), bytes, Date.now())).toMatchObject({
        provider_reference: refund.id,
        payment: payment.id,
        provider_account: 'acct_1',
      })
    }
  })

  it('loses, repeats and reorders its events', () => {
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    const sent = disorderEvents(numbers, Math.random)
    expect(new Set(sent).size).toBeLessThan(200)
    expect(sent.length).toBeGreaterThan(new Set(sent).size)
    expect(sent).not.toEqual(sent.toSorted((a, b) => a - b))
  })
})
