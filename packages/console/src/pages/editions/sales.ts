import type { Schema } from '../../api'

type Stats = Schema['EditionStats']
type OrderGroup = Stats['orders'][number]
type PurchaseGroup = Stats['purchases'][number]

export type Currency = OrderGroup['currency']

const soldOrders: readonly OrderGroup['status'][] = ['confirmed', 'completed']
/** Tickets that somebody bought and still holds, or held until they expired. */
const soldTickets: readonly PurchaseGroup['status'][] = ['active', 'used', 'expired']

const dayMs = 86_400_000

/** The days up to this one, the oldest first. */
export const listDays = (last: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(`${last}T00:00Z`) - (count - 1 - index) * dayMs).toISOString().slice(0, 10),
  )

export interface Sales {
  count: number
  amount: number
}

const noSales: Sales = { count: 0, amount: 0 }

/** Adds amounts in hundredths, which have no fractions. */
const add = (sales: Sales, { count, amount }: Sales): Sales => ({
  count: sales.count + count,
  amount: (Math.round(sales.amount * 100) + Math.round(amount * 100)) / 100,
})

export const sumAll = (list: readonly Sales[]): Sales => list.reduce(add, noSales)

/** The confirmed and completed orders in a currency. With `from` they are those of this day and later. */
export const sumSales = (groups: readonly OrderGroup[], currency: Currency, from?: string): Sales =>
  sumAll(
    groups.filter(
      (group) =>
        group.currency === currency &&
        soldOrders.includes(group.status) &&
        (from === undefined || (group.date ?? '') >= from),
    ),
  )

/** The currencies of the orders, those with the most orders first. */
export function listCurrencies(groups: readonly OrderGroup[]): Currency[] {
  const currencies = [...new Set(groups.map(({ currency }) => currency))]
  return currencies.toSorted((one, other) => sumSales(groups, other).count - sumSales(groups, one).count)
}

export interface DayOfSales extends Sales {
  day: string
}

/** The sales of each day. Days without an order have zeros. */
export const buildDays = (groups: readonly OrderGroup[], currency: Currency, days: readonly string[]): DayOfSales[] =>
  days.map((day) => ({
    day,
    ...sumSales(
      groups.filter(({ date }) => date === day),
      currency,
    ),
  }))

export interface ProductSales {
  id: string
  name: string
  count: number
  /** The sums that were paid for the tickets, by currency. */
  amounts: ReadonlyMap<Currency, number>
}

/** The products by the number of tickets sold, the most first. */
export function sumProducts(groups: readonly PurchaseGroup[]): ProductSales[] {
  const byProduct = Map.groupBy(
    groups.filter(({ product, status }) => product !== null && soldTickets.includes(status)),
    ({ product }) => product?.api_id ?? '',
  )
  return [...byProduct]
    .map(([id, list]) => {
      const byCurrency = Map.groupBy(list, ({ currency }) => currency)
      const amounts = new Map(
        [...byCurrency].map(([currency, parts]) => [
          currency,
          sumAll(parts.map(({ count, price_paid }) => ({ count, amount: price_paid }))).amount,
        ]),
      )
      const count = list.reduce((sum, group) => sum + group.count, 0)
      return { id, name: list[0]?.product?.name ?? id, count, amounts }
    })
    .toSorted((one, other) => other.count - one.count)
}
