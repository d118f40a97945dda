import { type SQL, sql } from 'drizzle-orm'

/** The spans that a row of the query has. Columns are named with the query: a subquery may have others of these names. */
export interface SpanRange {
  bits: SQL
  lo: SQL
}

interface Halving {
  /** The name of the recursive query. */
  name: SQL
  /**
   * A query of `bits`, `lo`, `size` and `ahead`: the length of the spans that the search begins with, the first of them, how
   * many they are, and how many rows to pass.
   */
  begin: SQL
  /** The number of rows of the spans of a length from one to the one before another. */
  rowsOf: (bits: SQL, from: SQL, until: SQL) => SQL
  /** The length of the parts of a span, and whether the span at `lo` has parts. Left out where spans have none. */
  parts?: { bits: (bits: SQL) => SQL; areThere: (span: SpanRange) => SQL }
}

/**
 * A recursive query that halves spans until one is left, in which the row behind `ahead` others stands, and then the parts of
 * this one. `near` are the rows of the half that comes first: for each length about as many spans are read as there are.
 */
export function halving(isDesc: boolean, { name, begin, rowsOf, parts }: Halving): SQL {
  const [bits, lo, size] = [sql`${name}.bits`, sql`${name}.lo`, sql`${name}.size`]
  const nearOf = (ofBits: SQL, first: SQL, count: SQL): SQL => {
    const [from, until] = isDesc
      ? [sql`${first} + ${count} - ${count} / 2`, sql`${first} + ${count}`]
      : [first, sql`${first} + ${count} / 2`]
    return sql`iif(${count} > 1, ${rowsOf(ofBits, from, until)}, 0)`
  }
  const isFar = sql`near <= ahead`
  const half = isDesc
    ? sql`iif(${isFar}, ${lo}, ${lo} + ${size} - ${size} / 2)`
    : sql`iif(${isFar}, ${lo} + ${size} / 2, ${lo})`
  const left = sql`iif(${isFar}, ${size} - ${size} / 2, ${size} / 2)`
  const shorter = parts?.bits(bits) ?? bits
  const [first, count] = [sql`(${lo} << (${bits} - ${shorter}))`, sql`(1 << (${bits} - ${shorter}))`]
  // SQLite takes no recursive query inside a subquery: nothing is named before it is used.
  return sql`${name} (bits, lo, size, ahead, near) as (
      select bits, lo, size, ahead, ${nearOf(bits, lo, size)} from (${begin}) as ${name}
      union all
      select bits, ${half}, ${left}, iif(${isFar}, ahead - near, ahead), ${nearOf(bits, half, left)}
        from ${name} where size > 1
      ${
        parts
          ? sql`union all
      select ${shorter}, ${first}, ${count}, ahead, ${nearOf(shorter, first, count)}
        from ${name} where size = 1 and ${parts.areThere({ bits, lo })}`
          : sql``
      })`
}
