import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeMac } from '../../src/domain/accounts/signed-tokens.ts'
import { createLinkMinter, linkKinds, mintLinkToken, readLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import { newId } from '../../src/domain/ids.ts'

describe('link tokens', () => {
  const secret = 'a key'
  const campaign_id = newId('campaign', 1_768_467_600_000, Math.random)
  const n = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const target = fc.oneof(
    fc.record({ kind: fc.constant('click' as const), n, link: fc.nat(5000) }),
    fc.record({ kind: fc.constantFrom(...linkKinds), n, link: fc.constant(0) }),
  )

  it('return the values from which they were made', async () => {
    await fc.assert(
      fc.asyncProperty(target, async (one) => {
        const token = mintLinkToken(secret, { ...one, campaign_id })
        expect(readLinkToken([secret], one.kind, token)).toEqual({ ...one, campaign_id })
        for (const kind of linkKinds) if (kind !== one.kind) expect(readLinkToken([secret], kind, token)).toBeNull()
        expect(readLinkToken(['another key'], one.kind, token)).toBeNull()
        expect(readLinkToken([''], one.kind, mintLinkToken('', { ...one, campaign_id }))).toBeNull()
      }),
      { numRuns: 50 },
    )
  })

  it('are signed each with bytes of its own, in whatever order they are made', () => {
    const mint = createLinkMinter(secret, campaign_id)
    const targets = [1, 2].flatMap((recipient) => [
      ...linkKinds.map((kind) => ({ kind, n: recipient, link: 0 })),
      ...Array.from({ length: 20 }, (_, index) => ({ kind: 'click' as const, n: recipient, link: index + 1 })),
    ])
    fc.assert(
      fc.property(fc.shuffledSubarray(targets, { minLength: targets.length }), (order) => {
        const tokens = order.map((one) => mint(one))
        expect(tokens).toEqual(order.map((one) => mintLinkToken(secret, { ...one, campaign_id })))
        const macs = tokens.map((token) => Buffer.from(token, 'base64url').subarray(-8).toString('hex'))
        expect(new Set(macs).size).toBe(targets.length)
      }),
      { numRuns: 20 },
    )
  })

  it('have no position among the links unless they are clicks', () => {
    const token = mintLinkToken(secret, { kind: 'open', campaign_id, n: 7, link: 1 })
    for (const kind of linkKinds) expect(readLinkToken([secret], kind, token)).toBeNull()
  })

  it('stay the same in messages that were sent', () => {
    const id = 'cmp_01JX0000000000000000000007'
    const sent = [
      { kind: 'click', n: 7, link: 3, token: 'AZdAAAAAAAAAAAAAAAAABwMHA1wrkXgzZE9W' },
      { kind: 'open', n: 300, link: 0, token: 'AZdAAAAAAAAAAAAAAAAABwCsAgDyxMKNACvU0w' },
      { kind: 'unsubscribe', n: 1_234_567, link: 0, token: 'AZdAAAAAAAAAAAAAAAAABwGHrUsAyfoUklKBlpc' },
      { kind: 'resubscribe', n: 1, link: 0, token: 'AZdAAAAAAAAAAAAAAAAABwIBACIOgbLAOnh1' },
    ] as const
    for (const { token, ...one } of sent) {
      expect(mintLinkToken(secret, { ...one, campaign_id: id })).toBe(token)
      expect(readLinkToken([secret], one.kind, token)).toEqual({ ...one, campaign_id: id })
    }
  })

  it('are made of the first bytes of an HMAC-SHA256 under a key for their purpose', async () => {
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), fc.string(), bytes(300), async (key, purpose, content) => {
        const material = new TextEncoder().encode(`${purpose}:${key}`)
        const algorithm = { name: 'HMAC', hash: 'SHA-256' }
        const platformKey = await crypto.subtle.importKey('raw', material, algorithm, false, ['sign'])
        const mac = new Uint8Array(await crypto.subtle.sign('HMAC', platformKey, Uint8Array.from(content)))
        expect(computeMac(key, { purpose, macBytes: 16 }, content)).toEqual(mac.slice(0, 16))
      }),
    )
  })

  it('are invalid with any character changed', async () => {
    const token = mintLinkToken(secret, { kind: 'click', campaign_id, n: 7, link: 3 })
    expect(token.length).toBeLessThan(48)
    for (let at = 0; at < token.length; at++)
      for (const letter of 'Ab9-_') {
        if (token[at] === letter) continue
        const forged = token.slice(0, at) + letter + token.slice(at + 1)
        expect([forged, readLinkToken([secret], 'click', forged)]).toEqual([forged, null])
      }
    for (const text of ['', 'x', token.slice(1), `${token}A`, `${token}==`, '../../etc'])
      expect(readLinkToken([secret], 'click', text)).toBeNull()
  })
})
