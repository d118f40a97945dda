import { type SQL, sql } from 'drizzle-orm'
import { areSpans, longestBits, shortBits, sumBits, written } from '../../edition-counts.ts'

/** Rows as the spans of `order_counts` count them. */
interface RowsOfSpans {
  /** A query of the ids of their editions. */
  editions: SQL
  /** How many of them a span has. */
  counted: SQL
  /** The longest spans that count them; left out, the longest of all. */
  longest?: number
  /** A query of what `spansOf` has, where that is known. */
  ends?: SQL
  /** Condition of `place` that the spans of the next length count the rows of its span too; left out, all do. */
  isDivided?: SQL
}

/** Columns of the spans of a length together: the first of them, and how many there are at most. */
export const spansOf = sql`min(span) as lo, coalesce(max(span) - min(span) + 1, 1) as size`

/**
 * Queries up to `place`: some spans of a length, how many of the rows are `ahead` of the one that is looked for, and how many
 * there are. It looks at the span in which the row stands if all are spread evenly, the one behind `at` others in the order of
 * the list, and reads the smaller side of it: `read` has how many rows it has itself, and how many stand before it. Then it
 * takes these spans, that one or those behind it, and of one that is left its parts. From the second look on a quarter of the
 * spans is left out at least, because the first ones may be without rows.
 */
function placeIn(rows: RowsOfSpans, isDesc: boolean, ahead: SQL): SQL {
  const { editions, counted, longest = longestBits, isDivided = sql`1` } = rows
  const ends =
    rows.ends ??
    sql`select ${spansOf}, coalesce(sum(${counted}), 0) from order_counts where ${areSpans(longest, editions)}`
  const [short, shorterBy] = [written(shortBits), written(sumBits)]
  const aside = sql`iif(looks = 0, 0, size / 4)`
  const at = sql`max(${aside}, min(size - 1 - ${aside}, coalesce(ahead * size / total, 0)))`
  const [isNear, sought] = [sql`2 * ${at} < size`, isDesc ? sql`(lo + size - 1 - ${at})` : sql`(lo + ${at})`]
  const isLow = isDesc ? sql`not ${isNear}` : isNear
  const others = sql`coalesce(sum(iif(span = ${sought}, 0, ${counted})), 0)`
  const own = sql`coalesce(sum(iif(span = ${sought}, ${counted}, 0)), 0)`
  const [ownRead, before] = [sql`(read ->> 0)`, sql`(read ->> 1)`]
  /** Of the spans before the one that was looked at, of this one, or of those behind it. */
  const chosen = (first: SQL, second: SQL, third: SQL): SQL =>
    sql`iif(ahead < ${before}, ${first}, iif(ahead < ${before} + ${ownRead} or at = size - 1, ${second}, ${third}))`
  const first = isDesc
    ? chosen(sql`lo + size - at`, sql`lo + size - at - 1`, sql`lo`)
    : chosen(sql`lo`, sql`lo + at`, sql`lo + at + 1`)
  // SQLite takes no recursive query inside a subquery: nothing is named before it is used.
  return sql`ends (lo, size, total) as materialized (${ends}),
      place (bits, lo, size, ahead, total, looks, at, read) as (
        select ${written(longest)}, lo, size, cast(${ahead} as integer), total, 0, null, null from ends
        union all
        select bits, lo, size, ahead, total, looks, ${at}, (
            select json_array(${own}, iif(${isNear}, ${others}, total - ${own} - ${others}))
            from order_counts where span_bits = bits and edition_id in (${editions})
              and span >= iif(${isLow}, lo, ${sought}) and span <= iif(${isLow}, ${sought}, lo + size - 1))
          from place where size > 1 and read is null
        union all
        select bits, ${first}, ${chosen(sql`at`, sql`1`, sql`size - at - 1`)},
            ahead - ${chosen(sql`0`, before, sql`(${before} + ${ownRead})`)},
            ${chosen(before, ownRead, sql`total - ${before} - ${ownRead}`)}, looks + 1, null, null
          from place where read is not null
        union all
        select bits - ${shorterBy}, lo << ${shorterBy}, 1 << ${shorterBy}, ahead, total, 0, null, null
          from place where size = 1 and bits > ${short} and ${isDivided})`
}

/**
 * Defines `start`: the edge of a short span, and how many of the rows from there on stand before the one behind `ahead`
 * others, in the order of creation. Of sixteen spans of an edition it reads up to nine where rows are spread evenly.
 */
export const startInEditions = (rows: RowsOfSpans, isDesc: boolean, ahead: SQL): SQL =>
  sql`${placeIn(rows, isDesc, ahead)},
      start (moment, skipped) as materialized (
        select moment, ahead from (
          select min(bits), (lo ${isDesc ? sql`+ 1` : sql``}) << bits as moment, ahead from place where size = 1))`
