import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { union } from '../ranges.ts'
import {
  addedCounts,
  columnsOf,
  comparedWith,
  countedColumns,
  countNames,
  countsOfGroup,
  excludedCounts,
  facetNames,
  firstKey,
  keyOf,
  lastKey,
  namesOfKey,
} from './interval-columns.ts'
import { type IntervalList, orderingOf, rowsOfPart, settledPartsOf } from './interval-list.ts'

/** A row of the table of intervals. */
export interface Interval {
  scope: string
  ordering: string
  /** Its key, as a JSON array. */
  key: string
}

/** What a query of intervals answers of each. */
export const intervalColumns = (list: IntervalList): SQL => sql`scope, ordering, json_array(${keyOf(list)}) as key`

/** The key of an interval as values, in their order. `first` is the place of the value. */
export const valuesOfKey = (list: IntervalList, key: string, first = 0): readonly SQL[] =>
  namesOfKey(list).map((_, index) => sql`${key} ->> ${sql.raw(`'$[${first + index}]'`)}`)

const rowOfKey = (list: IntervalList, key: string): SQL => sql`(${sql.join([...valuesOfKey(list, key)], sql`, `)})`

const columns = (list: IntervalList): SQL => sql`scope, ordering, ${keyOf(list)}, ${countNames(list)}`

/** Condition of the row of an interval. */
const isInterval = (list: IntervalList, { scope, ordering, key }: Interval): SQL =>
  sql`scope = ${scope} and ordering = ${ordering} and (${keyOf(list)}) = ${rowOfKey(list, key)}`

const following = (list: IntervalList, { scope, ordering, key }: Interval): SQL =>
  sql`scope = ${scope} and ordering = ${ordering} and (${keyOf(list)}) > ${rowOfKey(list, key)}
    order by ${keyOf(list)} limit 1`

/** The first interval of each ordering, which begins before all rows. */
export const firstIntervals = (list: IntervalList, scopes: readonly string[]): SQL[] =>
  Object.values(list.orderings).map(
    (by) => sql`insert into ${list.intervals} (scope, ordering, ${keyOf(list)})
      select value, ${by.name}, ${sql.join([...firstKey(list, by)], sql`, `)} from json_each(${JSON.stringify(scopes)}) where true
      on conflict do nothing`,
  )

/** Counts rows of a part that meet a condition in the intervals of these scopes. Each ordering has a first interval. */
export function addToIntervals(
  list: IntervalList,
  scopes: readonly string[],
  { key, areSettled }: { key: string; areSettled: SQL },
): SQL {
  const { intervals, settled } = list
  const rows = Object.values(list.orderings).map(
    (by) => sql`select ${sql.raw(`'${by.name}'`)} as ordering, ${countedColumns(list, by)}
      from ${rowsOfPart(list, settled, sql`${key}`, [areSettled, by.where])}`,
  )
  const untyped = sql.raw(
    namesOfKey(list)
      .map((name) => `+settled.${name}`)
      .join(', '),
  )
  const backwards = sql.raw(
    namesOfKey(list)
      .map((name) => `former.${name} desc`)
      .join(', '),
  )
  return sql`insert into ${intervals} (${columns(list)})
    with settled as (${union(rows)})
    select one.scope, one.ordering, ${keyOf(list, 'one')}, ${countsOfGroup(list)}
    from settled cross join (select value as scope from json_each(${JSON.stringify(scopes)})) as scopes
      cross join ${intervals} as one on one.scope = scopes.scope and one.ordering = settled.ordering
        and (${keyOf(list, 'one')}) = (select ${keyOf(list)} from ${intervals} as former
          where former.scope = scopes.scope and former.ordering = settled.ordering
            and (${keyOf(list, 'former')}) <= (${untyped})
          order by ${backwards} limit 1)
    where true group by one.scope, one.ordering, ${keyOf(list, 'one')}
    on conflict (scope, ordering, ${keyOf(list)}) do update set ${addedCounts(list)}`
}

/**
 * Counts the settled rows of an interval anew, if it exists, and divides it where they are many: into intervals of about
 * `size` rows. Answers it where it was wrong, and new ones.
 */
export function recountInterval(list: IntervalList, interval: Interval, size: number): SQL<{ ordering: string }> {
  const { scope, ordering } = interval
  const { intervals, settled } = list
  const by = orderingOf(list, ordering)
  const key = keyOf(list)
  const facets = facetNames(list)
  const none = sql.raw(facets.map((name) => `null as ${name}, `).join(''))
  const named = sql.raw(facets.map((name) => `${name}, `).join(''))
  const parts = sql`max(1, (size + ${written(Math.floor(size / 2))}) / ${written(size)})`
  // Of two bounds of one column SQLite seeks by the first: a condition of the ordering may be one.
  const between = [
    comparedWith(list, by, '>=', sql`select * from this`),
    comparedWith(list, by, '<', sql`select * from next`),
    by.where,
  ]
  return sql<{ ordering: string }>`insert into ${intervals} (${columns(list)})
    with this as materialized (select ${key} from ${intervals} where ${isInterval(list, interval)}),
      next as materialized (
        select * from (select ${key} from ${intervals} where ${following(list, interval)})
        union all select ${sql.join([...lastKey(list)], sql`, `)} limit 1),
      settled as (select ${countedColumns(list, by)},
          row_number() over (order by ${sql.join([...columnsOf(list, by)], sql`, `)}) - 1 as number, count(*) over () as size
        from (${settledPartsOf(list, scope)}) as part
          cross join ${rowsOfPart(list, by, sql`part.key`, [sql`${settled.at} < part.until`, ...between])}),
      counted as (
        select ${key}, ${none} -1 as number, 0 as part from this
        union all select ${key}, ${named} number, number * ${parts} / size from settled)
    select ${scope}, ${ordering}, ${key}, ${countNames(list)}
    from (select ${key}, ${countsOfGroup(list, 'number >= 0')}, min(number) from counted group by part) as grouped
    where true
    on conflict (scope, ordering, ${key}) do update set (${countNames(list)}) = (${excludedCounts(list)})
      where (${countNames(list)}) is not (${excludedCounts(list)})
    returning ordering`
}

/** Takes the interval behind an interval away. The rows of both are counted anew then. */
export const deleteNext = (list: IntervalList, interval: Interval): SQL =>
  sql`delete from ${list.intervals} where scope = ${interval.scope} and ordering = ${interval.ordering}
    and exists (select 1 from ${list.intervals} where ${isInterval(list, interval)})
    and (${keyOf(list)}) = (select ${keyOf(list)} from ${list.intervals} where ${following(list, interval)})`
