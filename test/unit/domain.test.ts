import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  mayAnywhere,
  mayAt,
  memberRoles,
  getReach,
  roleCodes,
  listRolesAt,
  pickStrongerRole,
  type Caller,
  type Grant,
} from '../../src/domain/accounts/access.ts'
import { isWellFormedToken, generateToken } from '../../src/domain/accounts/tokens.ts'
import { pointerTo } from '../../src/domain/errors.ts'
import { idPrefixes, newId } from '../../src/domain/ids.ts'
import { toBcp47, parseLanguage, languages } from '../../src/domain/languages.ts'
import { lifecycle } from '../../src/domain/lifecycle.ts'
import { currencies, formatMoney, maxAmountMinor, toMajor, toMinor } from '../../src/domain/money.ts'
import { fromBase64, sha256, toBase64, toHex, utf8, crc32 } from '../../src/domain/text/encoding.ts'
import { pickFreeSlug, maxSlugLength, slugify, slugPattern, isStorable } from '../../src/domain/text/text.ts'

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))

describe('the checksum of a token', () => {
  it('is valid for any random bytes', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(255)), (stream) => {
        const token = generateToken((length) => Uint8Array.from(stream.take(length)))
        expect(token).toMatch(/^ecm_[0-9A-Za-z]{36}$/)
        expect(isWellFormedToken(token)).toBe(true)
      }),
    )
  })

  it('is invalid with one character changed, added or left out', () => {
    const character = fc.oneof(
      fc.constantFrom(...Array.from('0123456789abcXYZ_-')),
      fc.string({ minLength: 1, maxLength: 1 }),
    )
    fc.assert(
      fc.property(fc.nat(39), character, (at, other) => {
        const token = generateToken(bytes)
        fc.pre(token[at] !== other)
        expect(isWellFormedToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false)
        expect(isWellFormedToken(token.slice(0, at) + token.slice(at + 1))).toBe(false)
        expect(isWellFormedToken(token.slice(0, at) + other + token.slice(at))).toBe(false)
      }),
    )
  })

  it('is the standard CRC-32', () => {
    expect(crc32(utf8('123456789'))).toBe(0xcbf43926)
    expect(crc32(utf8(''))).toBe(0)
  })
})

describe('an amount of money', () => {
  const minor = fc.integer({ min: -maxAmountMinor, max: maxAmountMinor })

  it('is the same after conversion to minor units and back', () => {
    fc.assert(fc.property(minor, (amount) => toMinor(toMajor(amount)) === amount))
    fc.assert(fc.property(minor, (amount) => toMinor(JSON.parse(JSON.stringify(toMajor(amount))) as number) === amount))
  })

  it('has at most two decimals', () => {
    for (const [major, expected] of [
      [0.1 + 0.2, 30],
      [1.005, null],
      [0.001, null],
      [19.99, 1999],
      [1e9, 1e11],
      [999_999_999.99, 99_999_999_999],
      [123_456_789.015, null],
    ] as const)
      expect([major, toMinor(major)]).toEqual([major, expected])
    fc.assert(
      fc.property(minor, fc.integer({ min: 1, max: 9 }), (amount, third) => {
        expect(toMinor(Number(`${(Math.abs(amount) / 100).toFixed(2)}${third}`))).toBeNull()
      }),
    )
  })

  it('is written with its sign, two decimals and its currency', () => {
    expect([0, 5, -5, 1999, -123_456].map((amount) => formatMoney(amount, 'dkk'))).toEqual([
      '0.00 DKK',
      '0.05 DKK',
      '-0.05 DKK',
      '19.99 DKK',
      '-1234.56 DKK',
    ])
    fc.assert(
      fc.property(minor, fc.constantFrom(...currencies), (amount, currency) => {
        expect(Math.round(Number(formatMoney(amount, currency).split(' ')[0]) * 100)).toBe(amount)
      }),
    )
  })
})

describe('a lifecycle', () => {
  const names = ['a', 'b', 'c', 'd'] as const
  const edges = fc.record(Object.fromEntries(names.map((name) => [name, fc.subarray([...names])])))

  it('has the same transitions by source and by target', () => {
    fc.assert(
      fc.property(edges, fc.constantFrom(...names), fc.constantFrom(...names), (map, from, to) => {
        const machine = lifecycle('a', map as Record<(typeof names)[number], (typeof names)[number][]>)
        expect(machine.allows(from, to)).toBe(machine.targetsOf(from).includes(to))
        expect(machine.sourcesOf(to).includes(from)).toBe(machine.allows(from, to))
        expect(machine.isTerminal(from)).toBe(machine.targetsOf(from).length === 0)
        expect(machine.states).toEqual([...names])
      }),
    )
  })
})

