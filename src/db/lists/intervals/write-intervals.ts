import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { readBy } from '../page-statement.ts'
import { inOrderOf, union } from '../ranges.ts'
import {
  changedCounts,
  comparedCounts,
  comparedWith,
  countedColumns,
  countNames,
  countsOfGroups,
  excludedCounts,
  facetNames,
  firstKey,
  isKnown,
  keyColumns,
  keyOf,
  lastKey,
  leftCounts,
  namesOfKey,
  orderOfKeys,
} from './interval-columns.ts'
import { and } from '../order-keys.ts'
import {
  type IntervalList,
  type IntervalOrdering,
  orderingOf,
  type RowsOfIndex,
  rowsOfPart,
  settledPartsOf,
} from './interval-list.ts'

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
    (
      by,
    ) => sql`insert into ${list.intervals} (scope, ordering, ${keyOf(list)} ${sql.raw(list.combinations ? `, ${list.combinations}` : '')})
      select value, ${by.name}, ${sql.join([...firstKey(list, by)], sql`, `)} ${sql.raw(list.combinations ? `, '{}'` : '')}
      from json_each(${JSON.stringify(scopes)}) where true
      on conflict do nothing`,
  )

/**
 * Changes the counts of intervals by rows, which have `ordering`, a key and facets. They belong to each of some scopes, or have
 * `scope` too.
 */
function changeIntervals(list: IntervalList, sign: '+' | '-', { rows, scopes }: { rows: SQL; scopes?: SQL }): SQL {
  const { intervals } = list
  const scope = scopes ? sql`scopes.scope` : sql`settled.scope`
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
  const facets = sql.raw(
    facetNames(list)
      .map((name) => `, settled.${name}`)
      .join(''),
  )
  const counted = sql`(select one.scope, one.ordering, ${keyOf(list, 'one')} ${facets}
    from ${scopes ? sql`settled cross join (${scopes}) as scopes` : sql`settled`}
      cross join ${intervals} as one on one.scope = ${scope} and one.ordering = settled.ordering
        and (${keyOf(list, 'one')}) = (select ${keyOf(list)} from ${intervals} as former
          where former.scope = ${scope} and former.ordering = settled.ordering
            and (${keyOf(list, 'former')}) <= (${untyped})
          order by ${backwards} limit 1))`
  const by = sql`scope, ordering, ${keyOf(list)}`
  return sql`insert into ${intervals} (${columns(list)})
    with settled as (${rows})
    ${countsOfGroups(list, { from: counted, columns: by, by })}
    on conflict (scope, ordering, ${keyOf(list)}) do update set ${changedCounts(list, sign)}`
}

const inEachOrdering = ({ orderings }: IntervalList, rowsOf: (by: IntervalOrdering) => SQL): SQL =>
  union(Object.values(orderings).map((by) => sql`select ${sql.raw(`'${by.name}'`)} as ordering, ${rowsOf(by)}`))

/** Counts rows of a part that meet a condition in the intervals of these scopes. Each ordering has a first interval. */
export const addToIntervals = (
  list: IntervalList,
  scopes: readonly string[],
  { key, areSettled }: { key: string; areSettled: SQL },
): SQL =>
  changeIntervals(list, '+', {
    rows: inEachOrdering(
      list,
      (by) => sql`${countedColumns(list, by)}
        from ${rowsOfPart(list, list.settled, sql`${key}`, [areSettled, by.where])}`,
    ),
    scopes: sql`select value as scope from json_each(${JSON.stringify(scopes)})`,
  })

/** Takes rows that are about to be deleted from their intervals. Of a list whose scopes are its parts, with the id as key. */
export function takeFromIntervals(list: IntervalList, areGone: SQL): SQL {
  const { name, table, part, settled } = list
  const until = sql`(select until from settled_lists where list = ${name} and scope = ${part})`
  const rows = inEachOrdering(
    list,
    (by) => sql`${part} as scope, ${countedColumns(list, by)}
      from ${table} where ${and([areGone, sql`${settled.at} < ${until}`, by.where])}`,
  )
  return changeIntervals(list, '-', { rows })
}

/** The columns that count rows, as a JSON array. */
export interface StoredCounts {
  counts: string
}
const shownCounts = ({ counts }: IntervalList): SQL =>
  sql.raw(`json_array(${counts.map(({ name }) => name).join(', ')}) as counts`)

export interface KnownCounts extends StoredCounts {
  is_known: number
}
export const storedCountsOf = (list: IntervalList, interval: Interval): SQL<KnownCounts> =>
  sql`select ${shownCounts(list)}, ${isKnown(list)} as is_known from ${list.intervals} where ${isInterval(list, interval)}`

