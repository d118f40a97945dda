import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildNumberKey } from '../../src/domain/orders/orders.ts'
import { compareByCodePoint } from '../support/lists.ts'

const sortNumbers = (numbers: string[]) =>
  numbers.toSorted((one, other) => compareByCodePoint(buildNumberKey(one), buildNumberKey(other)))

describe('the order of order numbers', () => {
  it('compares numbers as numbers, and text without regard to case', () => {
    expect(sortNumbers(['A-10', 'a-9', 'A-2', 'b-1', '100', '99', 'B-1x', 'A-010', '0', 'å-3'])).toEqual([
      '0',
      '99',
      '100',
      'A-2',
      'å-3',
      'a-9',
      'A-10',
      'A-010',
      'b-1',
      'B-1x',
    ])
    expect(buildNumberKey(null)).toBeNull()
  })

  it('compares whole numbers of any length as numbers', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 16n - 1n), fc.bigInt(0n, 10n ** 16n - 1n), fc.nat(3), (one, other, zeros) => {
        const [left, right] = [buildNumberKey('0'.repeat(zeros) + String(one)), buildNumberKey(String(other))]
        expect(compareByCodePoint(left, right)).toBe(one < other ? -1 : one > other ? 1 : 0)
      }),
    )
  })
})
