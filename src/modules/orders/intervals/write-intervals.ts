import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../../db/edition-counts.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import { countColumns, countNames, countsOfGroup, excludedCounts } from '../counts/spans.ts'
import {
  columnsOf,
  comparedWith,
  type IntervalKey,
  intervalOrderings,
  isIn,
  keyNames,
  lastKey,
  valueOf,
} from './interval-orderings.ts'
import { editionsOf } from './scopes.ts'

export interface Interval extends IntervalKey {
  scope: string
  ordering: keyof typeof intervalOrderings
}

const columns = sql`scope, ordering, ${keyNames}, ${countNames}`
const added = sql.raw(countColumns.map(({ name }) => `${name} = ${name} + excluded.${name}`).join(', '))
const ofKey = sql`on conflict (scope, ordering, ${keyNames}) do`

/** Condition of a row of `order_intervals`. */
const isInterval = ({ scope, ordering, value, created_at, seq }: Interval): SQL =>
  sql`scope = ${scope} and ordering = ${ordering} and (${keyNames}) = (${value}, ${created_at}, ${seq})`

const following = ({ scope, ordering, value, created_at, seq }: Interval): SQL =>
  sql`scope = ${scope} and ordering = ${ordering} and (${keyNames}) > (${value}, ${created_at}, ${seq})
    order by ${keyNames} limit 1`

/** Counts orders of an edition that meet a condition in the intervals of these scopes. Each ordering has a first interval. */
export function addToIntervals(scopes: readonly string[], areSettled: SQL): SQL {
  const settled = Object.values(intervalOrderings).map(
    (
      by,
    ) => sql`select ${sql.raw(`'${by.name}'`)} as ordering, ${valueOf(by)} as value, ${orders.created_at} as created_at,
      ${orders.seq} as seq, ${orders.status} as status, ${orders.type} as type
    from ${orders} indexed by orders_edition_modified where ${areSettled} and ${isIn(by)}`,
  )
  return sql`insert into order_intervals (${columns})
    with settled as (${sql.join(settled, sql` union all `)})
    select one.scope, one.ordering, one.value, one.created_at, one.seq, ${countsOfGroup}
    from settled cross join (select value as scope from json_each(${JSON.stringify(scopes)})) as scopes
      cross join order_intervals as one on one.scope = scopes.scope and one.ordering = settled.ordering
        and (one.value, one.created_at, one.seq) = (select ${keyNames} from order_intervals as former
          where former.scope = scopes.scope and former.ordering = settled.ordering
            and (former.value, former.created_at, former.seq) <= (+settled.value, +settled.created_at, +settled.seq)
          order by former.value desc, former.created_at desc, former.seq desc limit 1)
    where true group by 1, 2, 3, 4, 5
    ${ofKey} update set ${added}`
}

/**
 * Counts the settled orders of an interval anew, if it exists, and divides it where they are many: into intervals of about
 * `size` orders. Answers it where it was wrong, and new ones.
 */
export function recountInterval(interval: Interval, size: number): SQL<Interval> {
  const { scope, ordering } = interval
  const by = intervalOrderings[ordering]
  const parts = sql`max(1, (size + ${written(Math.floor(size / 2))}) / ${written(size)})`
  return sql<Interval>`insert into order_intervals (${columns})
    with this as materialized (select ${keyNames} from order_intervals where ${isInterval(interval)}),
      next as materialized (
        select * from (select ${keyNames} from order_intervals where ${following(interval)})
        union all select ${lastKey.value}, ${lastKey.created_at}, ${lastKey.seq} limit 1),
      settled as (select ${valueOf(by)} as value, ${orders.created_at} as created_at, ${orders.seq} as seq, ${orders.status} as status,
          ${orders.type} as type, row_number() over (order by ${sql.join([...columnsOf(by)], sql`, `)}) - 1 as number, count(*) over () as size
        from (${editionsOf(scope)}) as edition cross join ${orders} indexed by ${by.index}
        where ${orders}.edition_short_id = edition.short_id and ${orders.modified_at} < edition.until and ${isIn(by)}
          and ${comparedWith(by, '>=', sql`select * from this`)} and ${comparedWith(by, '<', sql`select * from next`)}),
      counted as (
        select ${keyNames}, null as status, null as type, -1 as number, 0 as part from this
        union all select ${keyNames}, status, type, number, number * ${parts} / size from settled)
    select ${scope}, ${ordering}, ${keyNames}, ${countNames}
    from (select ${keyNames}, ${countsOfGroup}, min(number) from counted group by part) as grouped
    where true
    ${ofKey} update set (${countNames}) = (${excludedCounts}) where (${countNames}) is not (${excludedCounts})
    returning scope, ordering, ${keyNames}`
}

/** Takes the interval behind an interval away. The orders of both are counted anew then. */
export const deleteNext = (interval: Interval): SQL =>
  sql`delete from order_intervals where scope = ${interval.scope} and ordering = ${interval.ordering}
    and exists (select 1 from order_intervals where ${isInterval(interval)})
    and (${keyNames}) = (select ${keyNames} from order_intervals where ${following(interval)})`
