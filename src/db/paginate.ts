import { type SQL, sql } from 'drizzle-orm'
import { AppError, invalidCursor } from '../domain/errors.ts'
import type { KeyValue, OrderBy, Page, PageRequest } from '../domain/page.ts'
import type { Database } from './database.ts'
import { decodeAs, type Fields, type Query, type RowOf, buildSelectList } from './select.ts'

/** A sort key. Rows without a value come last in both directions. */
export interface SortKey {
  column: SQL
  desc: boolean
  isNullable?: boolean
}

/** The most rows that `page=N` skips in an ordering that an index has. A million skipped rows take about 0.1 s. */
export const maxIndexedOffset = 1_000_000

/** The most rows that `page=N` skips in an ordering that SQLite sorts. */
export const maxSortedOffset = 100_000

export interface List<F extends Fields> {
  /** The table and, where SQLite would choose another, the index that covers scope, filters and sort keys. */
  from: SQL
  /** Scope, visibility and filters. */
  where: readonly SQL[]
  /** Without sort keys the list is sorted by `id`, descending. */
  orderBy: readonly SortKey[]
  /** A unique column, which breaks ties and joins the keys of the page to its rows. */
  id: SQL
  /** Columns of the page's rows. They are selected only for these rows. */
  columns: F
  /** Joins that start from `page.id`. */
  joins: SQL
  /** The most rows that `page=N` skips: `maxSortedOffset` by default. */
  maxOffset?: number
  /** A faster statement for the count than reading the whole list. */
  count?: SQL<{ n: number }> | undefined
}

type PageRow<Row> = Row & Record<string, KeyValue>

/**
 * Loads one page of a list and the exact count of the list, from one snapshot. Throws `invalid_page` (404) past the end,
 * `page_too_deep` (400) past `maxOffset` and `invalid_cursor` (400). Page 1 of an empty list is empty.
 */
export async function paginate<F extends Fields>(
  db: Database,
  request: PageRequest,
  list: List<F>,
): Promise<Page<RowOf<F>>> {
  const keys = buildKeys(list)
  const { after } = request
  if (after && after.length !== keys.length) throw invalidCursor()
  const offset = after ? 0 : (request.page - 1) * request.size
  const maxOffset = list.maxOffset ?? maxSortedOffset
  const limit = offset > maxOffset ? 0 : request.size + 1
  const [rows, [total]] = await db.batch([
    selectRows(list, { after, limit, offset }),
    list.count ?? sql<{ n: number }>`select count(*) as n from ${list.from} where ${joinConditions(list.where)}`,
  ])
  return buildPage<RowOf<F>>(request, { rows, count: total?.n ?? 0, keyCount: keys.length, maxOffset })
}

/** Reads a whole list in pages, each after the last row of the one before. `after` has the sort keys of an earlier row. */
export async function* readPages<F extends Fields>(
  db: Database,
  list: Omit<List<F>, 'count' | 'maxOffset'>,
  { size, after }: { size: number; after: readonly KeyValue[] | null },
): AsyncGenerator<RowOf<F>[], void> {
  const keyCount = buildKeys(list).length
  const readAfter = (position: readonly KeyValue[] | null) =>
    db.all(selectRows(list, { after: position, limit: size, offset: 0 }))
  const first = await readAfter(after)
  if (first.length > 0) yield first
  yield* readFurtherPages(first, size, (last) => readAfter(readKeys(last, keyCount)))
}

/** Reads the pages that follow the first one. Each begins after the last row of the one before. */
export async function* readFurtherPages<Row>(
  first: readonly Row[],
  size: number,
  readAfter: (last: Row) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  for (let rows = first; ;) {
    const last = rows.at(-1)
    if (!last || rows.length < size) return
    const next = await readAfter(last)
    if (next.length > 0) yield next
    rows = next
  }
}

const buildKeys = ({ orderBy, id }: Pick<List<Fields>, 'orderBy' | 'id'>): SortKey[] => [
  ...orderBy,
  { column: id, desc: orderBy.at(-1)?.desc ?? true },
]

const readKeys = (row: Record<string, KeyValue>, keyCount: number): KeyValue[] =>
  Array.from({ length: keyCount }, (_, index) => row[`k${index}`] ?? null)

/** Selects rows of a list with their sort keys. */
function selectRows<F extends Fields>(
  list: Omit<List<F>, 'count' | 'maxOffset'>,
  { after, limit, offset }: { after: readonly KeyValue[] | null; limit: number; offset: number },
): Query<PageRow<RowOf<F>>> {
  const keys = buildKeys(list)
  const where = joinConditions(list.where)
  // The cursor comes first, because SQLite seeks by the first of two bounds on one column.
  const pageWhere = after ? sql`${buildIsAfter(keys, after)} and ${where}` : where
  const keyColumns = joinList(keys.map(({ column }, index) => sql`${column} as ${keyName(index)}`))
  const pageKeys = keys.map((_, index) => sql`page.${keyName(index)}`)
  const pageOrder = keys.map((key, index) => buildDirection({ ...key, column: sql`page.${keyName(index)}` }))

  // `cross join` stops SQLite from reading the joined table first: it cannot know how short a page is.
  return decodeAs(
    list.columns,
    sql<PageRow<RowOf<F>>>`
      with page as (
        select ${keyColumns}, ${list.id} as id
        from ${list.from}
        where ${pageWhere}
        order by ${joinList(keys.map(buildDirection))}
        limit ${limit} offset ${offset}
      )
      select ${joinList(pageKeys)}, ${buildSelectList(list.columns)}
      from page cross ${list.joins}
      order by ${joinList(pageOrder)}`,
  )
}

