import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import type { OrderKinds } from '../../../db/order-kinds.ts'
import { ordersInSpan } from '../counts/spans.ts'
import { comparedWith, firstKey, isIn, lastKey, type IntervalOrdering, keyNames } from './interval-orderings.ts'
import { youngOrders } from './scopes.ts'

/** So many orders that are not settled are read one by one for a page. */
const mostYoung = 400

/** A list that intervals lead through. */
export interface IntervalList {
  /** An edition, or an organisation of which all editions are listed. */
  scope: string
  kinds: OrderKinds
  /** Read one after the other. */
  orderings: readonly IntervalOrdering[]
  isDesc: boolean
}

const isOfKinds = ({ status, type }: OrderKinds): SQL =>
  sql`${status ? sql`${orders.status} = ${status}` : sql`1`} and ${type ? sql`${orders.type} = ${type}` : sql`1`}`

/** The number of orders that are not settled and meet a condition, which leads no index: `+` sees to it. */
const youngOf = ({ scope, kinds }: IntervalList, condition: SQL): SQL =>
  sql`(select count(*) from ${youngOrders(scope)} where ${isOfKinds(kinds)} and +(${condition}))`

/**
 * Defines `start`: the key of the last interval that stands certainly before the row behind `skipped` others, whichever
 * orders that are not settled stand before it; the exact number of orders before this key; and how many settled orders the
 * ordering has. In a descending order intervals are read from their ends, which are the keys of the next ones.
 */
function startOfRun(
  list: IntervalList,
  ordering: IntervalOrdering,
  { start, skipped }: { start: SQL; skipped: SQL },
): SQL {
  const { scope, kinds, isDesc } = list
  const direction = isDesc ? sql`desc` : sql`asc`
  const edge = isDesc ? lastKey : firstKey(ordering)
  const before = comparedWith(ordering, isDesc ? '>=' : '<', sql`select * from found_${start}`)
  return sql`found_${start} as materialized (
      select iif(ahead is null, ${edge.value}, value) as value, iif(ahead is null, ${edge.created_at}, created_at) as created_at,
        iif(ahead is null, ${edge.seq}, seq) as seq, coalesce(ahead, 0) as ahead, settled
      from (select ${keyNames}, max(iif(ahead <= ${skipped} - (select n from young), ahead, null)) as ahead, sum(n) as settled
        from (select ${keyNames}, n, sum(n) over (order by value ${direction}, created_at ${direction}, seq ${direction}
            rows between unbounded preceding and current row) ${isDesc ? sql`` : sql`- n`} as ahead
          from (select ${keyNames}, ${ordersInSpan(kinds)} as n from order_intervals
            where scope = ${scope} and ordering = ${sql.raw(`'${ordering.name}'`)})))),
    ${start} as materialized (
      select ${keyNames}, ahead + ${youngOf(list, sql`${isIn(ordering)} and ${before}`)} as ahead, settled from found_${start})`
}

/** Where a page begins. An ordering that stands before the page as a whole is passed by its size. */
function startInIntervals(list: IntervalList, offset: number): PageStart {
  const { orderings, isDesc } = list
  const ctes = [sql`young (n) as materialized (select ${youngOf(list, sql`1`)})`]
  const where: SQL[] = []
  let skipped = sql`${offset}`
  let rest = skipped
  for (const [run, ordering] of orderings.entries()) {
    const [start, passed] = [sql.raw(`start${run}`), sql.raw(`passed${run}`)]
    ctes.push(startOfRun(list, ordering, { start, skipped }))
    const compared = comparedWith(ordering, isDesc ? '<' : '>=', sql`select * from ${start}`)
    const ahead = sql`(select ahead from ${start})`
    if (run === orderings.length - 1) {
      where.push(compared)
      rest = sql`${rest} - ${ahead}`
    } else {
      ctes.push(sql`${passed} (size) as materialized (
        select size from (select settled + ${youngOf(list, isIn(ordering))} as size from ${start}) where size <= ${skipped})`)
      const size = sql`(select size from ${passed})`
      where.push(sql`not exists ${size} and ${compared}`)
      rest = sql`${rest} - coalesce(${size}, ${ahead})`
      skipped = sql`coalesce(${skipped} - ${size}, 0)`
    }
  }
  return { ctes: sql.join(ctes, sql`, `), where, offset: sql`(${rest})` }
}

/** Where a page begins, if the list has intervals and few of its orders are not settled. */
export async function findStartInIntervals(
  db: Database,
  list: IntervalList,
  offset: number,
): Promise<PageStart | null> {
  const { scope } = list
  const state = await db.first(sql<{ is_counted: number; young: number }>`
    select exists (select 1 from order_intervals where scope = ${scope}) as is_counted,
      (select count(*) from (select 1 from ${youngOrders(scope)} limit ${mostYoung + 1})) as young`)
  return state?.is_counted && state.young <= mostYoung ? startInIntervals(list, offset) : null
}
