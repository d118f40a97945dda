import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countNumber,
  decideNumbers,
  mergeNumbers,
  toMinorUnits,
  createNumberStatistics,
  parseNumber,
  toWholeNumber,
  type NumberFormat,
} from '../../src/domain/data-imports/mapping/columns/number-format.ts'
import { readNumber } from '../../src/domain/data-imports/mapping/columns/number-shape.ts'

function collectStatistics(texts: readonly string[]) {
  const statistics = createNumberStatistics()
  for (const text of texts) {
    const shape = readNumber(text)
    if (shape) countNumber(statistics, text, shape)
  }
  return statistics
}

const decide = (texts: readonly string[]) => decideNumbers(collectStatistics(texts))

const minor = (text: string, decimal: NumberFormat['decimal'] = 'each') => {
  const parsed = parseNumber(text, { decimal })
  return parsed && toMinorUnits(parsed)
}

describe('a cell with one amount', () => {
  it.each([
    ['1.234,56', 123_456],
    ['1,234.56', 123_456],
    ['1.234.567', 123_456_700],
    ['1,234,567', 123_456_700],
    ['150,-', 15_000],
    ['1.150,-', 115_000],
    ['150.-', 15_000],
    ['150,--', 15_000],
    ['695:-', 69_500],
    ['695,00 kr.', 69_500],
    ['kr. 695', 69_500],
    ['kr.695', 69_500],
    ['695 kr.-', null],
    ['£1,250.00', 125_000],
    ['€ 12,50', 1250],
    ['12,50€', 1250],
    ['zł 49,99', 4999],
    ['49,99 zł', 4999],
    ['DKK 1 250', 125_000],
    ['1 250', 125_000],
    ['1\u00A0250,50', 125_050],
    ['1\u202F250,50', 125_050],
    ["1'250.50", 125_050],
    ['1’250.50', 125_050],
    ['0.5', 50],
    ['.5', 50],
    [',50', 50],
    ['0', 0],
    ['-0,00', 0],
    ['007', 700],
    ['-12,50', -1250],
    ['12,50-', -1250],
    ['(1.234,56)', -123_456],
    ['−12.50', -1250],
    ['-€12.50', -1250],
    ['€-12.50', -1250],
    ['+12.50', 1250],
    ['12.5000', 1250],
    ['149.90000000000001', 14_990],
    ['149.89999999999998', 14_990],
    ['1234.567', 'too_exact'],
    ['83.3333', 'too_exact'],
    ['10 %', null],
    ['10%', null],
    ['1.5E+3', null],
    ['12.34.56', null],
    ['1,23,456', null],
    ['--5', null],
    ['(-5)', null],
    ['5 apples', null],
    ['€5 £', null],
    ['150.', null],
    ['1.234', null],
    ['1,234', null],
    ['1 23', null],
    ['99999999999999', null],
    ['31.12.2026', null],
    ['abc', null],
    ['', null],
  ])('is read: %s is %s', (text, expected) => {
    expect(minor(text)).toBe(expected)
  })

  it.each([
    ['12,50 kr.', 'kr'],
    ['DKK 12', 'dkk'],
    ['12 CHF', 'chf'],
    ['kr 12 DKK', 'dkk'],
    ['$12', 'usd'],
    ['12', null],
  ])('shows its currency: %s is in %s', (text, currency) => {
    expect(readNumber(text)?.currency).toBe(currency)
  })

  it('must be a whole number when it is a number of pieces', () => {
    expect(
      ['2', '2,0', '2.00', '-1', '2,5'].map((text) => toWholeNumber(parseNumber(text, { decimal: 'each' })!)),
    ).toEqual([2, 2, 2, -1, Number.NaN].map((value) => (Number.isNaN(value) ? null : value)))
  })
})

