import { afterEach, describe, expect, it, vi } from 'vitest'
import { buildPaymentGateways } from '../../src/gateways/payments/gateways.ts'
import { PaymentProviderUnavailable } from '../../src/gateways/payments/payments.ts'
import { stripeVersion } from '../../src/gateways/payments/stripe.ts'
import { createFakeStripe, serveStripe } from '../support/fake-stripe.ts'
import { buildCall, account, mockAnswer, buildStripeRefund, createGateway } from '../support/stripe.ts'

afterEach(() => vi.restoreAllMocks())

describe('a refund through Stripe', () => {
  it('is one form-encoded call with its key, its version and the account', async () => {
    const fetched = mockAnswer(200, buildStripeRefund())
    const outcome = await createGateway({ provider_account: 'acct_Nordlys' }).refund(buildCall({ reason: 'fraud' }))
    expect(outcome).toEqual({ state: 'completed', provider_reference: 're_1' })
    expect(fetched).toHaveBeenCalledTimes(1)
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe('https://api.stripe.com/v1/refunds')
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual' })
    expect(init?.headers).toEqual({
      'user-agent': 'event-commerce/1',
      authorization: 'Bearer rk_test_NeverShown1234',
      'stripe-version': stripeVersion,
      'stripe-account': 'acct_Nordlys',
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': 'rfr_1:1',
    })
    expect(Object.fromEntries(new URLSearchParams(init?.body as string))).toEqual({
      payment_intent: 'pi_1',
      amount: '1250',
      reason: 'fraudulent',
      'metadata[refund_request]': 'rfr_1',
      'metadata[refund_key]': 'rfr_1:1',
    })
  })

  it.each([
    ['ch_1', { charge: 'ch_1' }],
    ['py_1', { charge: 'py_1' }],
    ['pi_1', { payment_intent: 'pi_1' }],
  ])('names the payment %s by its own parameter', async (payment, field) => {
    const fetched = mockAnswer(200, buildStripeRefund())
    await createGateway().refund(buildCall({ payment }))
    const fields = Object.fromEntries(new URLSearchParams(fetched.mock.calls[0]?.[1]?.body as string))
    expect(fields).toMatchObject(field)
    expect(Number('charge' in fields) + Number('payment_intent' in fields)).toBe(1)
  })

  it.each(['', 'order-17', 'pi_1&amount=1', 're_1'])(
    'makes no call for a reference that is not a Stripe payment: %s',
    async (payment) => {
      const fetched = mockAnswer(200, buildStripeRefund())
      expect(await createGateway().refund(buildCall({ payment }))).toMatchObject({
        state: 'failed',
        code: 'payment_not_found',
      })
      expect(fetched).not.toHaveBeenCalled()
    },
  )

  it.each([
    ['customer_request', 'requested_by_customer'],
    ['event_cancelled', 'requested_by_customer'],
    ['event_changed', 'requested_by_customer'],
    ['duplicate', 'duplicate'],
    ['fraud', 'fraudulent'],
    ['product_unavailable', 'requested_by_customer'],
    ['other', 'requested_by_customer'],
  ] as const)('sends the reason %s as %s', async (reason, stripeReason) => {
    const fetched = mockAnswer(200, buildStripeRefund())
    await createGateway().refund(buildCall({ reason }))
    expect(new URLSearchParams(fetched.mock.calls[0]?.[1]?.body as string).get('reason')).toBe(stripeReason)
  })

  it.each([
    [{ status: 'succeeded' }, { state: 'completed', provider_reference: 're_1' }],
    [{ status: 'pending' }, { state: 'pending', provider_reference: 're_1' }],
    [{ status: 'requires_action' }, { state: 'pending', provider_reference: 're_1' }],
    [{ status: 'canceled' }, { state: 'failed', code: 'provider_error', is_retryable: true }],
    [{ status: 'failed' }, { state: 'failed', code: 'provider_error', is_retryable: true }],
    [
      { status: 'failed', failure_reason: 'unknown' },
      { state: 'failed', code: 'provider_error' },
    ],
    [
      { status: 'failed', failure_reason: 'toString' },
      { state: 'failed', code: 'provider_error' },
    ],
    [
      { status: 'failed', failure_reason: 'lost_or_stolen_card' },
      { code: 'expired_card', is_retryable: false },
    ],
    [
      { status: 'failed', failure_reason: 'expired_or_canceled_card' },
      { code: 'expired_card', is_retryable: false },
    ],
    [
      { status: 'failed', failure_reason: 'insufficient_funds' },
      { code: 'insufficient_funds', is_retryable: true },
    ],
    [
      { status: 'failed', failure_reason: 'declined' },
      { code: 'declined', is_retryable: true },
    ],
    [
      { status: 'failed', failure_reason: 'merchant_request' },
      { code: 'declined', is_retryable: true },
    ],
    [
      { status: 'failed', failure_reason: 'charge_for_pending_refund_disputed' },
      { code: 'payment_not_refundable', is_retryable: false },
    ],
    [{ status: 'something new' }, { state: 'unknown' }],
  ])('has the result of the answer: %o', async (fields, outcome) => {
    mockAnswer(200, buildStripeRefund(fields))
    expect(await createGateway().refund(buildCall())).toMatchObject(outcome)
  })

  it.each([
    [400, { code: 'charge_already_refunded' }, 'already_refunded', false],
    [400, { code: 'amount_too_large' }, 'amount_too_large', false],
    [400, { param: 'amount', message: 'Refund amount (2) is greater than …' }, 'amount_too_large', false],
    [400, { param: 'amount', code: 'parameter_invalid_integer' }, 'invalid_request', false],
    [400, { code: 'charge_disputed' }, 'payment_not_refundable', false],
    [400, { code: 'balance_insufficient' }, 'insufficient_funds', true],
    [400, { code: 'parameter_unknown' }, 'invalid_request', false],
    [400, { code: 'toString' }, 'invalid_request', false],
    [400, { code: 'testmode_charges_only' }, 'account_not_ready', true],
    [402, { code: 'card_declined' }, 'declined', true],
    [402, {}, 'declined', true],
    [404, { code: 'resource_missing' }, 'payment_not_found', false],
    [401, {}, 'account_not_ready', true],
    [403, { code: 'account_invalid' }, 'account_not_ready', true],
    [422, {}, 'invalid_request', false],
  ])('treats the answer %i %o as %s', async (status, error, code, isRetryable) => {
    mockAnswer(status, { error: { type: 'invalid_request_error', message: 'No.', ...error } })
    expect(await createGateway().refund(buildCall())).toMatchObject({
      state: 'failed',
      code,
      is_retryable: isRetryable,
    })
  })

  it.each([
    [409, { error: { code: 'idempotency_key_in_use' } }],
    [429, { error: { code: 'rate_limit' } }],
    [429, { error: { code: 'lock_timeout' } }],
    [400, { error: { type: 'idempotency_error' } }],
    [500, { error: { type: 'api_error' } }],
    [502, '<html>Bad gateway</html>'],
    [400, '<html>A proxy</html>'],
    [403, '<html>A proxy</html>'],
    [302, ''],
    [200, ''],
    [200, 'no JSON'],
    [200, '{"object":"refund"}'],
    [200, { object: 'charge', id: 'ch_1' }],
    [200, buildStripeRefund({ id: 7 })],
    [200, `"${'x'.repeat(600_000)}"`],
  ])('has an unknown result after %i %s', async (status, body) => {
    mockAnswer(status, body)
    expect(await createGateway().refund(buildCall())).toMatchObject({ state: 'unknown' })
  })

  it.each([
    ['pi_1', { latest_charge: 'ch_1' }, '/v1/payment_intents/pi_1', ['pi_1', 'ch_1']],
    ['ch_1', { payment_intent: 'pi_1' }, '/v1/charges/ch_1', ['ch_1', 'pi_1']],
    ['py_1', { payment_intent: null }, '/v1/charges/py_1', ['py_1']],
  ])('finds every reference that Stripe has for a payment: %s', async (payment, body, path, names) => {
    const fetched = mockAnswer(200, { id: payment, ...body })
    expect(await createGateway().listReferences(payment)).toEqual({ references: names, unread_prefixes: [] })
    expect(fetched.mock.calls[0]?.[0]).toBe(`https://api.stripe.com${path}`)
  })

  it.each([
    [404, 'pi_1', []],
    [401, 'pi_1', ['ch_', 'py_']],
    [403, 'pi_1', ['ch_', 'py_']],
    [403, 'ch_1', ['pi_']],
    [403, 'py_1', ['pi_']],
  ])('says which references of a payment it may not read (%i)', async (status, payment, unread_prefixes) => {
    mockAnswer(status, { error: { type: 'invalid_request_error', message: 'No.' } })
    expect(await createGateway().listReferences(payment)).toEqual({ references: [payment], unread_prefixes })
  })

  it.each([
    [500, {}],
    [429, {}],
    [200, 'no JSON'],
  ])('waits for the references of a payment after %i %o', async (status, body) => {
    mockAnswer(status, body)
    await expect(createGateway().listReferences('pi_1')).rejects.toThrow(PaymentProviderUnavailable)
  })

  it('is not looked up for an invalid reference, and takes zeros for a hidden field', async () => {
    const fetched = mockAnswer(200, {})
    expect(await createGateway().listReferences('order-17')).toEqual({
      references: ['order-17'],
      unread_prefixes: [],
    })
    expect(fetched).not.toHaveBeenCalled()
    expect(['pi_3Nab', 'ch_1', 'order-17', 'pi_1&a=1'].map(createGateway().buildUnknownReference)).toEqual([
      'pi_0000',
      'ch_0',
      'order-17',
      'pi_1&a=1',
    ])
  })

  it('does not repeat what Stripe says about a missing payment', async () => {
    const message = "No such payment_intent: 'pi_1'; a similar object exists in live mode."
    mockAnswer(404, { error: { code: 'resource_missing', message } })
    expect(await createGateway().refund(buildCall())).toMatchObject({
      message: 'Stripe has no payment with this reference.',
    })
  })

  it('has an unknown result when the connection is cut, or no answer comes in time', async () => {
    const fake = createFakeStripe()
    serveStripe(fake)
    const payment = fake.store.pay({ amount: 5000, currency: 'dkk' })
    for (const conduct of ['cut', 'accept and cut', 'accept and hang'] as const) {
      fake.respondWith(conduct)
      const call = buildCall({ payment: payment.id, key: `rfr:${conduct}` })
      expect(await createGateway().refund(call)).toMatchObject({ state: 'unknown' })
    }
    expect(fake.store.paidBack(payment.id)).toBe(2500)
  })

  it('is not called with an API key that is invalid in a header', async () => {
    const fetched = mockAnswer(200, buildStripeRefund())
    const outcome = await createGateway({ api_key: 'rk_test_ø' }).refund(buildCall())
    expect(outcome).toMatchObject({ state: 'failed', code: 'account_not_ready' })
    expect(fetched).not.toHaveBeenCalled()
  })

  it('shows no API key in answers or logs', async () => {
    const logged = ['log', 'error', 'warn', 'info', 'debug'].map((name) =>
      vi.spyOn(console, name as 'log').mockImplementation(() => undefined),
    )
    const logs: unknown[] = []
    for (const status of [400, 401, 403, 404, 500]) {
      const message = `Invalid API Key provided: ${account.api_key}; ${account.webhook_secret}`
      const fetched = mockAnswer(status, { error: { type: 'invalid_request_error', message } })
      logs.push(
        await createGateway().refund(buildCall()),
        await createGateway().lookUp({ ...buildCall(), provider_reference: null }),
      )
      fetched.mockRestore()
    }
    expect(JSON.stringify(logs)).not.toMatch(/NeverShown|whsec_of_the_tests/)
    for (const log of logged) expect(log).not.toHaveBeenCalled()
  })
})

