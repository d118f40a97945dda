import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { ListSource } from '../../db/lists/list-source.ts'
import type { IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { findStartInIntervals } from '../../db/lists/intervals/start-in-intervals.ts'
import type { PageStart } from '../../db/lists/page-by-number.ts'
import { wholeScope } from '../../db/visibility.ts'
import { countedOf, withEditions } from './count.ts'
import type { CountedOrders } from './counts/spans.ts'
import { startInGroups, startOfOrders } from './counts/start-of-page.ts'
import type { OrderFilters } from './contract.ts'
import type { OrderOrdering } from './filters.ts'
import { intervalOrderings, orderIntervals } from './intervals.ts'
import { indexedKeys } from './orderings.ts'

/** The orderings of intervals that an order of lists reads. */
const { amount, modified, number, unnumbered } = intervalOrderings
const orderingsOf: Partial<Record<OrderOrdering[number]['name'], readonly IntervalOrdering[]>> = {
  amount: [amount],
  modified: [modified],
  order_number: [number, unnumbered],
}

type Starts = Pick<ListSource, 'startOf' | 'findStart'>

/** Where a page begins in an order that spans of time lead through; undefined in others. */
function startInSpans(counted: CountedOrders, filters: OrderFilters, [by]: OrderOrdering) {
  const { editions, status, type, from, until, ...unnamed } = counted
  unnamed satisfies NoFilters
  const { name = 'created', desc = true } = by ?? {}
  if (name === 'created') return (skipped: number): PageStart => startOfOrders(counted, desc, skipped)
  if ((name !== 'status' && name !== 'type') || from !== undefined || until !== undefined) return undefined
  const { values } = indexedKeys(filters)[name]
  const groups = (desc ? values.toReversed() : values).map((value) => ({ status, type, [name]: value }))
  return (skipped: number): PageStart => startInGroups(editions, groups, desc, skipped)
}

/** Where pages by number begin. Spans of time lead to them in some orders, and intervals in others. */
export function startsOf(ctx: Ctx, filters: OrderFilters, ordering: OrderOrdering): Starts {
  const listed = countedOf(filters)
  if (!listed || ordering.length > 1) return {}
  const start = startInSpans(listed, filters, ordering)
  if (start)
    return {
      startOf: (skipped) => {
        const found = start(skipped)
        return { ...found, ctes: sql`${withEditions(ctx, filters)}, ${found.ctes}` }
      },
    }
  const [by] = ordering
  const [orderings, scope] = [by && orderingsOf[by.name], wholeScope(ctx.caller, filters)]
  const { editions: _editions, status, type, from, until, ...unnamed } = listed
  unnamed satisfies NoFilters
  if (!by || !orderings || !scope || from !== undefined || until !== undefined) return {}
  const rows = { scope, facets: [status, type], orderings, isDesc: by.desc }
  return { findStart: (skipped, nearest) => findStartInIntervals(ctx.db, orderIntervals, rows, { skipped, nearest }) }
}