describe('a slug', () => {
  const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 40 }))

  it('is valid for any name', () => {
    fc.assert(
      fc.property(name, (one) => {
        const slug = slugify(one, 'fallback')
        expect(slug).toMatch(slugPattern)
        expect(slug.length).toBeLessThanOrEqual(maxSlugLength - 10)
        expect(slugify(slug, 'fallback')).toBe(slug)
      }),
    )
    expect([slugify('Ærø Sommerfest 2026!', 'x'), slugify('日本', 'x'), slugify('---', 'x')]).toEqual([
      'aero-sommerfest-2026',
      'x',
      'x',
    ])
  })

  it('is made unique when it is taken', () => {
    fc.assert(
      fc.property(fc.nat(50), (count) => {
        const takenSlugs = new Set(['a', ...Array.from({ length: count }, (_, index) => `a-${index + 2}`)])
        expect(pickFreeSlug('a', takenSlugs)).toBe(`a-${count + 2}`)
        expect(pickFreeSlug('b', takenSlugs)).toBe('b')
      }),
    )
  })
})

describe('an id', () => {
  it('sorts by the time of creation and has its prefix', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.nat(1000), (at, later) => {
        const [one, other] = [newId('order', at, Math.random), newId('order', at + later + 1, Math.random)]
        expect(one < other).toBe(true)
        expect(one).toMatch(/^ord_[0-9A-HJKMNP-TV-Z]{26}$/)
      }),
    )
    for (const prefix of Object.values(idPrefixes)) expect(prefix).toMatch(/^[a-z]{3}$/)
  })
})

describe('the access of a caller', () => {
  const grant: fc.Arbitrary<Grant> = fc.record({
    organization_id: fc.constantFrom('o1', 'o2'),
    edition_id: fc.constantFrom(null, 'e1', 'e2'),
    role: fc.constantFrom(...memberRoles),
  })
  const buildCaller = (grants: Grant[], is_superuser = false): Caller => ({
    id: 'usr',
    email: null,
    is_superuser,
    grants,
    scopes: [],
    credential: { kind: 'token', id: null, organization_id: null, signed_in_at: null },
  })
  const place = fc.record({
    organization_id: fc.constantFrom('o1', 'o2', 'o3'),
    editions: fc.oneof(fc.constant('any' as const), fc.subarray(['e1', 'e2', 'e3'])),
  })

  it('reaches the places that each check allows', () => {
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 4 }), place, fc.subarray([...roleCodes]), (grants, where, allowed) => {
        const caller = buildCaller(grants)
        const reach = getReach(caller, allowed)
        if (reach.all) throw new Error('nobody here reaches everything')
        const editions = where.editions
        const reached =
          reach.organizations.includes(where.organization_id) ||
          reach.editions.some(
            (edition) =>
              edition.organization_id === where.organization_id &&
              (editions === 'any' || editions.includes(edition.edition_id ?? '')),
          )
        expect(mayAt(caller, allowed, where)).toBe(reached)
        if (reached) expect(mayAnywhere(caller, allowed)).toBe(true)
        expect(listRolesAt(caller, where).length > 0).toBe(mayAt(caller, roleCodes, where))
        expect(mayAt(buildCaller([], true), [], where)).toBe(true)
      }),
    )
  })

  it('compares roles by strength', () => {
    expect(pickStrongerRole('viewer', 'admin')).toBe('admin')
    expect(pickStrongerRole('manager', 'viewer')).toBe('manager')
  })
})

describe('a text or its encoding', () => {
  it('is the same after encoding and decoding', () => {
    fc.assert(fc.property(fc.uint8Array(), (data) => toHex(fromBase64(toBase64(data))) === toHex(data)))
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (one) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(utf8(one)) === one,
      ),
    )
    for (const language of languages) expect(parseLanguage(toBcp47(language))).toBe(language)
    expect([parseLanguage('sv-SE'), parseLanguage('DA_dk'), parseLanguage('de'), parseLanguage('')]).toEqual([
      'se',
      'da',
      null,
      null,
    ])
  })

  it('has the standard hash', async () => {
    expect(toHex(await sha256('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('has a pointer by RFC 6901', () => {
    expect(pointerTo(['blocks', 0, 'a/b~c'])).toBe('#/blocks/0/a~1b~0c')
    expect(pointerTo([])).toBe('#')
  })

  it('is stored without NUL and lone surrogates', () => {
    expect(['a', '', '😀', 'a\0', '\ud83d', '\ude00'].map(isStorable)).toEqual([true, true, true, false, false, false])
  })
})
