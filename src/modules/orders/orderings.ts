import { type SQL, sql } from 'drizzle-orm'
import { nullable, type SortKey } from '../../db/lists/list-source.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import { sortBy } from '../../domain/page.ts'
import { isOfWholeEditions } from './count.ts'
import type { OrderFilters, OrderOrdering } from './filters.ts'

export const sortKeys = {
  created: sql`${orders.created_at}`,
  modified: sql`${orders.modified_at}`,
  order_number: nullable(sql`${orders.number_key}`, { indexed: true }),
  status: sql`${orders.status}`,
  type: sql`${orders.type}`,
  amount: sql`${orders.amount_minor}`,
}

/** The same keys for orders that are found first and sorted then: no index leads through them. */
export const sortedKeys: typeof sortKeys = {
  created: sql`+${orders.created_at}`,
  modified: sql`+${orders.modified_at}`,
  order_number: nullable(sql`+${orders.number_key}`),
  status: sql`+${orders.status}`,
  type: sql`+${orders.type}`,
  amount: sql`+${orders.amount_minor}`,
}

/** The keys of lists that begin with a status or a type; of one that is asked for there is no other. */
export const listedKeys = ({ status, type }: OrderFilters) => ({
  ...sortKeys,
  status: { listed: sortKeys.status, values: status ? [status] : orderStatuses.toSorted() },
  type: { listed: sortKeys.type, values: type ? [type] : orderTypes.toSorted() },
})

/**
 * The ranges of the index that begins with the status and the type: without a filter by the other one, an order by one of
 * them, or a filter by it in the order of creation, merges its values.
 */
export function rangesOf(filters: OrderFilters, ordering: OrderOrdering): Ranges | undefined {
  const { status, type } = filters
  if (!isOfWholeEditions(filters) || ordering.length > 1) return undefined
  const by = ordering[0]?.name ?? 'created'
  const begins = (name: 'status' | 'type') => by === name || (by === 'created' && filters[name] !== undefined)
  if (begins('status') && !type) return { columns: [sortKeys.type], values: orderTypes.map((one) => [one]) }
  if (begins('type') && !status) return { columns: [sortKeys.status], values: orderStatuses.map((one) => [one]) }
  return undefined
}

/** Orders that compare equal follow the time of creation, as the indexes do. */
export function sortOf(ordering: OrderOrdering, keys: Record<keyof typeof sortKeys, SortKey['by']>) {
  const sort = sortBy<keyof typeof sortKeys, SortKey['by']>(ordering, '-created', keys)
  return sort.some(({ by }) => by === keys.created)
    ? sort
    : [...sort, { by: keys.created, desc: sort.at(-1)?.desc ?? true }]
}

const indexes = {
  created: sql`orders_edition_created`,
  modified: sql`orders_edition_modified`,
  order_number: sql`orders_edition_number`,
  status: sql`orders_edition_status`,
  type: sql`orders_edition_status`,
  amount: sql`orders_edition_amount`,
} satisfies Record<keyof typeof sortKeys, SQL>

/** The index that has a list of editions in its order. SQLite would choose one by the range of time in its stead. */
export function indexOf(filters: OrderFilters, ordering: OrderOrdering): SQL | undefined {
  if (!isOfWholeEditions(filters) || ordering.length > 1) return undefined
  const by = ordering[0]?.name ?? 'created'
  return by === 'created' && (filters.status || filters.type) ? indexes.status : indexes[by]
}
