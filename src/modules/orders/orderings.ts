import { type SQL, sql } from 'drizzle-orm'
import { nullable, type OldSortKey } from '../../db/lists/list-source.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import { sortBy } from '../../domain/page.ts'
import type { OrderFilters } from './contract.ts'
import { isOfWholeEditions, type OrderOrdering } from './filters.ts'

export const sortKeys = {
  created: sql`${orders.created_at}`,
  modified: sql`${orders.modified_at}`,
  order_number: nullable(sql`${orders.number_key}`),
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

/** Keys by which an index has its rows in ranges, or one value after the other; of one that is asked for there is no other. */
export const indexedKeys = ({ status, type }: OrderFilters, ranges?: Ranges) => ({
  ...sortKeys,
  order_number: nullable(sql`${orders.number_key}`, { indexed: true, ranges }),
  status: { listed: sortKeys.status, values: status ? [status] : orderStatuses.toSorted() },
  type: { listed: sortKeys.type, values: type ? [type] : orderTypes.toSorted() },
})

/** Orders that compare equal follow the time of creation, as the indexes do. */
export function sortOf(ordering: OrderOrdering, keys: Record<keyof typeof sortKeys, OldSortKey['by']>) {
  const sort = sortBy<keyof typeof sortKeys, OldSortKey['by']>(ordering, '-created', keys)
  return sort.some(({ by }) => by === keys.created)
    ? sort
    : [...sort, { by: keys.created, desc: sort.at(-1)?.desc ?? true }]
}

const indexes = {
  created: sql`orders_edition_created`,
  /** In the order of creation too. */
  kinds: sql`orders_edition_status`,
  modified: sql`orders_edition_modified`,
  order_number: sql`orders_edition_number`,
  amount: sql`orders_edition_amount`,
}

const kinds = { status: orderStatuses, type: orderTypes }
const kindNames = ['status', 'type'] as const

/** The ranges of an index that begins with the status and the type, or one of them. */
const rangesOf = (names: readonly (keyof typeof kinds)[]): Ranges => ({
  columns: names.map((name) => sortKeys[name]),
  values: names.reduce<string[][]>(
    (begun, name) => begun.flatMap((one) => kinds[name].map((value) => [...one, value])),
    [[]],
  ),
  areWords: true,
})

export const rangesOfKinds = rangesOf(kindNames)

const isKind = (name: keyof typeof sortKeys): name is keyof typeof kinds => name in kinds

/** An index that has a list of editions in its order: all indexes but that of creation begin with the status and the type. */
export interface ServingIndex {
  index: SQL
  ranges: Ranges | undefined
  /** Its order is that of the list. Otherwise the list sorts orders that the first key does not tell apart. */
  isWhole: boolean
  /** A range of time is one of the index, too. */
  isByCreation: boolean
}

/** The key of the index that serves an order, behind the status and the type. */
function keyOf([first, second, ...others]: OrderOrdering): { name: keyof typeof indexes; isWhole: boolean } | null {
  if (!first) return { name: 'created', isWhole: true }
  if (!isKind(first.name)) return { name: first.name, isWhole: !second }
  if (!second) return { name: 'kinds', isWhole: true }
  // Orders without a number are a second run of an index.
  if (others.length > 0 || isKind(second.name) || second.name === 'order_number') return null
  return { name: second.name === 'created' ? 'kinds' : second.name, isWhole: true }
}

/** The index that serves a list, if one does. It is named, because SQLite would choose that of a range of time. */
export function indexOf(filters: OrderFilters, ordering: OrderOrdering): ServingIndex | null {
  const key = isOfWholeEditions(filters) ? keyOf(ordering) : null
  if (!key) return null
  const { status, type } = filters
  const name = key.name === 'created' && (status || type) ? 'kinds' : key.name
  const served = { index: indexes[name], isWhole: key.isWhole, isByCreation: name === 'created' || name === 'kinds' }
  if (name === 'created') return { ...served, ranges: undefined }
  // Neither a filter nor the first key of the order says them.
  const open = kindNames.filter((kind) => filters[kind] === undefined && ordering[0]?.name !== kind)
  return { ...served, ranges: open.length > 0 ? rangesOf(open) : undefined }
}
