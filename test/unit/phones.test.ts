import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxPhoneLength, normalizePhone } from '../../src/domain/accounts/users.ts'
import { countryCodes } from '../../src/domain/editions/editions.ts'
import { listPhoneDigits } from '../../src/domain/text/fold.ts'

describe('a phone number', () => {
  it.each([
    ['+45 32 12 34 56', '+46', '+4532123456'],
    ['0045 32123456', '+46', '+4532123456'],
    ['00 45 32 12 34 56', '+45', '+4532123456'],
    ['0045-32-12-34-56', null, '+4532123456'],
    ['(+45) 32 12 34 56', '+46', '+4532123456'],
    ['(+45)32123456', null, '+4532123456'],
    [' ( +45 ) 32123456', '+44', '+4532123456'],
    ['(0045) 32 12 34 56', '+46', '+4532123456'],
    ['+(45) 32 12 34 56', '+46', '+4532123456'],
    ['+44 (0)20 7946 0958', '+45', '+442079460958'],
    ['0044 (0)20 7946 0958', '+45', '+442079460958'],
    ['32 12 34 56', '+45', '+4532123456'],
    ['070-174 06 05', '+46', '+46701740605'],
    ['(020) 7946 0958', '+44', '+442079460958'],
    ['(212) 736-5000', '+1', '+12127365000'],
    ['06 12345678', '+31', '+31612345678'],
    ['0664 1234567', '+43', '+436641234567'],
    ['0151 23456789', '+49', '+4915123456789'],
    ['412 34 567', '+47', '+4741234567'],
    ['512 345 678', '+48', '+48512345678'],
    ['040 1234567', '+358', '+358401234567'],
  ])('is read from %s in the country %s as %s', (text, country, phone) => {
    expect(normalizePhone(text, country)).toBe(phone)
  })

  it.each([
    ['32123456', null],
    ['00', '+45'],
    ['0000 45 32123456', '+45'],
    ['+0045 32123456', '+45'],
    ['(+) 32123456', '+45'],
    ['(+45', '+45'],
    ['+45 32123456 call me', '+45'],
    ['x+4532123456', '+45'],
    ['', '+45'],
  ])('is refused from %s in the country %s', (text, country) => {
    expect(normalizePhone(text, country)).toBeNull()
  })

  it('is the same for any spelling of the prefix, and when it is read again', () => {
    const separators = fc.constantFrom('', ' ', '-', '.', ' / ')
    const countries = fc.constantFrom(...countryCodes)
    const numbers = fc.tuple(fc.constantFrom('45', '46', '44', '49', '1', '358'), fc.stringMatching(/^[1-9]\d{6,9}$/))
    fc.assert(
      fc.property(numbers, countries, separators, ([code, rest], country, separator) => {
        const plain = normalizePhone(`+${code}${rest}`, null)
        for (const prefix of [`00${code}`, `(+${code})`, `(00${code})`, `+${code}`, ` +${code}`]) {
          const text = prefix + separator + rest
          if (text.length <= maxPhoneLength) expect([text, normalizePhone(text, country)]).toEqual([text, plain])
        }
        if (plain === null) return
        expect(normalizePhone(plain, country)).toBe(plain)
        expect(listPhoneDigits(`00${plain.slice(1)}`).some((digits) => plain.includes(digits))).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
