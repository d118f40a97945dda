import { sql } from 'drizzle-orm'
import { nullsLast } from './lists.ts'
import { db } from './seeding/rows.ts'

export const orderFields = ['created', 'modified', 'order_number', 'status', 'type', 'amount'] as const
type Field = (typeof orderFields)[number]

export interface StoredOrder extends Record<Field, string | number | null> {
  id: string
  seq: number
  edition_id: string
}

export const storedOrders = (organizationId: string): Promise<StoredOrder[]> =>
  db.all(sql<StoredOrder>`select id, seq, edition_id, created_at as created, modified_at as modified,
    number_key as order_number, status, type, amount_minor as amount from orders where organization_id = ${organizationId}`)

/** Orders in the order of a list, of one key or several, by sorting all of them. */
export function sorted(orders: readonly StoredOrder[], ordering: string): StoredOrder[] {
  const asked = ordering.split(',').map((key) => ({ name: key.replace('-', ''), isDesc: key.startsWith('-') }))
  const isDesc = asked.at(-1)?.isDesc ?? true
  const rest = ['created', 'seq'].filter((name) => asked.every((key) => key.name !== name))
  const keys = [...asked, ...rest.map((name) => ({ name, isDesc }))] as { name: Field | 'seq'; isDesc: boolean }[]
  return orders.toSorted((left, right) => {
    for (const key of keys) {
      const difference = nullsLast(key.isDesc)(left[key.name], right[key.name])
      if (difference) return difference
    }
    return 0
  })
}

export interface OrderFilter {
  status?: string
  type?: string
  created_after?: string
  created_before?: string
}

export const matching = (orders: readonly StoredOrder[], filter: OrderFilter): StoredOrder[] =>
  orders.filter(
    ({ status, type, created }) =>
      (!filter.status || status === filter.status) &&
      (!filter.type || type === filter.type) &&
      (!filter.created_after || Number(created) >= Date.parse(filter.created_after)) &&
      (!filter.created_before || Number(created) < Date.parse(filter.created_before)),
  )

export const queryOf = (filter: Record<string, string>): string => new URLSearchParams(filter).toString()
