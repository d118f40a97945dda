import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { currencies, formatLocalMoney } from '../../src/domain/money.ts'

const visible = (text: string): string => text.replaceAll('\u00A0', '␣')

describe('an amount in a message', () => {
  it.each(languages)('is written in %s as is usual for each currency', (language) => {
    const amounts = currencies.map((currency) => [
      currency,
      ...[0, 5, 115_000, -10_000, 1_234_567_890].map((minor) => visible(formatLocalMoney(minor, currency, language))),
    ])
    expect(amounts).toMatchSnapshot()
  })

  it('has the usual spelling of its language', () => {
    expect(formatLocalMoney(115_000, 'dkk', 'da')).toBe('1.150,00\u00A0kr.')
    expect(formatLocalMoney(115_000, 'sek', 'se')).toBe('1\u00A0150,00\u00A0kr')
    expect(formatLocalMoney(115_000, 'eur', 'nl')).toBe('€\u00A01.150,00')
    expect(formatLocalMoney(1_150_000, 'pln', 'pl')).toBe('11\u00A0500,00\u00A0zł')
    expect(formatLocalMoney(115_000, 'gbp', 'en')).toBe('£1,150.00')
  })

  it('contains no line break, and loses no cent', () => {
    const minor = fc.integer({ min: -100_000_000_000, max: 100_000_000_000 })
    fc.assert(
      fc.property(
        minor,
        fc.constantFrom(...currencies),
        fc.constantFrom(...languages),
        (amount, currency, language) => {
          const text = formatLocalMoney(amount, currency, language)
          expect(text.replaceAll('\u00A0', '')).not.toMatch(/\s/)
          expect(Number(text.replaceAll(/\D/g, ''))).toBe(Math.abs(amount))
          expect(/[-\u2212]/.test(text)).toBe(amount < 0)
        },
      ),
    )
    expect(formatLocalMoney(-0, 'dkk', 'da')).toBe(formatLocalMoney(0, 'dkk', 'da'))
  })
})
