import { is, SQL, sql } from 'drizzle-orm'
import { answering, type Fields, type Query, selection } from '../select.ts'
import type { ListedKey, ListSource, NullableKey, Owners, OldSortKey } from './list-source.ts'
import {
  and,
  beyond,
  isListed,
  isNullable,
  keyColumns,
  keyName,
  type KeyValues,
  type OrderKey,
  orderKeysOf,
  orderOf,
  reversedOrder,
  runsOneWay,
  stepsBeyond,
} from './order-keys.ts'
import { type PageRoute, type Window, windowFromEnd } from './page-by-number.ts'
import type { Keyed } from './page-rows.ts'
import { type Ranges, union, united, valueInRanges } from './ranges.ts'

type Listed = Pick<ListSource, 'from' | 'index' | 'key' | 'where' | 'owners' | 'ranges' | 'carried'> & {
  /** The table that the page has all columns of, beside its keys. */
  whole?: ListSource['read']
}

export const ofOwners = ({ owners }: Pick<ListSource, 'owners'>): SQL[] =>
  owners ? [sql`${owners.column} in (select id from (${owners.ids}))`] : []

/** The table of a list, read by its index where it has one. */
export const readBy = ({ from, index }: Pick<ListSource, 'from' | 'index'>): SQL =>
  index ? sql`${from} indexed by ${index}` : from

interface IndexedKey {
  by: NullableKey
  desc: boolean
}

/** Rows of a list that one order of one index has, one after the other, or in each of some ranges. */
interface Run {
  /** Keys in their order, those that are the same in all rows left out. */
  sort: readonly OrderKey[]
  /** Expressions of all keys. */
  shown: readonly SQL[]
  where: readonly SQL[]
  /** Where a page begins in the run. */
  begin?: readonly SQL[]
  ranges?: Ranges | undefined
  after: KeyValues | null
}

/** Keys of an order, the last of those that are shown, by the names that they are shown with. */
const namedKeys = (shown: readonly SQL[], order: readonly OrderKey[]): OrderKey[] =>
  order.map(({ desc }, index) => ({ by: keyName(shown.length - order.length + index), desc }))

function columnsBeside({ whole, carried }: Listed): SQL {
  if (whole) return sql`${whole.table}.*, ${whole.more ? sql`${whole.more}, ` : sql``}`
  return carried ? sql`${carried}, ` : sql``
}

/** The first rows of a run, with their keys. */
function selectRun(source: Listed, run: Run, window: Window): SQL {
  const { sort, shown, where, begin = [], ranges, after } = run
  if (source.owners?.isOrdered) return mergeOwners(source, source.owners, run, window)
  // Of two bounds of one column SQLite seeks by the first.
  const given = ranges && after ? after.map((value) => valueInRanges(value ?? 0)) : after
  const conditions = [...(given ? [beyond(sort, given)] : []), ...begin, ...ofOwners(source), ...source.where, ...where]
  const selected = (range: readonly SQL[]): SQL =>
    sql`select ${columnsBeside(source)}${source.key} as key, ${keyColumns(shown)}
      from ${readBy(source)} where ${and([...range, ...conditions])}`
  const ordered = ranges
    ? united(ranges, selected, orderOf(namedKeys(shown, sort)))
    : sql`${selected([])} order by ${orderOf(sort)}`
  return sql`${ordered} limit ${window.limit} offset ${window.offset}`
}

/**
 * A value with the keys of the first rows that meet the conditions and come after the given keys, as a list of lists. Where
 * keys do not run one way, each has a read of its own, so that an index leads to the rows.
 */
function keysAfter(
  source: Listed,
  conditions: readonly SQL[],
  { sort, shown }: Run,
  { after, most }: { after: readonly SQL[]; most: number },
): SQL {
  const limit = sql`limit ${sql.raw(String(most))}`
  const first = (more: readonly SQL[], order: readonly OrderKey[]): SQL =>
    sql`select ${keyColumns(shown)} from ${readBy(source)} where ${and([...more, ...conditions])} order by ${orderOf(order)} ${limit}`
  const rows = (): SQL => {
    if (after.length === 0) return first([], sort)
    if (runsOneWay(sort)) return first([beyond(sort, after)], sort)
    const reads = stepsBeyond(sort, after).map((step, index) => first(step, sort.slice(index)))
    return sql`${union(reads.toReversed().map((read) => sql`select * from (${read})`))} ${limit}`
  }
  return sql`(select json_group_array(json_array(${namesOf(shown)})) from (${rows()}))`
}

