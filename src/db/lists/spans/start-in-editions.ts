import { type SQL, sql } from 'drizzle-orm'
import { areSpans, longestBits, shortBits, sumBits, written } from '../../edition-counts.ts'
import { narrowing, type SpanRange } from './narrowing.ts'

/** Rows as the spans of `order_counts` count them. */
interface RowsOfSpans {
  /** A query of the ids of their editions. */
  editions: SQL
  /** How many of them a span has. */
  counted: SQL
  /** The longest spans that count them; left out, the longest of all. */
  bits?: number
  /** Whether the spans of the next length count the rows of this one too; left out, all do. */
  isDivided?: (span: SpanRange) => SQL
}

/**
 * Defines `start`: the edge of a short span, and how many of the rows from there on stand before the one behind `ahead`
 * others, in the order of creation.
 */
export function startInEditions(rows: RowsOfSpans, isDesc: boolean, ahead: SQL): SQL {
  const { editions, counted, bits: longest = longestBits, isDivided } = rows
  const [short, shorterBy] = [written(shortBits), written(sumBits)]
  return sql`ends (lo, size, total) as materialized (
        select min(span), coalesce(max(span) - min(span) + 1, 1), coalesce(sum(${counted}), 0) from order_counts
        where ${areSpans(longest, editions)}),
      ${narrowing(isDesc, {
        name: sql`place`,
        begin: sql`select ${written(longest)} as bits, lo, size, ${ahead} as ahead, total from ends`,
        rowsOf: (bits, from, until) => sql`(select coalesce(sum(${counted}), 0) from order_counts
          where span_bits = ${bits} and edition_id in (${editions}) and span >= ${from} and span < ${until})`,
        parts: {
          bits: (bits) => sql`(${bits} - ${shorterBy})`,
          areThere: (span) => sql`${span.bits} > ${short} ${isDivided ? sql`and ${isDivided(span)}` : sql``}`,
        },
      })},
      start (moment, skipped) as materialized (
        select moment, ahead from (
          select min(bits), (lo ${isDesc ? sql`+ 1` : sql``}) << bits as moment, ahead from place where size = 1))`
}
