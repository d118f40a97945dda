import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createResendGateway } from '../../src/gateways/email/resend.ts'
import { readProviderEvents } from '../../src/gateways/provider-events/provider-events.ts'
import { createGatewayApi } from '../../src/gateways/sms/gatewayapi.ts'
import {
  type FakeProvider,
  signResendEvent,
  buildResendEvent,
  signSmsEvent,
  startFakeProvider,
} from '../support/fake-provider.ts'
import { anEmail, anSms } from '../support/outbound.ts'
import { addReadAtLeast } from '../support/read-at-least.ts'

addReadAtLeast()

let provider: FakeProvider
beforeAll(async () => {
  provider = await startFakeProvider()
})
afterAll(() => provider?.stop())
beforeEach(() => {
  provider.forget()
  provider.respondWith('accept')
  provider.delay(0)
})

const options = () => ({ apiBase: provider.url, apiKey: 'key', now: Date.now, timeoutMs: 400 })

describe('the Resend gateway at a provider with faults', () => {
  const emails = (count: number) => Array.from({ length: count }, () => anEmail())

  it('sends a hundred messages at once and returns the id of each', async () => {
    const mails = emails(100)
    const results = await createResendGateway(options()).send(mails, 'k1')
    expect(results.map((result) => result.ok && result.providerId)).toEqual(provider.accepted().map(({ id }) => id))
    expect(provider.accepted().map(({ reference }) => reference)).toEqual(mails.map(({ reference }) => reference))
    expect(provider.calls()).toHaveLength(1)
  })

  it.for(['accept and hang', 'accept and cut'] as const)(
    'delivers a message once when it repeats a call after: %s',
    async (how) => {
      const mails = emails(3)
      provider.respondWith((_, nth) => (nth === 1 ? how : 'accept'))
      const gateway = createResendGateway(options())
      for (const result of await gateway.send(mails, 'k2')) expect(result).toMatchObject({ ok: false, kind: 'unknown' })
      const secondResults = await gateway.send(mails, 'k2')
      expect(secondResults.map((result) => result.ok && result.providerId)).toEqual(
        provider.accepted().map(({ id }) => id),
      )
      expect([...provider.counts().values()]).toEqual([1, 1, 1])
    },
  )

  it('reports an unknown result for a key that was used for other messages', async () => {
    const gateway = createResendGateway(options())
    await gateway.send(emails(1), 'k3')
    expect(await gateway.send(emails(1), 'k3')).toMatchObject([{ kind: 'unknown', code: 'invalid_idempotent_request' }])
  })

  it('may repeat a call that is still running', async () => {
    provider.delay(150)
    const mails = emails(1)
    const gateway = createResendGateway(options())
    const [first, second] = await Promise.all([gateway.send(mails, 'k4'), gateway.send(mails, 'k4')])
    expect([first[0], second[0]].filter((result) => result?.ok)).toHaveLength(1)
    expect([first[0], second[0]]).toContainEqual(expect.objectContaining({ kind: 'transient' }))
    expect(provider.accepted()).toHaveLength(1)
  })

  it('delivers the other messages when one address is invalid', async () => {
    const mails = [anEmail(), anEmail({ to: { name: null, address: 'x@invalid.example' } }), anEmail()]
    expect((await createResendGateway(options()).send(mails, 'k5')).map(({ ok }) => ok)).toEqual([true, false, true])
  })

  it.each([
    [
      { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '2' } },
      { kind: 'rate_limited', retryAfterMs: 2000 },
    ],
    [{ status: 403, name: 'invalid_api_key' }, { kind: 'configuration' }],
    [{ status: 503 }, { kind: 'transient' }],
    ['cut', { kind: 'unknown' }],
  ] as const)('says what kind of fault it is when the provider answers %j', async (answer, expected) => {
    provider.respondWith(answer)
    expect(await createResendGateway(options()).send(emails(1), 'k6')).toMatchObject([expected])
    expect(provider.accepted()).toEqual([])
  })
})

describe('the GatewayAPI gateway at a provider with faults', () => {
  it('returns a result for each number', async () => {
    const messages = Array.from({ length: 20 }, () => anSms())
    const oddReference = messages[3]?.reference ?? ''
    provider.respondWith(({ references }) => (references.includes(oddReference) ? 'accept and hang' : 'accept'))
    const results = await createGatewayApi(options()).send(messages, 'k')
    expect(results.map(({ ok }) => ok)).toEqual(messages.map((_, index) => index !== 3))
    expect(results[3]).toMatchObject({ kind: 'unknown', code: 'timeout' })
    expect([...provider.counts().values()]).toEqual(messages.map(() => 1))
  })
})

describe('the signed events of the provider', () => {
  it('are accepted', async () => {
    const secrets = { email: { webhookSecret: `whsec_${btoa('a secret of the tests')}` }, sms: { webhookSecret: 'k' } }
    await createResendGateway(options()).send([anEmail()], 'k')
    await createGatewayApi(options()).send([anSms()], 'k')
    const [mail, sms] = provider.accepted()
    if (!mail || !sms) throw new Error('nothing was accepted')
    const signed = signResendEvent(secrets.email.webhookSecret, buildResendEvent('email.delivered', mail))
    expect(
      await readProviderEvents(secrets, 'resend', { ...signed, headers: new Headers(signed.headers) }, Date.now()),
    ).toMatchObject([{ type: 'delivered', reference: mail.reference, providerId: mail.id }])
    const signedEvent = signSmsEvent(secrets.sms.webhookSecret, 'delivered', sms)
    expect(
      await readProviderEvents(
        secrets,
        'gatewayapi',
        { ...signedEvent, headers: new Headers(signedEvent.headers) },
        Date.now(),
      ),
    ).toMatchObject([{ type: 'delivered', reference: sms.reference, providerId: sms.id, address: `+${sms.to}` }])
  })
})