const namesOf = (shown: readonly SQL[]): SQL =>
  sql.join(
    shown.map((_, index) => keyName(index)),
    sql`, `,
  )

/** The owners of a list with each range of them, in columns of these names, and what is shown of each. */
function ownersOf({ ids, areShown }: Owners, ranges: Ranges | undefined, names: readonly SQL[]): SQL {
  const [owner, ...values] = names
  const shown = areShown ? sql`shown` : sql`null`
  if (!ranges) return sql`select id as ${owner}, ${shown} as shown from (${ids})`
  const columns = values.map((name, index) => sql`value ->> ${sql.raw(String(index))} as ${name}`)
  return sql`select owned.id as ${owner}, ${sql.join(columns, sql`, `)}, ${shown} as shown
    from (${ids}) as owned cross join json_each(${JSON.stringify(ranges.values)})`
}

/** So many rows of an owner are read at once behind its first, of which others may come before them. */
const readAhead = 2

/**
 * The first rows of a run of several owners. The queue of a recursive query holds the next row of each owner, and of each
 * of its ranges, with the keys of the rows behind it in `rest`. It gives out the first of these rows and gets the next row
 * of the same owner. Behind the first row of an owner nothing is read before it is given out: it is followed by an entry
 * with the same keys, which is no row and gets the rows behind it.
 */
function mergeOwners(source: Listed, owners: Owners, run: Run, { limit, offset }: Window): SQL {
  const { sort, shown, where, begin = [], ranges, after } = run
  const columns = [owners.column, ...(ranges?.columns ?? [])]
  const names = columns.map((_, index) => sql.raw(`owner${index}`))
  const ofOwner = (row: SQL): SQL[] => [
    ...names.map((name, index) => sql`${columns[index]} = ${row}.${name}`),
    ...source.where,
    ...where,
  ]
  const order = namedKeys(shown, sort)
  const given = after ? after.map((value) => sql`${value}`) : []
  const next = shown.map(
    (_, index) => sql`coalesce(seen.rest ->> '$[0][${sql.raw(String(index))}]', seen.${keyName(index)})`,
  )
  const behind = keysAfter(source, ofOwner(sql`seen`), run, {
    after: next.slice(shown.length - sort.length),
    most: readAhead,
  })
  const kept = sql.join([...names, sql`shown`], sql`, `)
  // A query without a limit would be read into the one around it, and look for each of its keys.
  return sql`with recursive merged as (
      select ${kept}, ${keyColumns(shown.map((_, index) => sql`first ->> '$[0][${sql.raw(String(index))}]'`))},
          null as rest, 1 as is_row
        from (select owners.*, ${keysAfter(source, [...begin, ...ofOwner(sql`owners`)], run, { after: given, most: 1 })} as first
          from (${ownersOf(owners, ranges, names)}) as owners limit -1) where first <> '[]'
      union all
      select ${kept}, ${sql.join([...next], sql`, `)},
          iif(json_array_length(seen.rest) > 1, json_remove(seen.rest, '$[0]'), ${behind}), seen.rest is not null
        from merged as seen where seen.rest is not '[]'
      order by ${orderOf(order)}
    ) select ${keyName(shown.length - 1)} as key, ${namesOf(shown)}, shown from merged
      where is_row limit ${limit} offset ${offset}`
}

interface AskedRows extends PageRoute {
  after: KeyValues | null
  limit: number | SQL
  offset: number
}

/** The condition of where a page begins in a run. */
const beginOf = ({ start }: AskedRows, run: number): SQL[] => start?.where.slice(run, run + 1) ?? []

/** Runs one after the other. Those behind are not read before they are needed. */
function chained(source: Listed, runs: readonly Run[], { limit, offset }: Window): SQL {
  const parts = runs.map((run, index) =>
    selectRun(source, index === 0 ? run : { ...run, after: null }, { limit: sql`${limit} + ${offset}`, offset: 0 }),
  )
  return sql`${union(parts.map((part) => sql`select * from (${part})`))} limit ${limit} offset ${offset}`
}

