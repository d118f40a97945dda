import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { countOfOrders, estimateOf, type MatchEstimate } from './counts/count-orders.ts'
import type { CountedOrders } from './counts/spans.ts'
import type { OrderFilters } from './contract.ts'
import type { ServingIndex } from './orderings.ts'

const listed = sql`select id from listed`

export const withEditions = (ctx: Ctx, filters: OrderFilters): SQL =>
  sql`listed (id) as materialized (${editionsSeenBy(ctx.caller, filters)})`

/** What `order_counts` counts, where that is the whole list; null where it is not. */
export function countedOf(filters: OrderFilters): CountedOrders | null {
  const { edition_id, organization_id, status, type, created_after, created_before, ...others } = filters
  const { customer_id, external_id, transaction_id, order_number, customer_email, customer_phone, search, ...unnamed } =
    others
  unnamed satisfies NoFilters
  const isOfEditions = !!edition_id || !!organization_id
  const texts = [customer_id, external_id, transaction_id, order_number, customer_email, customer_phone, search]
  if (!isOfEditions || texts.some(Boolean)) return null
  const until = created_before === undefined ? undefined : created_before + 1
  return { editions: listed, status, type, from: created_after, until }
}

/** How a list is counted without reading what it counts; null where its index leads to few orders. */
export function countingOf(ctx: Ctx, filters: OrderFilters): Counting | null {
  const counted = countedOf(filters)
  return counted && { statement: sql`with ${withEditions(ctx, filters)} select ${countOfOrders(counted)} as n` }
}

/** Rows of a page, and one more. */
const rowsOfPage = 51

/**
 * Whether it is cheaper to find all matching orders and sort them than to read the index of the order, if one serves it,
 * until a page of them is found. Of a status or a type an index has no others.
 */
export async function fewMatch(ctx: Ctx, filters: OrderFilters, served: ServingIndex | null): Promise<boolean> {
  const counted = countedOf(filters)
  if (!counted) return false
  const { status, type, from, until } = counted
  const isInTime = from !== undefined || until !== undefined
  if (!served) return isInTime || !!status || !!type
  if (!isInTime || served.isByCreation) return false
  const estimate = await ctx.db.first(sql<MatchEstimate>`with ${withEditions(ctx, filters)} ${estimateOf(counted)}`)
  if (!estimate) return false
  return estimate.matching < (rowsOfPage * estimate.total) / Math.max(1, estimate.matching)
}
