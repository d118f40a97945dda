import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  splitAmount,
  shareAmount,
  shrinkShares,
  divideByWeights,
  sumParts,
} from '../../src/domain/refunds/refund-shares.ts'

const amount = fc.oneof(fc.nat({ max: 5 }), fc.nat({ max: 100_000 }), fc.nat({ max: 100_000_000_000 }))
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

const bought = fc.record({ price_minor: amount, deposit_minor: amount, handling_fee_minor: amount, fees: fc.boolean() })
const purchases = fc.array(bought, { minLength: 1, maxLength: 12 }).map((all) =>
  all.map(({ fees, ...parts }, index) => ({
    purchase_id: `pur_${index}`,
    ...parts,
    remaining_minor: parts.price_minor + parts.deposit_minor + (fees ? parts.handling_fee_minor : 0),
  })),
)

describe('dividing an amount by weights', () => {
  it('adds up to the cent, exceeds no weight, and is less than a cent from the exact proportion', () => {
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1, maxLength: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (weights, part) => {
          const all = sum(weights)
          const total = Math.floor(all * part)
          const parts = divideByWeights(total, weights)
          expect(sum(parts)).toBe(total)
          parts.forEach((one, index) => {
            const weight = weights[index] ?? 0
            expect(one).toBeGreaterThanOrEqual(0)
            expect(one).toBeLessThanOrEqual(weight)
            if (all === 0) return
            const beside = BigInt(one) * BigInt(all) - BigInt(total) * BigInt(weight)
            expect(beside < BigInt(all) && -beside < BigInt(all)).toBe(true)
          })
        },
      ),
      { numRuns: 300 },
    )
  })

  it('gives the remaining cents to the largest remainders, and of equal ones to the first', () => {
    expect(divideByWeights(100, [1, 1, 1])).toEqual([34, 33, 33])
    expect(divideByWeights(10, [300, 600, 100])).toEqual([3, 6, 1])
    expect(divideByWeights(11, [300, 600, 100])).toEqual([3, 7, 1])
    expect(divideByWeights(0, [5, 5])).toEqual([0, 0])
    expect(divideByWeights(1, [0, 7])).toEqual([0, 1])
  })
})

describe('sharing out a refund', () => {
  it('pays back the price first, then the deposit, then the fee, and last the rest without a purchase', () => {
    fc.assert(
      fc.property(purchases, fc.double({ min: 0, max: 1.5, noNaN: true }), (all, part) => {
        const rest = sum(all.map(({ remaining_minor }) => remaining_minor))
        const total = Math.floor(rest * part)
        const shared = shareAmount(total, all)
        const parts = sumParts(shared)
        expect(sum(Object.values(parts))).toBe(total)
        expect(shared.service_fee_minor).toBe(Math.max(0, total - rest))
        shared.items.forEach((item, index) => {
          const purchase = all[index]
          expect(item.amount_minor).toBe(item.price_minor + item.deposit_minor + item.handling_fee_minor)
          expect(item.amount_minor).toBeLessThanOrEqual(purchase?.remaining_minor ?? 0)
          for (const name of ['price_minor', 'deposit_minor', 'handling_fee_minor'] as const) {
            expect(item[name]).toBeGreaterThanOrEqual(0)
            expect(item[name]).toBeLessThanOrEqual(purchase?.[name] ?? 0)
          }
          if (item.deposit_minor > 0) expect(item.price_minor).toBe(purchase?.price_minor)
          if (item.handling_fee_minor > 0) expect(item.deposit_minor).toBe(purchase?.deposit_minor)
        })
      }),
      { numRuns: 300 },
    )
  })

  it('shrinks a request so that no part of an item grows', () => {
    fc.assert(
      fc.property(
        purchases,
        fc.double({ min: 0, max: 1.5, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, part, less) => {
          const total = Math.floor(sum(all.map(({ remaining_minor }) => remaining_minor)) * part)
          const asked = shareAmount(total, all)
          const approved = Math.floor(total * less)
          const kept = shrinkShares(approved, asked.items)
          expect(sum(Object.values(sumParts(kept)))).toBe(approved)
          expect(kept.service_fee_minor).toBeLessThanOrEqual(asked.service_fee_minor)
          kept.items.forEach((item, index) => {
            for (const name of ['amount_minor', 'price_minor', 'deposit_minor', 'handling_fee_minor'] as const)
              expect(item[name]).toBeLessThanOrEqual(asked.items[index]?.[name] ?? 0)
          })
        },
      ),
      { numRuns: 300 },
    )
  })

  it('takes no more of each part than is left', () => {
    expect(splitAmount(130, { price_minor: 100, deposit_minor: 20, handling_fee_minor: 50 })).toEqual({
      price_minor: 100,
      deposit_minor: 20,
      handling_fee_minor: 10,
    })
  })
})
