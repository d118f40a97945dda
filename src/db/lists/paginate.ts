import { is, SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import type { ListedKey, ListSource, NullableKey, Owners, SortKey } from './list-source.ts'
import { type Counting, type PageRoute, routeTo, type Window, windowFromEnd } from './page-by-number.ts'
import { type After, and, beyond, type OrderKey, runsOneWay } from './order-keys.ts'
import { judgePage, type Keyed, pageFrom } from './page-rows.ts'
import { answering, type Fields, type Query, type RowOf, selection } from '../select.ts'

export type { Counting } from './page-by-number.ts'
export { type ListSource, nullable, type NullableKey, type Owners, type SortKey } from './list-source.ts'

type Listed = Pick<ListSource, 'from' | 'key' | 'where' | 'owners' | 'hasTies'>

const isNullable = (by: SortKey['by']): by is NullableKey => 'column' in by
const isListed = (by: SortKey['by']): by is ListedKey => 'listed' in by

export const ofOwners = ({ owners }: Pick<ListSource, 'owners'>): SQL[] =>
  owners ? [sql`${owners.column} in (${owners.ids})`] : []

/** A column that may be NULL makes two keys: whether it is NULL, and its value or 0. */
const orderKeysOf = (sort: readonly SortKey[]): OrderKey[] =>
  sort.flatMap(({ by, desc }) =>
    isNullable(by)
      ? [
          { by: sql`(${by.column} is null)`, desc: false },
          { by: sql`coalesce(${by.column}, 0)`, desc },
        ]
      : [{ by: isListed(by) ? by.listed : by, desc }],
  )

const keyName = (index: number): SQL => sql.raw(`k${index}`)

export const orderOf = (sort: readonly OrderKey[]): SQL =>
  sql.join(
    sort.map(({ by, desc }) => sql`${by} ${desc ? sql`desc` : sql`asc`}`),
    sql`, `,
  )

interface IndexedKey {
  by: NullableKey
  desc: boolean
}

interface Run {
  /** Keys in their order, those that are the same in all rows left out. */
  sort: readonly OrderKey[]
  /** Expressions of all keys. */
  shown: readonly SQL[]
  where: readonly SQL[]
  after: After | null
}

export const keyColumns = (shown: readonly SQL[]): SQL =>
  sql.join(
    shown.map((by, index) => sql`${by} as ${keyName(index)}`),
    sql`, `,
  )

/** The first rows of a run, with their keys. */
function rowsOf(source: Listed, run: Run, window: Window): SQL {
  const { sort, shown, where, after } = run
  if (source.owners?.isOrdered) return mergedRows(source, source.owners, run, window)
  const rows = (order: readonly OrderKey[], more: readonly SQL[], { limit, offset }: Window): SQL => {
    // Of two bounds of one column SQLite seeks by the first.
    const conditions = [...more, ...ofOwners(source), ...source.where, ...where]
    return sql`select ${source.key} as key, ${keyColumns(shown)} from ${source.from} where ${and(conditions)}
      order by ${orderOf(order)} limit ${limit} offset ${offset}`
  }
  if (!after) return rows(sort, [], window)
  if (!source.hasTies || sort.length === 1 || !runsOneWay(sort)) return rows(sort, [beyond(sort, after)], window)
  const [others, last] = [sort.slice(0, -1), sort.slice(-1)]
  const same = others.map(({ by }, at) => sql`${by} = ${after[at]}`)
  const whole = { limit: window.limit, offset: 0 }
  return sql`select * from (${rows(last, [...same, beyond(last, after.slice(-1))], whole)})
    union all select * from (${rows(sort, [beyond(others, after.slice(0, -1))], whole)})
    limit ${window.limit} offset ${window.offset}`
}

/**
 * The key of the first row that meets the conditions and comes after the given keys; NULL where there is none. Each key
 * has a read of its own, so that an index leads to the row however many rows share the keys before.
 */
function nextKey(source: Listed, conditions: readonly SQL[], sort: readonly OrderKey[], after: readonly SQL[]): SQL {
  const first = (more: readonly SQL[], order: readonly OrderKey[]): SQL =>
    sql`(select ${source.key} from ${source.from} where ${and([...more, ...conditions])} order by ${orderOf(order)} limit 1)`
  if (after.length === 0) return first([], sort)
  const reads = sort.map((key, index) => {
    const same = sort.slice(0, index).map((earlier, at) => sql`${earlier.by} = ${after[at]}`)
    return first([...same, sql`${key.by} ${key.desc ? sql`<` : sql`>`} ${after[index]}`], sort.slice(index))
  })
  return reads.length > 1 ? sql`coalesce(${sql.join(reads.toReversed(), sql`, `)})` : (reads[0] ?? sql`null`)
}

/**
 * The same from the rows of several owners: the queue of a recursive query holds the next row of each, and gives out
 * the first of them, in whose place the row after it comes.
 */
function mergedRows(source: Listed, { column, ids }: Owners, run: Run, { limit, offset }: Window): SQL {
  const { sort, shown, where, after } = run
  const { from, key } = source
  const next = (owner: SQL, keys: readonly SQL[]): SQL =>
    nextKey(source, [sql`${column} = ${owner}`, ...source.where, ...where], sort, keys)
  // The keys of the order are the last of those that are shown.
  const names = sort.map((_, index) => keyName(shown.length - sort.length + index))
  const given = after ? after.map((value) => sql`${value}`) : []
  const seen = names.map((name) => sql`seen.${name}`)
  const order = sort.map(({ desc }, index) => ({ by: names[index] ?? sql`key`, desc }))
  return sql`with recursive merged as (
      select owners.id as owner, ${key} as key, ${keyColumns(shown)}
        from (${ids}) as owners join ${from} on ${key} = ${next(sql`owners.id`, given)}
      union all
      select seen.owner, ${key}, ${keyColumns(shown)}
        from merged as seen join ${from} on ${key} = ${next(sql`seen.owner`, seen)}
      order by ${orderOf(order)} limit ${limit} offset ${offset}
    ) select key, ${sql.join(
      shown.map((_, index) => keyName(index)),
      sql`, `,
    )} from merged`
}

interface RowsAsked extends PageRoute {
  after: After | null
  limit: number
  offset: number
}

const reversedOrder = (sort: readonly OrderKey[]): OrderKey[] => sort.map(({ by, desc }) => ({ by, desc: !desc }))

/** Runs one after the other. Those behind are not read before they are needed. */
function chained(source: Listed, runs: readonly Run[], { limit, offset }: Window): SQL {
  const parts = runs.map((run, index) =>
    rowsOf(source, index === 0 ? run : { ...run, after: null }, { limit: sql`${limit} + ${offset}`, offset: 0 }),
  )
  const union = sql.join(
    parts.map((part) => sql`select * from (${part})`),
    sql` union all `,
  )
  return sql`select * from (${union}) limit ${limit} offset ${offset}`
}

/** The rows with a value in the first column, then those without one. */
function valuesFirst(source: Listed, { by, desc }: IndexedKey, rest: readonly OrderKey[], page: RowsAsked): SQL {
  const { after } = page
  const others = rest.map((key) => key.by)
  const groups = by.absent.map((condition, index): Run => {
    const shown = [sql.raw(String(index + 1)), sql`0`, ...others]
    return { sort: rest, shown, where: [condition], after: after && after.slice(2) }
  })
  const shown = [sql`0`, by.column, ...others]
  const sort = [{ by: by.column, desc }, ...rest]
  const runs: Run[] = [{ sort, shown, where: [by.present], after: after && after.slice(1) }, ...groups]
  // The first key of a cursor says in which run it was.
  const begun = after ? Math.max(0, runs.keys().toArray().indexOf(Number(after[0]))) : 0
  return chained(source, runs.slice(begun), page)
}

/** The rows of each value of the first column. */
function valueByValue(
  source: Listed,
  first: { by: ListedKey; desc: boolean },
  rest: readonly OrderKey[],
  page: RowsAsked,
) {
  const { after, countedFromEnd } = page
  const { listed, values } = first.by
  const inOrder = first.desc !== (countedFromEnd !== null) ? values.toReversed() : values
  const runs = inOrder.map((value) => ({
    sort: countedFromEnd ? reversedOrder(rest) : rest,
    shown: [listed, ...rest.map((key) => key.by)],
    where: [sql`${listed} = ${value}`],
    after: after && after.slice(1),
  }))
  const begun = after ? Math.max(0, inOrder.indexOf(String(after[0]))) : 0
  return chained(source, runs.slice(begun), windowOf(page))
}

const windowOf = ({ limit, offset, start, countedFromEnd }: RowsAsked): Window =>
  countedFromEnd ? windowFromEnd({ limit, offset }, countedFromEnd) : { limit, offset: start?.offset ?? offset }

function pageOf(source: Listed, sort: readonly SortKey[], keys: readonly OrderKey[], page: RowsAsked): SQL {
  const [first, ...rest] = sort
  if (first && isListed(first.by))
    return valueByValue(source, { by: first.by, desc: first.desc }, orderKeysOf(rest), page)
  if (first && isNullable(first.by) && first.by.indexed)
    return valuesFirst(source, { by: first.by, desc: first.desc }, orderKeysOf(rest), page)
  const { start, countedFromEnd, after } = page
  const run = {
    sort: countedFromEnd ? reversedOrder(keys) : keys,
    shown: keys.map((key) => key.by),
    where: start ? [start.where] : [],
    after,
  }
  return rowsOf(source, run, windowOf(page))
}

const isCounting = (count: ListSource['count']): count is Counting => typeof count === 'object' && count !== null

/** The statement that counts a list. */
function countingOf(source: ListSource<SQL | Fields>): Counting {
  const { count } = source
  if (isCounting(count)) return count
  if (typeof count === 'number') return { statement: sql<{ n: number }>`select ${count} as n` }
  const conditions = and([...ofOwners(source), ...source.where])
  return { statement: sql<{ n: number }>`select count(*) as n from ${source.from} where ${conditions}` }
}

/** A source's sort, which its key ends. */
function wholeSort({ sort, key }: Pick<ListSource, 'sort' | 'key'>): readonly SortKey[] {
  const last = sort.at(-1)
  return last?.by === key ? sort : [...sort, { by: key, desc: last?.desc ?? false }]
}

/** The keys of a list's order, and those of the row before the page that is asked for. */
export function keysOf(source: Pick<ListSource, 'sort' | 'key'>, request: PageRequest) {
  const keys = orderKeysOf(wholeSort(source))
  return { keys, after: request.after?.length === keys.length ? request.after : null }
}

/** Columns and keys of the rows of one page, whose keys `page` has. */
export function rowsOfPage<Row>(
  { columns, joins }: Pick<ListSource<SQL | Fields>, 'columns' | 'joins'>,
  keys: readonly OrderKey[],
  page: SQL,
  ctes: PageRoute['ctes'] = null,
): SQL<Keyed<Row>> | Query<Keyed<Row>> {
  const names = keys.map((_, index) => sql`page.${keyName(index)}`)
  const outerOrder = orderOf(keys.map(({ desc }, index) => ({ by: sql`page.${keyName(index)}`, desc })))
  const rows = sql<Keyed<Row>>`${ctes ? sql`with recursive ${ctes}` : sql``}
    select ${sql.join(names, sql`, `)}, ${is(columns, SQL) ? columns : selection(columns)}
    from (${page}) as page cross ${joins}
    order by ${outerOrder}`
  return is(columns, SQL) ? rows : answering(columns, rows)
}

/**
 * One page and the exact count of the whole list, from one snapshot. Throws `invalid_page` past the end; page 1 of
 * nothing is an empty page. One row more than the page says whether another follows: the count does not, for a client
 * that walks by cursor while rows go away. Rows are decoded where their columns are fields.
 */
export async function paginate<Row>(db: Database, request: PageRequest, source: ListSource): Promise<Page<Row>>
export async function paginate<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: ListSource<F>,
): Promise<Page<RowOf<F>>>
export async function paginate<Row>(
  db: Database,
  request: PageRequest,
  source: ListSource<SQL | Fields>,
): Promise<Page<Row>> {
  const sort = wholeSort(source)
  const { keys, after } = keysOf(source, request)
  const offset = after ? 0 : (request.page - 1) * request.size
  const counting = countingOf(source)
  const route = await routeTo(db, offset, {
    counting: isCounting(source.count) ? counting : null,
    startOf: source.startOf,
    // Rows without a value are last in both directions.
    isReversible: !sort.some(({ by }) => isNullable(by)),
  })
  const page = pageOf(source, sort, keys, { after, limit: request.size + 1, offset, ...route })
  const [found, [total]] = await db.batch([rowsOfPage<Row>(source, keys, page, route.ctes), counting.statement])
  if (total) counting.counted?.(total)
  const n = total?.n ?? 0
  judgePage(request, after, n)
  return pageFrom<Row>(request, keys.length, found, n)
}

/** The keys of the row at a place of the list, of which none are read but those before it; null behind the end. */
export async function keysAt(db: Database, source: ListSource, offset: number): Promise<After | null> {
  const sort = wholeSort(source)
  const { keys } = keysOf(source, { page: 1, size: 1, after: null })
  const asked = { after: null, limit: 1, offset, start: null, countedFromEnd: null, ctes: null }
  const row = await db.first(sql<Record<string, string | number>>`${pageOf(source, sort, keys, asked)}`)
  return row ? keys.map((_, index) => row[`k${index}`] ?? '') : null
}