/** A part by its id, and what its rows have in the column `part`. */
interface PartOfRows {
  id: string
  key: string
}

/**
 * A query of a key behind so many rows of a part from the interval `this` on, whether these are settled or not. Nothing where
 * no index has them in their order. A key that says who somebody is is that of a settled row.
 */
export function keyBehindRows(list: IntervalList, ordering: string, part: PartOfRows, rows: number): SQL | null {
  const by = orderingOf(list, ordering)
  if (by.divided) return null
  const until = sql`(select until from settled_lists where list = ${list.name} and scope = ${part.id})`
  const isSettled = list.arePersonal ? sql`${list.settled.at} < ${until}` : sql`1`
  const from = comparedWith(list, by, '>=', sql`select * from this`)
  const selected = (range: readonly SQL[]): SQL => sql`select ${keyColumns(list, by)}, ${isSettled} as is_settled
    from ${readBy({ from: list.table, index: by.index })}
    where ${and([sql`${list.part} = ${part.key}`, ...range, by.where, from])}`
  return sql`select ${keyOf(list)} from (${inOrderOf(by.ranges, selected, orderOfKeys(list, by))} limit -1 offset ${rows})
    where is_settled limit 1`
}

/** A query of the key at which the interval of a part begins that stands behind so many others from the interval `this` on. */
export const keyBehindIntervals = (list: IntervalList, scope: string, ordering: string, intervals: number): SQL =>
  sql`select ${keyOf(list)} from ${list.intervals}
    where scope in (select id from (${list.partsOf(scope)})) and ordering = ${ordering}
      and (${keyOf(list)}) > (select ${keyOf(list)} from this)
    order by ${keyOf(list)} limit 1 offset ${intervals}`

/**
 * Counts the settled rows of an interval anew, if it exists, and divides it where it has many rows: into intervals of about
 * `size`. What is behind `bound` is not read: it becomes an interval of its own, with the other rows that this one counted.
 * Answers its counts where they were wrong, and those of new ones.
 */
export function recountInterval(
  list: IntervalList,
  interval: Interval,
  { size = 2 ** 52, bound }: { size?: number; bound?: SQL | null } = {},
): SQL<StoredCounts> {
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
  ]
  const indexes: readonly RowsOfIndex[] = by.divided ?? [by]
  const rows = indexes.map((one) => {
    const where = [...(one.between ? [one.between] : []), one.where, ...between]
    return sql`select ${countedColumns(list, by)}, ${settled.at} < part.until as is_settled
      from (${settledPartsOf(list, scope)}) as part cross join ${rowsOfPart(list, one, sql`part.key`, where)}`
  })
  const grouped = countsOfGroups(list, {
    from: sql`counted`,
    columns: key,
    by: sql`part`,
    isRow: 'number >= 0',
    first: 'number',
  })
  const left = bound
    ? sql`union all select ${scope}, ${ordering}, ${keyOf(list, 'next')}, ${leftCounts(list)}
      from next cross join whole where next.is_bound`
    : sql``
  return sql<StoredCounts>`insert into ${intervals} (${columns(list)})
    with this as materialized (select ${key} from ${intervals} where ${isInterval(list, interval)}),
      next as materialized (
        select *, 0 as is_bound from (select ${key} from ${intervals} where ${following(list, interval)})
        union all select ${sql.join([...lastKey(list)], sql`, `)}, 0
        ${bound ? sql`union all select *, 1 from (${bound})` : sql``}
        order by ${key}, is_bound limit 1),
      settled as (select *, row_number() over (order by ${orderOfKeys(list, by)}) - 1 as number, count(*) over () as size
        from (${union(rows)})),
      counted as (
        select ${key}, ${none} -1 as number, 0 as part from this
        union all select ${key}, ${named} number, number * ${parts} / size from settled where is_settled),
      grouped as materialized (${grouped}),
      whole as (select ${countNames(list)} from ${intervals} where ${isInterval(list, interval)})
    select ${scope}, ${ordering}, ${key}, ${countNames(list)} from grouped where true
    ${left}
    on conflict (scope, ordering, ${key}) do update set (${countNames(list)}) = (${excludedCounts(list)})
      where (${comparedCounts(list, intervals)}) is not (${comparedCounts(list, sql`excluded`)})
    returning ${shownCounts(list)}`
}

/** Takes the interval behind an interval away. The rows of both are counted anew then. */
export const deleteNext = (list: IntervalList, interval: Interval): SQL =>
  sql`delete from ${list.intervals} where scope = ${interval.scope} and ordering = ${interval.ordering}
    and exists (select 1 from ${list.intervals} where ${isInterval(list, interval)})
    and (${keyOf(list)}) = (select ${keyOf(list)} from ${list.intervals} where ${following(list, interval)})`