describe('a column of amounts', () => {
  it.each([
    [['1.234', '12,50'], ','],
    [['1,234', '12.50'], '.'],
    [['1.234', '1.234.567'], ','],
    [['150', '200'], 'each'],
    [['150,-', '1.150'], ','],
    [['12.50', '12,50'], 'each'],
    [['0.500', '1.500'], '.'],
    [['1234.567', '1.500'], '.'],
  ] as const)('has a decimal separator: %j has %s', (texts, decimal) => {
    expect(decide(texts)).toEqual({ status: 'decided', format: { decimal } })
  })

  it('is ambiguous without a decisive cell, with both readings', () => {
    expect(decide(['1.234', '150'])).toEqual({
      status: 'ambiguous',
      reason: 'undetermined',
      choices: [
        { format: { decimal: ',' }, examples: [{ text: '1.234', value: '1234' }] },
        { format: { decimal: '.' }, examples: [{ text: '1.234', value: '1.234' }] },
      ],
    })
  })

  it('is ambiguous when its cells contradict each other', () => {
    expect(decide(['1.234', '12,50', '12.50'])).toMatchObject({ status: 'ambiguous', reason: 'conflicting' })
  })

  const formats = [
    { group: '', decimal: '.' },
    { group: '', decimal: ',' },
    { group: '.', decimal: ',' },
    { group: ',', decimal: '.' },
    { group: ' ', decimal: ',' },
    { group: '\u00A0', decimal: ',' },
    { group: '\u202F', decimal: '.' },
    { group: "'", decimal: '.' },
    { group: '’', decimal: ',' },
  ] as const
  const marks = [
    (n: string) => n,
    (n: string) => `kr. ${n}`,
    (n: string) => `${n} kr.`,
    (n: string) => `£${n}`,
    (n: string) => `${n} PLN`,
  ]
  const signs = [
    (n: string) => `-${n}`,
    (n: string) => n.replace(/(?<=\d)(?=\D*$)/, '-'),
    (n: string) => `(${n})`,
    (n: string) => `\u2212${n}`,
  ]
  const column = fc.record({
    format: fc.constantFrom(...formats),
    decimals: fc.constantFrom('always', 'never', 'mixed', 'dash'),
    mark: fc.constantFrom(...marks),
    sign: fc.constantFrom(...signs),
    amounts: fc.array(fc.integer({ min: -300_000_000, max: 300_000_000 }), { minLength: 1, maxLength: 12 }),
  })

  const write = (
    { format, decimals, mark, sign }: Omit<typeof column extends fc.Arbitrary<infer T> ? T : never, 'amounts'>,
    cents: number,
  ) => {
    const units = String(Math.trunc(Math.abs(cents) / 100)).replaceAll(/\B(?=(?:\d{3})+$)/g, format.group)
    const fraction = String(Math.abs(cents) % 100).padStart(2, '0')
    const isWhole = fraction === '00'
    const tail =
      decimals === 'dash' && isWhole && format.decimal === ',' && cents >= 0
        ? ',-'
        : decimals === 'never' || (decimals === 'mixed' && isWhole)
          ? ''
          : format.decimal + fraction
    return cents < 0 ? sign(mark(units + tail)) : mark(units + tail)
  }

  it('is read as it was written, or is ambiguous, and never read wrongly', () => {
    let decided = 0
    fc.assert(
      fc.property(column, ({ amounts, ...style }) => {
        const cents = amounts.map((amount) => (style.decimals === 'never' ? Math.trunc(amount / 100) * 100 : amount))
        const texts = cents.map((amount) => write(style, amount))
        const decision = decide(texts)
        if (decision.status === 'ambiguous') return
        decided++
        expect(texts.map((text) => minor(text, decision.format.decimal))).toEqual(cents.map((amount) => amount + 0))
      }),
      { numRuns: 700 },
    )
    expect(decided).toBeGreaterThan(450)
  })

  it('is decided alike when it is read in any number of parts', () => {
    fc.assert(
      fc.property(column, fc.nat(12), ({ amounts, ...style }, cut) => {
        const texts = amounts.map((amount) => write(style, amount))
        const merged = mergeNumbers(collectStatistics(texts.slice(0, cut)), collectStatistics(texts.slice(cut)))
        expect(merged).toEqual(collectStatistics(texts))
      }),
      { numRuns: 150 },
    )
  })
})

it('digits with at most one separator are read alike by the short and by the long way', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 15 })
  fc.assert(
    fc.property(digits, fc.constantFrom('', '.', ','), digits, (units, separator, fraction) => {
      const text = separator === '' ? units : `${units}${separator}${fraction}`
      expect(readNumber(text)).toEqual(readNumber(`\u00a0${text}`))
    }),
  )
})
