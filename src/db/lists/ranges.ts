import { type SQL, sql } from 'drizzle-orm'

/**
 * Ranges of an index: each has the rows with the same values in `columns`, in the order of the list. A page merges them, and
 * reads no further in any of them than it needs.
 */
export interface Ranges {
  columns: readonly SQL[]
  /** The values of each range. */
  values: readonly (readonly (string | number)[])[]
  /** They are words of the code, which are not bound, as numbers are not: a statement has at most 100 parameters. */
  areWords?: boolean
}

const isWord = (value: string): boolean => /^\w+$/.test(value)

/** A value of each range of a statement. Numbers and words are written out, as those of the ranges are. */
export function valueInRanges(value: string | number): SQL {
  if (typeof value === 'number') return Number.isFinite(value) ? sql.raw(String(value)) : sql`${value}`
  return isWord(value) ? sql.raw(`'${value}'`) : sql`${value}`
}

function valueOf({ areWords }: Ranges, value: string | number | undefined): SQL {
  if (typeof value === 'number') return sql.raw(String(value))
  return areWords ? sql.raw(`'${value}'`) : sql`${value}`
}

/** D1 unites no more queries. */
const mostUnited = 5

/** All rows of some queries, one after the other; `order` names the order that each query has, and in which they are merged. */
export function union(queries: readonly SQL[], order?: SQL): SQL {
  const one = (parts: readonly SQL[]): SQL =>
    sql`${sql.join([...parts], sql` union all `)} ${order ? sql`order by ${order}` : sql``}`
  if (queries.length <= mostUnited) return one(queries)
  const count = Math.ceil(queries.length / mostUnited)
  const parts = Array.from({ length: count }, (_, part) => queries.slice(part * mostUnited, (part + 1) * mostUnited))
  return union(
    parts.map((part) => sql`select * from (${one(part)})`),
    order,
  )
}

/**
 * The rows of all ranges in an order, which names columns of `selected`, a query by the conditions of a range. SQLite merges
 * queries that have the order of their union, and reads no further in them than a limit asks for.
 */
export const united = (ranges: Ranges, selected: (conditions: readonly SQL[]) => SQL, order: SQL): SQL =>
  union(
    ranges.values.map((ofRange) =>
      selected(ranges.columns.map((column, index) => sql`${column} = ${valueOf(ranges, ofRange[index])}`)),
    ),
    order,
  )

/** As `united`, of rows that may be in one range. */
export const inOrderOf = (ranges: Ranges | undefined, selected: (conditions: readonly SQL[]) => SQL, order: SQL): SQL =>
  ranges ? united(ranges, selected, order) : sql`${selected([])} order by ${order}`

/** Lets an index that begins with the ranges find what a condition behind them says, in no order. */
export const inAnyRange = (ranges: Ranges): SQL =>
  sql.join(
    ranges.columns.map((column, index) => {
      const all = new Set(ranges.values.map((ofRange) => ofRange[index]))
      return sql`${column} in (${sql.join(
        [...all].map((value) => valueOf(ranges, value)),
        sql`, `,
      )})`
    }),
    sql` and `,
  )
