import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../domain/errors.ts'
import type { KeyValue, OrderBy, Page, PageRequest } from '../domain/page.ts'
import type { Database } from './database.ts'
import { decodeAs, type Fields, type RowOf, buildSelectList } from './select.ts'

/** One key of an ordering. Rows without a value come last in both directions. */
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
  /** Empty: by `id`, downwards. */
  orderBy: readonly SortKey[]
  /** A unique column: it breaks ties and joins each key of the page to its row. */
  id: SQL
  /** What the page shows, selected only for the rows of the page. */
  columns: F
  /** The first join starts from `page.id`. */
  joins: SQL
  /** The most rows that `page=N` skips: `maxSortedOffset` by default. */
  maxOffset?: number
  /** A statement that knows the count without reading the list. */
  count?: SQL<{ n: number }> | undefined
}

type PageRow<Row> = Row & Record<string, KeyValue>

/**
 * One page of a list and the exact count of the whole, from one snapshot.
 *
 * Throws `invalid_page` (404) past the end and `page_too_deep` (400) past `maxOffset`. Page 1 of an empty list is empty.
 */
export async function paginate<F extends Fields>(
  db: Database,
  request: PageRequest,
  list: List<F>,
): Promise<Page<RowOf<F>>> {
  const keys = [...list.orderBy, { column: list.id, desc: list.orderBy.at(-1)?.desc ?? true }]
  // A cursor with another number of keys belongs to another ordering.
  const after = request.after?.length === keys.length ? request.after : null
  const offset = after ? 0 : (request.page - 1) * request.size
  const maxOffset = list.maxOffset ?? maxSortedOffset
  const isTooDeep = offset > maxOffset
  const where = joinConditions(list.where)
  // The cursor comes first: of two bounds of one column, SQLite seeks by the first.
  const pageWhere = after ? sql`${buildIsAfter(keys, after)} and ${where}` : where
  const keyColumns = joinList(keys.map(({ column }, index) => sql`${column} as ${keyName(index)}`))
  const pageKeys = keys.map((_, index) => sql`page.${keyName(index)}`)
  const pageOrder = keys.map((key, index) => buildDirection({ ...key, column: sql`page.${keyName(index)}` }))

  // `cross join` keeps SQLite from reading the joined table first: it does not know how short a page is.
  const [rows, [total]] = await db.batch([
    decodeAs(
      list.columns,
      sql<PageRow<RowOf<F>>>`
        with page as (
          select ${keyColumns}, ${list.id} as id
          from ${list.from}
          where ${pageWhere}
          order by ${joinList(keys.map(buildDirection))}
          limit ${isTooDeep ? 0 : request.size + 1} offset ${offset}
        )
        select ${joinList(pageKeys)}, ${buildSelectList(list.columns)}
        from page cross ${list.joins}
        order by ${joinList(pageOrder)}`,
    ),
    list.count ?? sql<{ n: number }>`select count(*) as n from ${list.from} where ${where}`,
  ])
  return buildPage<RowOf<F>>(request, { rows, count: total?.n ?? 0, keyCount: keys.length, maxOffset })
}

/**
 * A page from its rows, which carry their sort keys as `k0`, `k1` and so on. One row more than the page shows that
 * another page follows. Throws as `paginate` does.
 */
export function buildPage<Row>(
  { page, size, after }: PageRequest,
  found: { rows: readonly PageRow<Row>[]; count: number; keyCount: number; maxOffset: number },
): Page<Row> {
  const { rows, count, keyCount, maxOffset } = found
  const offset = after?.length === keyCount ? 0 : (page - 1) * size
  if (offset > 0 && offset >= count) throw new AppError('invalid_page', 'Invalid page.')
  if (offset > maxOffset)
    throw new AppError('page_too_deep', 'This page is too far to be counted to. Follow `next` instead.')
  const pageRows = rows.slice(0, size)
  const last = rows.length > size ? pageRows.at(-1) : undefined
  return {
    rows: pageRows,
    count,
    page,
    size,
    after: last ? Array.from({ length: keyCount }, (_, index) => last[`k${index}`] ?? null) : null,
    hasPrevious: page > 1 && (page - 2) * size <= maxOffset,
  }
}

type SortColumn = SQL | { nullable: SQL }

/** The sort keys of the requested ordering, or of the list's own (`-created`) when none was requested. */
export function buildOrderBy<Name extends string>(
  requested: readonly OrderBy<Name>[],
  ownOrdering: Name | `-${Name}`,
  columns: Record<Name, SortColumn>,
): SortKey[] {
  const defaultKey = { name: ownOrdering.replace(/^-/, '') as Name, desc: ownOrdering.startsWith('-') }
  return (requested.length ? requested : [defaultKey]).map(({ name, desc }) => {
    const column: SortColumn = columns[name]
    return 'nullable' in column ? { column: column.nullable, desc, isNullable: true } : { column, desc }
  })
}

/** An ordering in which rows that it does not tell apart follow their creation. */
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

/** SQLite puts nulls first when ascending. With `nulls last` it still follows the index, and reads the nulls at the end. */
export const buildDirection = ({ column, desc, isNullable }: SortKey): SQL =>
  sql`${column} ${sql.raw(desc ? 'desc' : isNullable ? 'asc nulls last' : 'asc')}`

/**
 * The condition that a row follows the one with these keys. Keys that run one way are one row comparison, by which
 * SQLite seeks an index exactly. Otherwise the first key also bounds the range by itself, because SQLite seeks by
 * `a <= ?` but not by `a < ? or (a = ? and …)`.
 */
export function buildIsAfter(keys: readonly SortKey[], values: readonly KeyValue[]): SQL {
  const [first] = keys
  const value = values[0] ?? null
  if (keys.every(({ desc, isNullable }) => desc === first?.desc && !isNullable)) {
    const columns = joinList(keys.map(({ column }) => column))
    // Without a collation SQLite does not compare a rowid with a key of an index.
    const bound = joinList(
      values.map((one, index) => (index === keys.length - 1 ? sql`${one} collate binary` : sql`${one}`)),
    )
    return sql`(${columns}) ${sql.raw(first?.desc ? '<' : '>')} (${bound})`
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
