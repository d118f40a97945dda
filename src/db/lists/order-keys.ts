import { type SQL, sql } from 'drizzle-orm'

/** One key of an order as an expression. */
export interface OrderKey {
  by: SQL
  desc: boolean
}

export type After = readonly (string | number)[]

export const and = (conditions: readonly SQL[]): SQL =>
  conditions.length ? sql.join([...conditions], sql` and `) : sql`1`

export const runsOneWay = (sort: readonly OrderKey[]): boolean => sort.every(({ desc }) => desc === sort[0]?.desc)

/** Rows that come after the given keys; one row comparison, which an index serves, when all keys run the same way. */
export function beyond(sort: readonly OrderKey[], after: After): SQL {
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
