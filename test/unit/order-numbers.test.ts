import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../src/domain/text/fold.ts'
import { numberKey } from '../../src/domain/orders/orders.ts'
import { byCodePoint } from '../support/lists.ts'

const sorted = (numbers: string[]) => numbers.toSorted((one, other) => byCodePoint(numberKey(one), numberKey(other)))

/** The statement of the migration that filled the column, on one value. */
async function keyOfMigration(orderNumber: string): Promise<unknown> {
  const migration = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0022'))
  const update = migration?.queries.find((query) => query.includes('with recursive parts')) ?? ''
  const [, expression = ''] = /set number_key = (\([\s\S]*\))\s*where order_number is not null/.exec(update) ?? []
  const row = await env.DB.prepare(`select ${expression} as made from (select ? as number_folded) as orders`)
    .bind(fold(orderNumber))
    .first<{ made: unknown }>()
  return row?.made
}

describe('numberKey', () => {
  it('sorts numbers as numbers, and text without regard to case', () => {
    expect(sorted(['A-10', 'a-9', 'A-2', 'b-1', '100', '99', 'B-1x', 'A-010', '0', 'å-3'])).toEqual([
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
    expect(numberKey(null)).toBeNull()
  })

  it('compares whole numbers of any length as numbers', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 16n - 1n), fc.bigInt(0n, 10n ** 16n - 1n), fc.nat(3), (one, other, zeros) => {
        const [left, right] = [numberKey('0'.repeat(zeros) + String(one)), numberKey(String(other))]
        expect(byCodePoint(left, right)).toBe(one < other ? -1 : one > other ? 1 : 0)
      }),
    )
  })

  it('agrees with the migration', async () => {
    const part = fc.oneof(
      fc.constantFrom('A', 'b', '-', ' ', '0', '00', '7', '10', 'Ø', '*', '[', "'", '½'),
      fc.string(),
    )
    const numbers = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('').replaceAll('\0', '').slice(0, 16))
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        fc.pre(number.isWellFormed())
        expect([number, await keyOfMigration(number)]).toEqual([number, numberKey(number)])
      }),
      { numRuns: 60 },
    )
  })
})
