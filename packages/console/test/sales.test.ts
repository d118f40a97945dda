import { describe, expect, it } from 'vitest'
import type { Schema } from '../src/api'
import { buildDays, listCurrencies, listDays, sumProducts, sumSales } from '../src/pages/editions/sales'

type Order = Schema['EditionStats']['orders'][number]
type Purchase = Schema['EditionStats']['purchases'][number]

const order = (fields: Partial<Order>): Order => ({
  date: null,
  currency: 'dkk',
  count: 1,
  status: 'completed',
  amount: 100,
  ...fields,
})

const purchase = (name: string, fields: Partial<Purchase>): Purchase => ({
  date: null,
  currency: 'dkk',
  count: 1,
  product: { api_id: `prd_${name}`, name },
  status: 'active',
  price_paid: 100,
  deposit_paid: 0,
  handling_fee_paid: 0,
  ...fields,
})

describe('sales', () => {
  it('count confirmed and completed orders of one currency, exact to the cent', () => {
    const groups = [
      order({ amount: 0.1 }),
      order({ status: 'confirmed', amount: 0.2, count: 2 }),
      order({ status: 'pending', amount: 50 }),
      order({ status: 'cancelled', amount: 50 }),
      order({ currency: 'eur', amount: 7 }),
    ]
    expect(sumSales(groups, 'dkk')).toEqual({ count: 3, amount: 0.3 })
    expect(sumSales(groups, 'eur')).toEqual({ count: 1, amount: 7 })
    expect(listCurrencies(groups)).toEqual(['dkk', 'eur'])
  })

  it('begin on a day, and have zeros for days without an order', () => {
    const groups = [order({ date: '2026-02-28', amount: 5 }), order({ date: '2026-03-02', amount: 6 })]
    expect(sumSales(groups, 'dkk', '2026-03-01')).toEqual({ count: 1, amount: 6 })
    const days = listDays('2026-03-02', 3)
    expect(days).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
    expect(buildDays(groups, 'dkk', days).map(({ amount }) => amount)).toEqual([5, 0, 6])
  })

  it('list products by the tickets that people hold, and never add currencies', () => {
    const products = sumProducts([
      purchase('Day', { count: 2, price_paid: 20 }),
      purchase('Day', { count: 3, price_paid: 30, status: 'used' }),
      purchase('Day', { count: 1, price_paid: 9, currency: 'eur' }),
      purchase('Day', { count: 9, status: 'cancelled' }),
      purchase('Cup', { count: 40, status: 'refunded' }),
      purchase('Tent', { count: 7 }),
    ])
    expect(products.map(({ name, count }) => [name, count])).toEqual([
      ['Tent', 7],
      ['Day', 6],
    ])
    expect([...(products[1]?.amounts ?? [])]).toEqual([
      ['dkk', 50],
      ['eur', 9],
    ])
  })
})
