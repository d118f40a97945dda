import { type SQL, sql } from 'drizzle-orm'

/**
 * Ranges of an index: each has the rows with the same values in `columns`, in the order of the list. A page merges them, and
 * reads no further in any of them than it needs. There are at most five, because D1 unites no more queries.
 */
export interface Ranges {
  columns: readonly SQL[]
  /** The values of each range. */
  values: readonly (readonly (string | number)[])[]
}

/** The rows of all ranges, of which `selected` makes a query by their conditions. */
export const united = ({ columns, values }: Ranges, selected: (conditions: readonly SQL[]) => SQL): SQL =>
  sql.join(
    values.map((ofRange) => selected(columns.map((column, index) => sql`${column} = ${ofRange[index]}`))),
    sql` union all `,
  )

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
