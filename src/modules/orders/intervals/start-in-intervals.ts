import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import { type OrderKinds, ordersInSpan } from '../counts/spans.ts'
import { comparedWith, type IntervalOrdering, keyBehindAll, keyNames } from './interval-orderings.ts'
import { youngOrders } from './scopes.ts'

/** So many orders that are not settled are read one by one for a page. */
const mostYoung = 2000

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

/** What stands in an ordering: its intervals, orders that are not settled, and the key behind all. */
const itemsOf = ({ scope, kinds }: IntervalList, { name, isAbsent }: IntervalOrdering): SQL =>
  sql`select ${keyNames}, ${ordersInSpan(kinds)} as n, 0 as is_young from order_intervals
      where scope = ${scope} and ordering = ${sql.raw(`'${name}'`)}
    union all select ${isAbsent ? sql`0` : sql`value`}, created_at, seq, 1, 1 from young
      where value is ${isAbsent ? sql`null` : sql`not null`}
    union all select ${keyBehindAll}, 0, 0`

/**
 * Where a page begins: the key of the last interval that is not behind it. In a descending order intervals are read from
 * their ends, which are the keys of the next ones. An ordering that stands before the page as a whole is passed.
 */
function startInIntervals(list: IntervalList, offset: number): PageStart {
  const { scope, kinds, orderings, isDesc } = list
  const [forwards, backwards] = isDesc ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  const by = (direction: SQL) => sql`value ${direction}, created_at ${direction}, seq ${direction}`
  let skipped = sql`${offset}`
  const runs = orderings.map((ordering, run) => {
    const [positions, start] = [sql.raw(`positions${run}`), sql.raw(`start${run}`)]
    const ctes = sql`${positions} as materialized (
        select ${keyNames}, is_young, sum(n) over (order by ${by(forwards)}, is_young ${forwards}
          rows between unbounded preceding and current row) ${isDesc ? sql`` : sql`- n`} as ahead
        from (${itemsOf(list, ordering)})),
      ${start} as materialized (
        select ${keyNames}, ahead from ${positions} where is_young = 0 and ahead <= ${skipped}
        order by ${by(backwards)} limit 1)`
    skipped = sql`max(0, ${skipped} - (select max(ahead) from ${positions}))`
    return { ctes, where: comparedWith(ordering, isDesc ? '<' : '>=', sql`select * from ${start}`), start }
  })
  const [first] = orderings
  const ahead = runs.map(({ start }) => sql`- (select ahead from ${start})`)
  return {
    ctes: sql`young (value, created_at, seq) as materialized (
        select ${first?.column}, ${orders.created_at}, ${orders.seq} from ${youngOrders(scope)} where ${isOfKinds(kinds)}),
      ${sql.join(
        runs.map(({ ctes }) => ctes),
        sql`, `,
      )}`,
    where: runs.map(({ where }) => where),
    offset: sql`(${offset} ${sql.join(ahead, sql` `)})`,
  }
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
