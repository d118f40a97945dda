import { is, SQL, sql } from 'drizzle-orm'
import { AppError } from '../domain/errors.ts'
import type { Page, PageRequest } from '../domain/page.ts'
import type { Database } from './database.ts'
import { answering, type Fields, type RowOf, selection } from './select.ts'

/**
 * A column that may be NULL. NULL is last in both directions. `indexed` says that an index has the column as it is:
 * an order that begins with it reads the rows with a value, then those without one, both through that index.
 */
export interface NullableKey {
  column: SQL
  indexed: boolean
  /** Rows with a value, and groups of rows without one in their order. Only what an index serves is used of them. */
  present: SQL
  absent: readonly SQL[]
}

/** One key of an order. An expression by itself never answers NULL, so that keys compare. */
export interface SortKey {
  by: SQL | NullableKey
  desc: boolean
}

export const nullable = (column: SQL, { indexed = false } = {}): NullableKey => ({
  column,
  indexed,
  present: sql`${column} is not null`,
  absent: [sql`${column} is null`],
})

interface OrderKey {
  by: SQL
  desc: boolean
}

type After = readonly (string | number)[]

/**
 * The rows of few owners: those that have one of the `ids`, a query of one column with that name, in `column`. Where an
 * index has the rows of each owner in the order of the list, they are merged, and read no further than a page needs.
 */
export interface Owners {
  column: SQL
  ids: SQL
  isOrdered: boolean
}

/**
 * A list: `key` is the unique row key of the table `from` and ends every order; `columns` and `joins` are looked up
 * for the rows of the page only, through `page.key`; the first join is a cross join, since the planner does not know how
 * short the page is.
 */
export interface ListSource<Columns extends SQL | Fields = SQL> {
  from: SQL
  key: SQL
  where: readonly SQL[]
  sort: readonly SortKey[]
  columns: Columns
  joins: SQL
  /** Whose rows the list has, beside what `where` says. */
  owners?: Owners | undefined
  /** The indexes do not end with the key: rows that share all other keys of a cursor are looked up by themselves. */
  hasTies?: boolean
  /** The count of the whole list, where it is known without counting, or a better way to count. */
  count?: number | Counting | null
}

/** A statement that counts a list. */
export interface Counting {
  statement: SQL<{ n: number }>
}

type Listed = Pick<ListSource, 'from' | 'key' | 'where' | 'owners' | 'hasTies'>

const and = (conditions: readonly SQL[]): SQL => (conditions.length ? sql.join([...conditions], sql` and `) : sql`1`)

const runsOneWay = (sort: readonly OrderKey[]): boolean => sort.every(({ desc }) => desc === sort[0]?.desc)

/** Rows that come after the given keys; one row comparison, which an index serves, when all keys run the same way. */
function beyond(sort: readonly OrderKey[], after: After): SQL {
  const sign = (desc: boolean) => (desc ? sql`<` : sql`>`)
  if (runsOneWay(sort)) {
    // The rowid has no collation of its own. Without one SQLite compares no key of an index with it.
    const values = after.map((value, at) => (at === after.length - 1 ? sql`${value} collate binary` : sql`${value}`))
    return sql`(${sql.join(
      sort.map((key) => key.by),
      sql`, `,
    )}) ${sign(sort[0]?.desc ?? false)} (${sql.join(values, sql`, `)})`
  }
  const alternatives = sort.map((key, index) => {
    const equal = sort.slice(0, index).map((earlier, at) => sql`${earlier.by} = ${after[at]}`)
    return sql`(${and([...equal, sql`${key.by} ${sign(key.desc)} ${after[index]}`])})`
  })
  return sql`(${sql.join(alternatives, sql` or `)})`
}

const isNullable = (by: SortKey['by']): by is NullableKey => 'column' in by

const ofOwners = ({ owners }: Listed): SQL[] => (owners ? [sql`${owners.column} in (${owners.ids})`] : [])

/** A column that may be NULL makes two keys: whether it is NULL, and its value or 0. */
const keysOf = (sort: readonly SortKey[]): OrderKey[] =>
  sort.flatMap(({ by, desc }) =>
    isNullable(by)
      ? [
          { by: sql`(${by.column} is null)`, desc: false },
          { by: sql`coalesce(${by.column}, 0)`, desc },
        ]
      : [{ by, desc }],
  )

const keyName = (index: number): SQL => sql.raw(`k${index}`)

const orderOf = (sort: readonly OrderKey[]): SQL =>
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

const keyColumns = (shown: readonly SQL[]): SQL =>
  sql.join(
    shown.map((by, index) => sql`${by} as ${keyName(index)}`),
    sql`, `,
  )

interface Window {
  limit: number
  offset: number
}

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

/** The rows with a value in the first column, then those without one, which are not read before they are needed. */
function valuesFirst(source: Listed, { by, desc }: IndexedKey, rest: readonly OrderKey[], page: RowsAsked): SQL {
  const { after, limit, offset } = page
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
  const parts = runs
    .slice(begun)
    .map((run, index) =>
      rowsOf(source, index === 0 ? run : { ...run, after: null }, { limit: limit + offset, offset: 0 }),
    )
  const union = sql.join(
    parts.map((part) => sql`select * from (${part})`),
    sql` union all `,
  )
  return sql`select * from (${union}) limit ${limit} offset ${offset}`
}

interface RowsAsked extends Window {
  after: After | null
}

function pageOf(source: Listed, sort: readonly SortKey[], keys: readonly OrderKey[], page: RowsAsked): SQL {
  const [first, ...rest] = sort
  if (first && isNullable(first.by) && first.by.indexed)
    return valuesFirst(source, { by: first.by, desc: first.desc }, keysOf(rest), page)
  const run = { sort: keys, shown: keys.map((key) => key.by), where: [], after: page.after }
  return rowsOf(source, run, page)
}

function countOf(source: ListSource<SQL | Fields>): SQL<{ n: number }> {
  const { count } = source
  if (typeof count === 'number') return sql`select ${count} as n`
  const conditions = and([...ofOwners(source), ...source.where])
  return count?.statement ?? sql`select count(*) as n from ${source.from} where ${conditions}`
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
  const last = source.sort.at(-1)
  const sort = last?.by === source.key ? source.sort : [...source.sort, { by: source.key, desc: last?.desc ?? false }]
  const keys = keysOf(sort)
  const after = request.after?.length === keys.length ? request.after : null
  const skipped = (request.page - 1) * request.size
  const names = keys.map((_, index) => sql`page.${keyName(index)}`)
  const outerOrder = orderOf(keys.map(({ desc }, index) => ({ by: sql`page.${keyName(index)}`, desc })))
  const asked = { after, limit: request.size + 1, offset: after ? 0 : skipped }
  const { columns } = source
  const rows = sql<Row & Record<string, string | number>>`
    select ${sql.join(names, sql`, `)}, ${is(columns, SQL) ? columns : selection(columns)}
    from (${pageOf(source, sort, keys, asked)}) as page cross ${source.joins}
    order by ${outerOrder}`
  const [found, [total]] = await db.batch([is(columns, SQL) ? rows : answering(columns, rows), countOf(source)])
  const n = total?.n ?? 0
  if (request.page > 1 && !after && skipped >= n) throw new AppError('invalid_page', 'Invalid page.')
  const rowsOfPage = found.slice(0, request.size)
  const end = rowsOfPage.at(-1)
  return {
    rows: rowsOfPage,
    count: n,
    page: request.page,
    size: request.size,
    after: end && found.length > request.size ? keys.map((_, index) => end[`k${index}`] ?? '') : null,
  }
}