/** The rows with a value in the first column, then those without one. */
function valuesFirst(source: Listed, { by, desc }: IndexedKey, rest: readonly OrderKey[], page: AskedRows): SQL {
  const { after } = page
  const others = rest.map((key) => key.by)
  const groups = by.absent.map(({ where, ranges }, index): Run => {
    const shown = [sql.raw(String(index + 1)), sql`0`, ...others]
    return {
      sort: rest,
      shown,
      where: [where],
      begin: beginOf(page, index + 1),
      ranges,
      after: after && after.slice(2),
    }
  })
  const shown = [sql`0`, by.column, ...others]
  const sort = [{ by: by.column, desc }, ...rest]
  const { where, ranges } = by.present
  const runs: Run[] = [
    { sort, shown, where: [where], begin: beginOf(page, 0), ranges, after: after && after.slice(1) },
    ...groups,
  ]
  // The first key of a cursor says in which run it was.
  const begun = Number(after?.[0] ?? 0)
  return chained(source, runs[begun] ? runs.slice(begun) : runs, windowOf(page))
}

/** The rows of each value of the first column. */
function valueByValue(
  source: Listed,
  first: { by: ListedKey; desc: boolean },
  rest: readonly OrderKey[],
  page: AskedRows,
) {
  const { after, countedFromEnd } = page
  const { listed, values } = first.by
  const inOrder = first.desc !== (countedFromEnd !== null) ? values.toReversed() : values
  const runs = inOrder.map((value, index) => ({
    sort: countedFromEnd ? reversedOrder(rest) : rest,
    shown: [listed, ...rest.map((key) => key.by)],
    where: [sql`${listed} = ${value}`],
    begin: beginOf(page, index),
    ranges: source.ranges,
    after: after && after.slice(1),
  }))
  const begun = after ? Math.max(0, inOrder.indexOf(String(after[0]))) : 0
  return chained(source, runs.slice(begun), windowOf(page))
}

const windowOf = ({ limit, offset, start, countedFromEnd }: AskedRows): Window =>
  countedFromEnd ? windowFromEnd({ limit, offset }, countedFromEnd) : { limit, offset: start?.offset ?? offset }

/** A query of the rows of a page by their keys: `key` of the row, and `k0`, `k1` and so on of the order. */
export function selectPageKeys(
  source: Listed,
  sort: readonly OldSortKey[],
  keys: readonly OrderKey[],
  page: AskedRows,
): SQL {
  const [first, ...rest] = sort
  if (first && isListed(first.by))
    return valueByValue(source, { by: first.by, desc: first.desc }, orderKeysOf(rest), page)
  if (first && isNullable(first.by) && first.by.indexed)
    return valuesFirst(source, { by: first.by, desc: first.desc }, orderKeysOf(rest), page)
  const { countedFromEnd, after } = page
  const run = {
    sort: countedFromEnd ? reversedOrder(keys) : keys,
    shown: keys.map((key) => key.by),
    where: [],
    begin: beginOf(page, 0),
    ranges: source.ranges,
    after,
  }
  return selectRun(source, run, windowOf(page))
}

/** Whether the keys of a page come in their order. Each row read would be read again to be sorted. */
export const isInOrder = ({ countedFromEnd }: AskedRows): boolean => !countedFromEnd

interface ShownPage {
  ctes?: PageRoute['ctes']
  isSorted?: boolean
  /** The page has all columns of its rows. */
  isWhole?: boolean
  /** What each row has as `list_count`. */
  count?: SQL | undefined
}

/** Columns and keys of the rows of one page, whose keys `page` has. */
export function selectPageRows<Row>(
  { columns, joins, read, shown }: Pick<ListSource<SQL | Fields>, 'columns' | 'joins' | 'read' | 'shown'>,
  keys: readonly OrderKey[],
  page: SQL,
  { ctes = null, isSorted = false, isWhole = false, count }: ShownPage = {},
): SQL<Keyed<Row>> | Query<Keyed<Row>> {
  const names = keys.map((_, index) => keyName(index))
  const outerOrder = orderOf(keys.map(({ desc }, index) => ({ by: keyName(index), desc })))
  const from = shown ? sql`select *, ${shown} as shown from (${page}) limit -1` : page
  const rows = sql<Keyed<Row>>`${ctes ? sql`with recursive ${ctes}` : sql``}
    select ${count ? sql`${count} as list_count, ` : sql``}${sql.join(names, sql`, `)}, ${is(columns, SQL) ? columns : selection(columns)}
    from (${from}) as ${read && isWhole ? sql`${read.table} ${read.joins}` : sql`page cross ${joins}`}
    ${isSorted ? sql`` : sql`order by ${outerOrder}`}`
  return is(columns, SQL) ? rows : answering(columns, rows)
}