/**
 * Builds a page from rows that carry their sort keys as `k0`, `k1` and so on. One row beyond the page's size means that
 * another page follows. Throws like `paginate`.
 */
export function buildPage<Row>(
  { page, size, after }: PageRequest,
  result: { rows: readonly PageRow<Row>[]; count: number; keyCount: number; maxOffset: number },
): Page<Row> {
  const { rows, count, keyCount, maxOffset } = result
  const offset = after ? 0 : (page - 1) * size
  if (offset > 0 && offset >= count)
    throw new AppError(
      'invalid_page',
      'There is no such page. `page` must be a whole number from 1 to the last page of the list.',
    )
  if (offset > maxOffset)
    throw new AppError(
      'page_too_deep',
      '`page` is too large for this list. Follow `next` from an earlier page instead.',
    )
  const pageRows = rows.slice(0, size)
  const last = rows.length > size ? pageRows.at(-1) : undefined
  return {
    rows: pageRows,
    count,
    page,
    size,
    after: last ? readKeys(last, keyCount) : null,
    hasPrevious: page > 1 && (page - 2) * size <= maxOffset,
  }
}

type SortColumn = SQL | { nullable: SQL }

/** The sort keys of the requested ordering, or of the list's default such as `-created`. */
export function buildOrderBy<Name extends string>(
  requestedOrdering: readonly OrderBy<Name>[],
  defaultOrdering: Name | `-${Name}`,
  columns: Record<Name, SortColumn>,
): SortKey[] {
  const defaultKey = { name: defaultOrdering.replace(/^-/, '') as Name, desc: defaultOrdering.startsWith('-') }
  return (requestedOrdering.length ? requestedOrdering : [defaultKey]).map(({ name, desc }) => {
    const column: SortColumn = columns[name]
    return 'nullable' in column ? { column: column.nullable, desc, isNullable: true } : { column, desc }
  })
}

/** Adds `created` as the last sort key, in the direction of the key before it. */
export function addCreatedKey<Name extends string>(
  ordering: readonly OrderBy<Name | 'created'>[],
): readonly OrderBy<Name | 'created'>[] {
  const last = ordering.at(-1)
  if (!last || ordering.some(({ name }) => name === 'created')) return ordering
  return [...ordering, { name: 'created', desc: last.desc }]
}

export const keyName = (index: number): SQL => sql.raw(`k${index}`)
export const joinList = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)
export const joinConditions = (conditions: readonly SQL[]): SQL =>
  conditions.length ? sql.join([...conditions], sql` and `) : sql`1`

/** SQLite sorts nulls first when ascending. With `nulls last` it still follows the index. */
export const buildDirection = ({ column, desc, isNullable }: SortKey): SQL =>
  sql`${column} ${sql.raw(desc ? 'desc' : isNullable ? 'asc nulls last' : 'asc')}`

/**
 * True for rows that follow the row with these keys. Keys of one direction are one row comparison, by which SQLite seeks
 * an index exactly. Otherwise the first key bounds the range on its own too, because SQLite seeks by `a <= ?` but not by
 * `a < ? or (a = ? and …)`.
 */
export function buildIsAfter(keys: readonly SortKey[], values: readonly KeyValue[]): SQL {
  const [first] = keys
  const value = values[0] ?? null
  if (keys.every(({ desc, isNullable }) => desc === first?.desc && !isNullable)) {
    const columns = joinList(keys.map(({ column }) => column))
    // Without a collation SQLite does not use a rowid as a key of an index.
    const keyValues = joinList(
      values.map((keyValue, index) => (index === keys.length - 1 ? sql`${keyValue} collate binary` : sql`${keyValue}`)),
    )
    return sql`(${columns}) ${sql.raw(first?.desc ? '<' : '>')} (${keyValues})`
  }
  const follows = keys.reduceRight<SQL>(
    (rest, key, index) => {
      const keyValue = values[index] ?? null
      return sql`(${buildIsBeyond(key, keyValue)} or (${key.column} is ${keyValue} and ${rest}))`
    },
    sql`0`,
  )
  if (!first || first.isNullable || value === null) return follows
  return sql`${first.column} ${sql.raw(first.desc ? '<=' : '>=')} ${value} and ${follows}`
}

function buildIsBeyond({ column, desc, isNullable }: SortKey, value: KeyValue): SQL {
  if (value === null) return sql`0`
  const beyond = sql`${column} ${sql.raw(desc ? '<' : '>')} ${value}`
  return isNullable ? sql`(${beyond} or ${column} is null)` : beyond
}
