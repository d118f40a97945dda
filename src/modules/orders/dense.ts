import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { areSpans, shortBits } from '../../db/edition-counts.ts'
import { sortedFilters, type NoFilters } from '../../db/lists/filters.ts'
import { numberKeys } from '../../db/lists/list-hits.ts'
import { behindRowOfDense, type ShortSpan } from '../../db/lists/spans/dense-spans.ts'
import { ofKinds } from '../../db/order-kinds.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { reachOf } from '../../domain/accounts/access.ts'
import { isOrderedByOwn, type PageRequest } from '../../domain/page.ts'
import { countedOf, withEditions } from './count.ts'
import { ordersInSpan } from './counts/spans.ts'
import { startOfOrders } from './counts/start-of-page.ts'
import type { OrderFilters } from './contract.ts'
import type { OrderOrdering } from './filters.ts'
import { sortKeys, sortOf } from './orderings.ts'

/** A request of a page in the order of creation as one of the page behind a row, where many orders came in a short time. */
export function behindOrderOfDense(
  ctx: Ctx,
  request: PageRequest,
  { ordering, filters }: { ordering: OrderOrdering; filters: OrderFilters },
): Promise<PageRequest> | PageRequest {
  const counted = countedOf(filters)
  if (!counted || !isOrderedByOwn(ordering, 'created')) return request
  const { editions: _listed, status, type, from: _from, until: _until, ...unnamed } = counted
  unnamed satisfies NoFilters
  // Of a range of time the orders that are not of it stand before or behind its own.
  const { created_after: _after, created_before: _before, ...ofSpans } = filters
  const [isDesc, editions] = [ordering[0]?.desc ?? true, editionsSeenBy(ctx.caller, filters)]
  return behindRowOfDense(ctx.db, request, {
    editions,
    placeOf: (skipped) => sql`${withEditions(ctx, filters)}, ${startOfOrders(counted, isDesc, skipped).ctes}`,
    ofSpan: ({ span, from, until }: ShortSpan) => {
      const inSpan = sql`from order_counts where ${areSpans(shortBits, editions)} and span = ${span}`
      return {
        source: {
          key: sql`${orders.seq}`,
          from: sql`${orders}`,
          where: [
            // Orders of one edition are in the order of an index. Those of several are sorted.
            sql`${orders}.edition_short_id ${filters.edition_id ? sql`=` : sql`in`} (${shortIdsOf(editions)})`,
            sql`${orders.created_at} >= ${from} and ${orders.created_at} < ${until}`,
            ...(status || type ? [ofKinds({ status, type })] : []),
          ],
          sort: sortOf(ordering, sortKeys),
        },
        state: {
          asked: ['orders of a span', reachOf(ctx.caller), sortedFilters(ofSpans), isDesc, span],
          keys: numberKeys,
          version: sql`(select coalesce(sum(changes), 0) ${inSpan})`,
          rows: sql`(select coalesce(sum(${ordersInSpan()}), 0) ${inSpan})`,
          fewest: 0,
          keepsOrder: true,
          now: ctx.now,
          afterCommit: ctx.afterCommit,
        },
      }
    },
  })
}
