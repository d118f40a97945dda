import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMailbox, mintSignupToken, parseSite, readSignupToken } from '../../src/domain/consents/signups.ts'
import { newId } from '../../src/domain/ids.ts'

describe('findMailbox', () => {
  it.each([
    ['anna@example.test', 'anna@example.test'],
    ['anna+news@example.test', 'anna@example.test'],
    ['anna+a+b@example.test', 'anna@example.test'],
    ['+anna@example.test', '+anna@example.test'],
    ['an.na@example.test', 'an.na@example.test'],
    ['an.na+x@gmail.com', 'anna@gmail.com'],
    ['anna@googlemail.com', 'anna@gmail.com'],
    ['an.na@gmail.com.evil.test', 'an.na@gmail.com.evil.test'],
  ])('reads %s as %s', (address, mailbox) => {
    expect(findMailbox(address)).toBe(mailbox)
  })
})

describe('parseSite', () => {
  it.each([
    ['https://www.example.com', 'https://www.example.com'],
    ['HTTPS://WWW.Example.com:443/', 'https://www.example.com'],
    ['https://example.com:8443', 'https://example.com:8443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1', 'http://127.0.0.1'],
  ])('reads %s as %s', (text, site) => {
    expect(parseSite(text)).toBe(site)
  })

  it.each([
    'http://www.example.com',
    'https://example.com/path',
    'https://example.com?query',
    'https://example.com/#hash',
    'https://user@example.com',
    'https://localhost',
    'https://*.example.com',
    "https://a'b.example",
    'https://[::1]',
    'ftp://example.com',
    'example.com',
    'null',
    '',
  ])('refuses %s', (text) => {
    expect(parseSite(text)).toBeNull()
  })

  it('returns nothing that has a meaning in a content security policy, whatever the text', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('https://', '.example', '*', ';', ' '),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const site = parseSite(parts.join(''))
        expect(site === null || /^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/.test(site)).toBe(true)
        expect(site === null || parseSite(site) === site).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the token of a sign-up', () => {
  const id = newId('signup_request', Date.now(), Math.random)
  const token = mintSignupToken('secret', id)

  it('names the request under its own key, whatever other keys there are', () => {
    expect(readSignupToken(['other', 'secret'], token)).toBe(id)
  })

  it.each([[['other']], [[]]])('names nothing under other keys: %j', (keys) => {
    expect(readSignupToken(keys, token)).toBeNull()
  })

  it('names nothing under an empty key', () => {
    expect(readSignupToken([''], mintSignupToken('', id))).toBeNull()
  })

  it('cannot be changed in any character', () => {
    for (let index = 0; index < token.length; index++) {
      const changed = `${token.slice(0, index)}${token[index] === 'A' ? 'B' : 'A'}${token.slice(index + 1)}`
      expect(readSignupToken(['secret'], changed)).toBeNull()
    }
  })
})
