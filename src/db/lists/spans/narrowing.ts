import { type SQL, sql } from 'drizzle-orm'

/** The spans that a row of the query has. Columns are named with the query: a subquery may have others of these names. */
export interface SpanRange {
  bits: SQL
  lo: SQL
}

interface Narrowing {
  /** The name of the recursive query. */
  name: SQL
  /**
   * A query of `bits`, `lo`, `size`, `ahead` and `total`: the length of the spans that the search begins with, the first of
   * them, how many they are, how many rows to pass, and how many rows there are; null where that is not known.
   */
  begin: SQL
  /** The number of rows of the spans of a length from one to the one before another. */
  rowsOf: (bits: SQL, from: SQL, until: SQL) => SQL
  /** The length of the parts of a span, and whether the span at `lo` has parts. */
  parts: { bits: (bits: SQL) => SQL; areThere: (span: SpanRange) => SQL }
}

/**
 * A recursive query that cuts spans in two until one is left, in which the row behind `ahead` others stands, and then the
 * parts of this one. It cuts where the row would be if rows were spread evenly, and reads the smaller side: of sixteen spans
 * five where they are, and about sixteen where they are not.
 *
 * A step is two rows: first spans that are left; then also the number `cut` of those on the side that the list begins with,
 * and the number `near` of their rows.
 */
export function narrowing(isDesc: boolean, { name, begin, rowsOf, parts }: Narrowing): SQL {
  const [bits, lo, size] = [sql`${name}.bits`, sql`${name}.lo`, sql`${name}.size`]
  const expected = sql`max(1, min(${size} - 1, coalesce(${name}.ahead * ${size} / ${name}.total, ${size} / 2)))`
  const isLess = sql`2 * ${expected} <= ${size}`
  const [from, until] = isDesc
    ? [sql`iif(${isLess}, ${size} - ${expected}, 0)`, sql`iif(${isLess}, ${size}, ${size} - ${expected})`]
    : [sql`iif(${isLess}, 0, ${expected})`, sql`iif(${isLess}, ${expected}, ${size})`]
  const read = rowsOf(bits, sql`${lo} + ${from}`, sql`${lo} + ${until}`)
  const isFar = sql`near <= ahead`
  const rest = isDesc ? sql`iif(${isFar}, lo, lo + size - cut)` : sql`iif(${isFar}, lo + cut, lo)`
  const shorter = parts.bits(bits)
  // SQLite takes no recursive query inside a subquery: nothing is named before it is used.
  return sql`${name} (bits, lo, size, ahead, total, cut, near) as (
      select bits, lo, size, cast(ahead as integer), total, null, null from (${begin}) as ${name}
      union all
      select bits, lo, size, ahead, total, ${expected}, iif(${isLess}, 0, ${name}.total) + iif(${isLess}, 1, -1) * ${read}
        from ${name} where size > 1 and near is null
      union all
      select bits, ${rest}, iif(${isFar}, size - cut, cut), iif(${isFar}, ahead - near, ahead),
          iif(${isFar}, total - near, near), null, null
        from ${name} where near is not null
      union all
      select ${shorter}, lo << (${bits} - ${shorter}), 1 << (${bits} - ${shorter}), ahead, total, null, null
        from ${name} where size = 1 and ${parts.areThere({ bits, lo })})`
}
