import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { type RunList, type RunOrdering, rangesOf, youngByModified } from '../../db/lists/runs/run-list.ts'
import { partOf, rangeOfTime, type RunRows } from '../../db/lists/runs/run-rows.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { lateOrders, orderRuns, orderRunStates } from '../../db/schema/sales/runs.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import { countedOf } from './count.ts'
import type { OrderFilters } from './contract.ts'
import type { OrderOrdering } from './filters.ts'

const ordering = (name: string, index: SQL, value: SQL) => ({
  name,
  indexed: { index, leading: 2 },
  value,
  isByCreation: true,
})
const amount = ordering('amount', sql`orders_edition_amount`, sql`${orders.amount_minor}`)
const modified = ordering('modified', sql`orders_edition_modified`, sql`${orders.modified_at}`)
const number = {
  ...ordering('number', sql`orders_edition_number`, sql`${orders.number_key}`),
  isText: true,
  isNullable: true,
}

const facets = [
  { column: sql`${orders.status}`, values: orderStatuses },
  { column: sql`${orders.type}`, values: orderTypes },
]

export const orderRunList: RunList = {
  table: sql`${orders}`,
  runs: orderRuns,
  states: orderRunStates,
  late: sql`${lateOrders}`,
  scope: 'edition_short_id',
  scopesOf: (editions) => shortIdsOf(editions),
  key: 'seq',
  facets,
  createdAt: sql`${orders.created_at}`,
  young: youngByModified(modified.indexed),
  byCreation: (asked) => ({ index: sql`orders_edition_status`, ranges: rangesOf(facets, asked) }),
  orderings: [amount, modified, number],
}

const orderingsOf: Partial<Record<OrderOrdering[number]['name'], RunOrdering>> = {
  amount,
  modified,
  order_number: number,
}

/** The orders of a list that runs serve: one of a range of time, in an order that has runs, without other filters than kinds. */
export function rowsInRuns(ctx: Ctx, filters: OrderFilters, [by, ...others]: OrderOrdering): RunRows | null {
  const counted = countedOf(filters)
  const found = by && orderingsOf[by.name]
  if (!counted || !found || others.length > 0) return null
  const { editions: _editions, status, type, from, until, ...unnamed } = counted
  unnamed satisfies NoFilters
  if (from === undefined && until === undefined) return null
  return {
    list: orderRunList,
    editions: editionsSeenBy(ctx.caller, filters),
    ...rangeOfTime(filters.created_after, filters.created_before),
    parts: partOf(found, [status, type]),
    isDesc: by.desc,
  }
}
