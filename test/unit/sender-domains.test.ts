import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEmailAddress, findSenderNameFault, chooseSender } from '../../src/domain/messaging/mailbox.ts'
import {
  maxSenderDomainLength,
  normalizeDomain,
  buildOwnershipRecord,
} from '../../src/domain/messaging/sender-domains.ts'

const platform = { name: 'Events', address: 'no-reply@platform.example' }

describe('a domain name', () => {
  it('has one normal form, which is that of DNS', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string({ unit: 'grapheme' }), fc.webAuthority()), (text) => {
        const domain = normalizeDomain(text)
        if (domain === null) return
        expect(domain).toMatch(/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/)
        expect(domain.length).toBeLessThanOrEqual(maxSenderDomainLength)
        expect(buildOwnershipRecord({ domain, token: 'x' }).name.length).toBeLessThanOrEqual(253)
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
  it('is never an address that is not verified, nor a display name that contains an address', () => {
    const fields = fc.record({
      names: fc.array(fc.option(text), { maxLength: 3 }),
      address: fc.option(fc.oneof(text, fc.constant('hello@nordlys.dk'))),
      reply_to: fc.option(text),
      is_verified: fc.boolean(),
    })
    fc.assert(
      fc.property(fields, (sender) => {
        const { from, replyTo } = chooseSender(sender, platform)
        const isOwn = sender.is_verified && sender.address !== null && isEmailAddress(sender.address)
        expect(from.address).toBe(isOwn ? sender.address : platform.address)
        expect(findSenderNameFault(from.name ?? '')).toBeNull()
        expect(from.name).not.toBe('')
        if (replyTo !== null) expect(isEmailAddress(replyTo)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('has the configured reply address, and otherwise the sender that may not be in From', () => {
    const sender = { names: [], address: 'a@x.dk', reply_to: 'r@x.dk', is_verified: false }
    expect(chooseSender(sender, platform)).toEqual({ from: platform, replyTo: 'r@x.dk' })
    expect(chooseSender({ ...sender, reply_to: null }, platform)).toEqual({ from: platform, replyTo: 'a@x.dk' })
    expect(chooseSender({ ...sender, reply_to: '', is_verified: true }, platform)).toEqual({
      from: { name: 'Events', address: 'a@x.dk' },
      replyTo: null,
    })
  })

  it('keeps ordinary display names', () => {
    for (const name of ['Nordlys', 'Rock @ Park', 'Smith, "Bob"', 'Müller & Søn', 'פסטיבל', '👨‍👩‍👧 Family', 'a = b?'])
      expect([
        name,
        findSenderNameFault(name),
        chooseSender({ names: [name], address: null, reply_to: null, is_verified: false }, platform).from.name,
      ]).toEqual([name, null, name])
  })
})
