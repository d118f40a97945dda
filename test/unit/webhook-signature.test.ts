import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { fromBase64 } from '../../src/domain/text/encoding.ts'
import { mintSecret, signHeaders } from '../../src/domain/webhooks/webhook-signature.ts'

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const buildKeys = (secret: string) => ({ secret, previous_secret: null, previous_secret_until: null })

describe('a webhook signature', () => {
  it('has the form of the Standard Webhooks specification', async () => {
    const keys = buildKeys('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const event = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', payload: '{"test": 2432232314}' }
    const { headers, primary } = await signHeaders(keys, event, 1_614_265_330_999)
    expect(primary).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(headers).toEqual({
      'webhook-id': event.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': primary,
    })
  })

  it('is accepted by the reference library, for any text', async () => {
    const secret = mintSecret(random)
    for (const payload of ['{}', '{"name":"Ægir 🎟️","n":1.50}', JSON.stringify({ long: 'x'.repeat(10_000) })]) {
      const { headers, primary } = await signHeaders(buildKeys(secret), { id: 'evn_1', payload }, Date.now())
      expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload))
      expect(primary).toHaveLength(47)
      expect(() => new Webhook(secret).verify(`${payload} `, headers)).toThrow('No matching signature found')
      expect(() => new Webhook(mintSecret(random)).verify(payload, headers)).toThrow('No matching signature found')
    }
  })

  it('is made with both secrets after a rotation, until the old one ends', async () => {
    const [secret, previous] = [mintSecret(random), mintSecret(random)]
    const event = { id: 'evn_1', payload: '{"a":1}' }
    const now = Date.now()
    const signUntil = (until: number) =>
      signHeaders({ secret, previous_secret: previous, previous_secret_until: until }, event, now)
    const during = await signUntil(now + 1)
    expect(new Webhook(secret).verify(event.payload, during.headers)).toEqual({ a: 1 })
    expect(new Webhook(previous).verify(event.payload, during.headers)).toEqual({ a: 1 })
    expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(during.headers['webhook-signature']?.startsWith(`${during.primary} `)).toBe(true)
    const after = await signUntil(now)
    expect(after.headers['webhook-signature']).toBe(after.primary)
    expect(() => new Webhook(previous).verify(event.payload, after.headers)).toThrow('No matching signature found')
  })
})

describe('a webhook secret', () => {
  it('is 32 random bytes, in no more than 64 characters', () => {
    const secret = mintSecret(random)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
    expect(secret.length).toBeLessThanOrEqual(64)
    expect(fromBase64(secret.slice(6))).toHaveLength(32)
    expect(mintSecret(random)).not.toBe(secret)
  })
})
