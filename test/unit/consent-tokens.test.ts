import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mintLinkToken, readLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import {
  mintConfirmationToken,
  mintPreferencesToken,
  preferencesLinkMs,
  readConfirmationToken,
  readPreferencesToken,
  findTaggedAddress,
} from '../../src/domain/consents/consent-tokens.ts'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'

const secret = 'a key'
const now = Date.parse('2026-06-01T12:00:00Z')
const at = fc.integer({ min: 0, max: now })
const ids = (kind: 'user' | 'organization') => at.map((createdAt) => newId(kind, createdAt, Math.random))
const address = fc.record({
  organization_id: ids('organization'),
  channel: fc.constantFrom('email' as const, 'sms' as const),
  address: fc.string(),
})

const aPreferencesToken = (channel: 'email' | 'sms', to: string): string =>
  mintPreferencesToken(secret, {
    organization_id: newId('organization', now, Math.random),
    user_id: newId('user', now, Math.random),
    channel,
    address: to,
    made_at: now,
  })

describe('a token of the pages of consents', () => {
  it('contains the person and the address, and cannot be read or forged without the key', async () => {
    await fc.assert(
      fc.asyncProperty(address, address, ids('user'), async (sentTo, other, user_id) => {
        const token = mintPreferencesToken(secret, { ...sentTo, user_id, made_at: now })
        expect(token).toMatch(/^[\w-]{58}$/)
        const target = readPreferencesToken([secret], token, now)
        expect(target?.user_id).toBe(user_id)
        const tag = target?.tag ?? new Uint8Array()
        expect(findTaggedAddress([secret], tag, [other, sentTo])).toEqual(sentTo)
        expect(findTaggedAddress([secret], tag, [other])).toBeNull()
        expect(findTaggedAddress([secret], tag, [])).toBeNull()
        expect(readPreferencesToken(['another key'], token, now)).toBeNull()
        expect(
          readPreferencesToken([''], mintPreferencesToken('', { ...sentTo, user_id, made_at: now }), now),
        ).toBeNull()
        expect(readConfirmationToken([secret], token)).toBeNull()
      }),
      { numRuns: 30 },
    )
  })

  it('is valid for one purpose only', async () => {
    const sentTo = {
      organization_id: newId('organization', now, Math.random),
      channel: 'email' as const,
      address: 'a@b.dk',
    }
    const answer = {
      user_id: newId('user', now, Math.random),
      consent_id: newId('consent', now, Math.random),
      number: 300,
    }
    const confirmation = mintConfirmationToken(secret, { ...sentTo, ...answer })
    expect(readConfirmationToken([secret], confirmation)).toMatchObject(answer)
    expect(readPreferencesToken([secret], confirmation, now)).toBeNull()
    const campaign_id = newId('campaign', now, Math.random)
    const unsubscribe = mintLinkToken(secret, { kind: 'unsubscribe', campaign_id, n: 1, link: 0 })
    for (const read of [readConfirmationToken([secret], unsubscribe), readPreferencesToken([secret], unsubscribe, now)])
      expect(read).toBeNull()
    expect(readLinkToken([secret], 'unsubscribe', confirmation)).toBeNull()
  })

  it('is refused with any character changed, missing or added', async () => {
    const token = aPreferencesToken('sms', '+4520123456')
    for (let index = 0; index < token.length; index++) {
      const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
      expect([changed, readPreferencesToken([secret], changed, now)]).toEqual([changed, null])
    }
    for (const text of [
      '',
      'x',
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      'A'.repeat(10_000),
    ])
      expect(readPreferencesToken([secret], text, now)).toBeNull()
  })

  it('is valid for two years from the day on which it was made', async () => {
    const token = aPreferencesToken('email', 'a@b.dk')
    const day = Math.floor(now / dayMs) * dayMs
    expect(readPreferencesToken([secret], token, day + preferencesLinkMs)).not.toBeNull()
    expect(readPreferencesToken([secret], token, day + preferencesLinkMs + 1)).toBeNull()
  })
})
