import { type SQL, sql } from 'drizzle-orm'

/**
 * Ranges of an index: each has the rows with the same values in `columns`, in the order of the list. A page merges them, and
 * reads no further in any of them than it needs.
 */
export interface Ranges {
  columns: readonly SQL[]
  /** The values of each range. */
  values: readonly (readonly (string | number)[])[]
}

/** D1 unites no more queries. */
const mostUnited = 5

/**
 * The rows of all ranges in an order, which names columns of `selected`, a query by the conditions of a range. SQLite merges
 * queries that have the order of their union, and reads no further in them than a limit asks for.
 */
export function united({ columns, values }: Ranges, selected: (conditions: readonly SQL[]) => SQL, order: SQL): SQL {
  const queries = values.map((ofRange) => selected(columns.map((column, index) => sql`${column} = ${ofRange[index]}`)))
  const merged = (parts: readonly SQL[]): SQL => sql`${sql.join([...parts], sql` union all `)} order by ${order}`
  if (queries.length <= mostUnited) return merged(queries)
  const count = Math.ceil(queries.length / mostUnited)
  const parts = Array.from({ length: count }, (_, part) => queries.slice(part * mostUnited, (part + 1) * mostUnited))
  return merged(parts.map((part) => sql`select * from (${merged(part)})`))
}

/** Lets an index that begins with the ranges find what a condition behind them says, in no order. */
export const inAnyRange = ({ columns, values }: Ranges): SQL =>
  sql.join(
    columns.map((column, index) => {
      const all = new Set(values.map((ofRange) => ofRange[index]))
      return sql`${column} in (${sql.join(
        [...all].map((value) => sql`${value}`),
        sql`, `,
      )})`
    }),
    sql` and `,
  )
