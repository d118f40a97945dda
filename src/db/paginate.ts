import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../domain/errors.ts'
import type { Page, PageRequest } from '../domain/page.ts'
import type { Database } from './database.ts'

/** One key of an order. `by` never answers NULL, so that keys compare: coalesce columns that may be empty. */
export interface SortKey {
  by: SQL
  desc: boolean
}

/**
 * A list: `key` is the unique row key of the table `from` and ends every order; `columns` and `joins` are looked up
 * for the rows of the page only, through `page.key`.
 */
export interface ListSource {
  from: SQL
  key: SQL
  where: readonly SQL[]
  sort: readonly SortKey[]
  columns: SQL
  joins: SQL
}

const and = (conditions: readonly SQL[]): SQL => (conditions.length ? sql.join([...conditions], sql` and `) : sql`1`)

/** Rows that come after the given keys; one row comparison, which an index serves, when all keys run the same way. */
function beyond(sort: readonly SortKey[], after: readonly (string | number)[]): SQL {
  const sign = (desc: boolean) => (desc ? sql`<` : sql`>`)
  if (sort.every((key) => key.desc === sort[0]?.desc)) {
    const values = after.map((value) => sql`${value}`)
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

/**
 * One page and the exact count of the whole list, from one snapshot. Throws `invalid_page` past the end; page 1 of
 * nothing is an empty page. One row more than the page tells whether another follows: the count does not, for who walks
 * by cursor while rows go away.
 */
export async function paginate<Row>(db: Database, request: PageRequest, source: ListSource): Promise<Page<Row>> {
  const sort = [...source.sort, { by: source.key, desc: source.sort.at(-1)?.desc ?? false }]
  const names = sort.map((_, index) => sql.raw(`k${index}`))
  const keys = sort.map((key, index) => sql`${key.by} as ${names[index]}`)
  const direction = (key: SortKey) => (key.desc ? sql`desc` : sql`asc`)
  const order = sort.map((key) => sql`${key.by} ${direction(key)}`)
  const outerOrder = sort.map((key, index) => sql`page.${names[index]} ${direction(key)}`)
  const after = request.after?.length === sort.length ? request.after : null
  const skipped = (request.page - 1) * request.size
  const where = after ? [...source.where, beyond(sort, after)] : source.where
  const rows = sql<Row & Record<string, string | number>>`
    select ${sql.join(
      names.map((name) => sql`page.${name}`),
      sql`, `,
    )}, ${source.columns}
    from (
      select ${source.key} as key, ${sql.join(keys, sql`, `)} from ${source.from} where ${and(where)}
      order by ${sql.join(order, sql`, `)} limit ${request.size + 1} offset ${after ? 0 : skipped}
    ) as page ${source.joins}
    order by ${sql.join(outerOrder, sql`, `)}`
  const count = sql<{ n: number }>`select count(*) as n from ${source.from} where ${and(source.where)}`
  const [found, [total]] = await db.batch([rows, count])
  const n = total?.n ?? 0
  if (request.page > 1 && !after && skipped >= n) throw new AppError('invalid_page', 'Invalid page.')
  const rowsOfPage = found.slice(0, request.size)
  const last = rowsOfPage.at(-1)
  return {
    rows: rowsOfPage,
    count: n,
    page: request.page,
    size: request.size,
    after: last && found.length > request.size ? sort.map((_, index) => last[`k${index}`] ?? '') : null,
  }
}
