import { type SQL, sql } from 'drizzle-orm'

/** The spans that a row of the query has. Columns are named with the query: a subquery may have others of these names. */
export interface SpanRange {
  bits: SQL
  lo: SQL
}

interface SpanSearch {
  /** The name of the recursive query. */
  name: SQL
  /**
   * A query of `bits`, `lo`, `size`, `ahead` and `total`: the length of the spans that the search begins with, the first of them,
   * how many they are, how many rows to pass, and how many rows they have.
   */
  begin: SQL
  /** A moment before which a span of this length, and those behind it, have no rows, as far as that is known. */
  beganAt: (span: SpanRange) => SQL
  /** A query of `span` and a number of rows `n`, in several rows, of the spans of a length from one to the one before another. */
  spansOf: (bits: SQL, from: SQL, until: SQL) => SQL
  /** The length of the parts of a span, and whether a span has parts. */
  parts: { bits: (bits: SQL) => SQL; areThere: (span: SpanRange) => SQL }
}

/**
 * A recursive query that looks for the span in which the row behind `ahead` others stands, and then among the parts of this
 * one. It looks at the span in which the row stands if all are spread evenly from the first one on until now, the one behind
 * `at` others in the order of the list, and reads the smaller side of it: `read` has how many rows it has itself, and how many
 * stand before it. Then it takes these spans, that one or those behind it. From the second look on a quarter of the spans is
 * left out at least, because the first ones may be without rows.
 */
export function placeInSpans(isDesc: boolean, { name, begin, beganAt, spansOf, parts }: SpanSearch): SQL {
  const [bits, lo, size, total] = [sql`${name}.bits`, sql`${name}.lo`, sql`${name}.size`, sql`${name}.total`]
  const aside = sql`iif(looks = 0, 0, size / 4)`
  const [begun, ended] = [
    sql`max(lo << bits, ${beganAt({ bits: sql`bits`, lo: sql`lo` })})`,
    sql`min((lo + size) << bits, unixepoch() * 1000)`,
  ]
  const moment = sql`(${begun} + (${ended} - ${begun}) * ${isDesc ? sql`(total - ahead)` : sql`ahead`} / max(total, 1))`
  const guess = isDesc ? sql`lo + size - 1 - (${moment} >> bits)` : sql`(${moment} >> bits) - lo`
  const at = sql`max(${aside}, min(size - 1 - ${aside}, ${guess}))`
  const [isNear, sought] = [
    sql`(2 * ${name}.at < ${size})`,
    isDesc ? sql`(${lo} + ${size} - 1 - ${name}.at)` : sql`(${lo} + ${name}.at)`,
  ]
  const isLow = isDesc ? sql`not ${isNear}` : isNear
  const spans = spansOf(
    bits,
    sql`iif(${isLow}, ${lo}, ${sought})`,
    sql`iif(${isLow}, ${sought}, ${lo} + ${size} - 1) + 1`,
  )
  const own = sql`coalesce(sum(iif(span = ${sought}, n, 0)), 0)`
  const others = sql`coalesce(sum(iif(span = ${sought}, 0, n)), 0)`
  const [ownRead, before] = [sql`(read ->> 0)`, sql`(read ->> 1)`]
  /** Of the spans before the one that was looked at, of this one, or of those behind it. */
  const chosen = (first: SQL, second: SQL, third: SQL): SQL =>
    sql`iif(ahead < ${before}, ${first}, iif(ahead < ${before} + ${ownRead} or at = size - 1, ${second}, ${third}))`
  const first = isDesc
    ? chosen(sql`lo + size - at`, sql`lo + size - at - 1`, sql`lo`)
    : chosen(sql`lo`, sql`lo + at`, sql`lo + at + 1`)
  const shorter = parts.bits(bits)
  // SQLite takes no recursive query inside a subquery: nothing is named before it is used.
  return sql`${name} (bits, lo, size, ahead, total, looks, at, read) as (
      select bits, lo, size, cast(ahead as integer), total, 0, null, null from (${begin})
      union all
      select bits, lo, size, ahead, total, looks, ${at}, null from ${name} where size > 1 and at is null
      union all
      select bits, lo, size, ahead, total, looks, at, (
          select json_array(${own}, iif(${isNear}, ${others}, ${total} - ${own} - ${others})) from (${spans}))
        from ${name} where at is not null and read is null
      union all
      select bits, ${first}, ${chosen(sql`at`, sql`1`, sql`size - at - 1`)},
          ahead - ${chosen(sql`0`, before, sql`(${before} + ${ownRead})`)},
          ${chosen(before, ownRead, sql`total - ${before} - ${ownRead}`)}, looks + 1, null, null
        from ${name} where read is not null
      union all
      select ${shorter}, ${lo} << (${bits} - ${shorter}), 1 << (${bits} - ${shorter}), ahead, total, 0, null, null
        from ${name} where size = 1 and ${parts.areThere({ bits, lo })})`
}
