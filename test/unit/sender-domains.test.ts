import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAddress, senderNameFault, senderOf } from '../../src/domain/messaging/mailbox.ts'
import { maxSenderDomainLength, normalizeDomain, ownershipRecord } from '../../src/domain/messaging/sender-domains.ts'

const platform = { name: 'Events', address: 'no-reply@platform.example' }

describe('a domain', () => {
  it('is spelled in one way, which is that of a name in the name system', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string({ unit: 'grapheme' }), fc.webAuthority()), (text) => {
        const domain = normalizeDomain(text)
        if (domain === null) return
        expect(domain).toMatch(/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/)
        expect(domain.length).toBeLessThanOrEqual(maxSenderDomainLength)
        expect(ownershipRecord({ domain, token: 'x' }).name.length).toBeLessThanOrEqual(253)
        expect(normalizeDomain(domain)).toBe(domain)
        expect(normalizeDomain(`${domain.toUpperCase()}.`)).toBe(domain)
      }),
      { numRuns: 2000 },
    )
  })
})

const nasty = fc.constantFrom('@', 'a@b.dk', '＠', '\u202E', '\u200B', '\r\n', '<', '>', '"', ',', '=?', ' ', 'x', 'Ø')
const text = fc.array(nasty, { maxLength: 12 }).map((parts) => parts.join(''))

describe('the sender of an e-mail', () => {
  it('never comes from an address that is not verified, nor under a name that shows one', () => {
    const fields = fc.record({
      names: fc.array(fc.option(text), { maxLength: 3 }),
      address: fc.option(fc.oneof(text, fc.constant('hello@nordlys.dk'))),
      reply_to: fc.option(text),
      is_verified: fc.boolean(),
    })
    fc.assert(
      fc.property(fields, (given) => {
        const { from, replyTo } = senderOf(given, platform)
        const isOwn = given.is_verified && given.address !== null && isAddress(given.address)
        expect(from.address).toBe(isOwn ? given.address : platform.address)
        expect(senderNameFault(from.name ?? '')).toBeNull()
        expect(from.name).not.toBe('')
        if (replyTo !== null) expect(isAddress(replyTo)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('answers to the address for replies, else to the sender that may not stand in From', () => {
    const given = { names: [], address: 'a@x.dk', reply_to: 'r@x.dk', is_verified: false }
    expect(senderOf(given, platform)).toEqual({ from: platform, replyTo: 'r@x.dk' })
    expect(senderOf({ ...given, reply_to: null }, platform)).toEqual({ from: platform, replyTo: 'a@x.dk' })
    expect(senderOf({ ...given, reply_to: '', is_verified: true }, platform)).toEqual({
      from: { name: 'Events', address: 'a@x.dk' },
      replyTo: null,
    })
  })

  it('keeps names that people have', () => {
    for (const name of ['Nordlys', 'Rock @ Park', 'Smith, "Bob"', 'Müller & Søn', 'פסטיבל', '👨‍👩‍👧 Family', 'a = b?'])
      expect([
        name,
        senderNameFault(name),
        senderOf({ names: [name], address: null, reply_to: null, is_verified: false }, platform).from.name,
      ]).toEqual([name, null, name])
  })
})
