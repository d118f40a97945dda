import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import { viewOfFound } from '../../db/found-customers.ts'
import { editionsBeside, refundAndCustomerChangesOf } from '../../db/edition-counts.ts'
import { matchingRow, type IndexSearch } from '../../db/lists/find-few.ts'
import type { SearchedTable } from '../../db/lists/find-hits.ts'
import { sortedFilters, type NoFilters } from '../../db/lists/filters.ts'
import { idKeys, type ListState } from '../../db/lists/list-hits.ts'
import { countOfSpans } from '../../db/lists/spans/count-spans.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { editionsSeenBy, visibilityOf, visibleIn } from '../../db/visibility.ts'
import {
  containsText,
  type FoundRequest,
  isOrderFoundBy,
  readFewWithRequests,
  searchOfOrders,
  versionOfOrders,
} from '../orders/index.ts'
import { isOfWholeEditions, type RefundFilters } from './filters.ts'
import { type RefundOrdering, sortKeys } from './orderings.ts'
import { refundSpans } from './spans.ts'

/** A plus excludes the indexes of the organisation, which has more requests than what else is asked for. */
export const refundVisibility = visibilityOf(sql`+${refundRequests.organization_id}`, sql`${refundRequests.edition_id}`)

/** The id and the reference are whole; what else a search finds are texts of orders. */
const isNamed = (text: string) =>
  sql`(${refundRequests.id} = ${text} or ${refundRequests.provider_reference} = ${text})`

/** What a search finds requests by. */
const isOfFoundOrder = (view: CustomerView, text: string): SQL =>
  sql`exists (select 1 from orders where orders.id = ${refundRequests.order_id} and ${containsText(view, text)})`

export const isFoundBy = (view: CustomerView, text: string): SQL =>
  sql`(${isNamed(text)} or ${isOfFoundOrder(view, text)})`

/** How a search of requests uses the index of orders. */
export const ofOrders = (view: CustomerView, text: string): SearchedTable['ofOrders'] => ({
  joins: sql`cross join ${refundRequests} on ${refundRequests.order_id} = orders.id`,
  named: isNamed(text),
  namedAlone: sql`${isNamed(text)} and not ${isOfFoundOrder(view, text)}`,
})

/** The state that a search is made in: of the requests, their orders and their customers. */
export function stateOf(
  ctx: Ctx,
  filters: RefundFilters,
  ordering: RefundOrdering,
  { isWhole, reached }: CustomerView,
): ListState {
  const { edition_id, organization_id } = filters
  const editions = editionsSeenBy(ctx.caller, { edition_id, organization_id })
  const all = { scopes: editions, facets: [[undefined, undefined, undefined]], where: [] }
  const orderChanges = versionOfOrders(isWhole ? editions : editionsBeside(editions))
  return {
    asked: ['refund requests', reached, sortedFilters(filters), ordering],
    keys: idKeys,
    version: sql`(${orderChanges} + ${refundAndCustomerChangesOf(editions)})`,
    rows: sql`(${countOfSpans(refundSpans, all).statement})`,
    keepsOrder: true,
    now: ctx.now,
    afterCommit: ctx.afterCommit,
  }
}

type Named = Pick<
  typeof refundRequests.$inferSelect,
  'id' | 'status' | 'reason' | 'source' | 'requested_minor' | 'created_at' | 'modified_at'
>

async function named({ db, caller }: Ctx, filters: RefundFilters, text: string): Promise<FoundRequest[]> {
  const { edition_id, organization_id } = filters
  const rows = await db.all(sql<Named>`select id, status, reason, source, requested_minor, created_at, modified_at
    from refund_requests where ${isNamed(text)} and ${visibleIn(caller, refundVisibility, filters)}
      ${edition_id ? sql`and +edition_id = ${edition_id}` : sql``}
      ${organization_id ? sql`and +organization_id = ${organization_id}` : sql``}`)
  return rows.map((one) => [
    one.id,
    one.status,
    one.reason,
    one.source,
    one.requested_minor,
    one.created_at,
    one.modified_at,
  ])
}

/** Filters by which `isOrderFoundBy` compares, and those of which nothing is searched (`isOfWholeEditions`). */
type FoundBefore = 'edition_id' | 'organization_id' | 'search' | 'order_id' | 'purchase_id' | 'customer_id'

/** Says of a request that was found whether it has what else is asked for. */
function judge(filters: Omit<RefundFilters, FoundBefore>): (request: FoundRequest) => boolean {
  const { status, reason, source, created_after, created_before, ...unnamed } = filters
  unnamed satisfies NoFilters
  return ([, ...values]) =>
    (status === undefined || values[0] === status) &&
    (reason === undefined || values[1] === reason) &&
    (source === undefined || values[2] === source) &&
    (created_after === undefined || values[4] >= created_after) &&
    (created_before === undefined || values[4] <= created_before)
}

/**
 * How the index finds requests by their orders: null for a list that does not need it, and `short` where the text is too
 * short for it.
 */
export function searchOf(ctx: Ctx, filters: RefundFilters): IndexSearch | 'short' | null {
  const { edition_id, organization_id, search } = filters
  if (!search || !isOfWholeEditions(filters)) return null
  const filtersOfOrders = { edition_id, organization_id, search }
  const entries = searchOfOrders(ctx.caller, filtersOfOrders)
  if (entries === null || entries === 'short') return entries
  const view = viewOfFound(ctx.caller)
  const isFound = isOrderFoundBy(view, filtersOfOrders)
  return {
    ...entries,
    readFew: async (db) => {
      const [{ orders, ...read }, others] = await Promise.all([
        readFewWithRequests(db, entries, view),
        named(ctx, filters, search),
      ])
      if (!orders) return { ...read, rows: null }
      const requests = [...orders.filter(isFound).flatMap((order) => order.requests), ...others]
      const rows = [...new Map(requests.map((one) => [one[0], one])).values()].filter(judge(filters)).map((one) =>
        matchingRow(one[0], sortKeys, {
          status: one[1],
          requested_amount: one[4],
          created: one[5],
          modified: one[6],
        }),
      )
      return { ...read, rows }
    },
  }
}