describe('payment services other than Stripe', () => {
  const buildGateway = (service: 'manual' | 'test', environment = 'test') =>
    buildPaymentGateways({ apiBase: '', environment }).get({ ...account, service, api_key: null, webhook_secret: null })

  it('complete a refund by hand at once, without a call', async () => {
    const fetched = mockAnswer(200, {})
    expect(await buildGateway('manual').refund(buildCall())).toEqual({ state: 'completed', provider_reference: null })
    expect(buildGateway('manual').capabilities.is_immediate).toBe(true)
    expect(fetched).not.toHaveBeenCalled()
  })

  it('simulate outcomes by the amount of the refund', async () => {
    const refund = (amount_minor: number) =>
      buildGateway('test').refund(buildCall({ key: `k${amount_minor}:1`, amount_minor }))
    const lookUp = (amount: number, provider_reference: string | null) =>
      buildGateway('test').lookUp({ key: `k${amount}:1`, payment: 'pi_1', provider_reference })
    expect(await refund(1250)).toMatchObject({ state: 'completed' })
    expect(await refund(1201)).toMatchObject({ state: 'failed', code: 'declined', is_retryable: false })
    expect(await refund(1204)).toMatchObject({ state: 'failed', code: 'insufficient_funds', is_retryable: true })
    const pending = await refund(1202)
    expect(pending).toMatchObject({ state: 'pending', provider_reference: expect.any(String) })
    const reference = pending.state === 'pending' ? pending.provider_reference : null
    expect(await lookUp(1202, reference)).toMatchObject({ state: 'failed', code: 'expired_card' })
    expect(await buildGateway('test').findRefund(reference ?? '')).toMatchObject({
      amount_minor: 1202,
      currency: 'dkk',
      key: 'k1202:1',
      payments: ['pi_1'],
    })
    expect(await refund(1203)).toMatchObject({ state: 'unknown' })
    expect(await lookUp(1203, null)).toMatchObject({ state: 'completed' })
    expect(await refund(1203)).toMatchObject({ state: 'completed' })
    expect(await lookUp(9999, null)).toBe('not_found')
    expect(await buildGateway('test').findRefund('re_1')).toBeNull()
  })

  it('simulate nothing in production', () => {
    expect(() => buildGateway('test', 'production')).toThrow(/test/)
    expect(buildGateway('manual', 'production')).toBeDefined()
  })

  it('accept no webhooks', async () => {
    for (const service of ['manual', 'test'] as const)
      await expect(buildGateway(service).readWebhook(new Headers(), new Uint8Array(), 0)).rejects.toMatchObject({
        code: 'not_authenticated',
      })
  })
})
