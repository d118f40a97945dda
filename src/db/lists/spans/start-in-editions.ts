import { type SQL, sql } from 'drizzle-orm'
import { areSpans, coarseBits, fineBits, fineInCoarse, written } from '../../edition-counts.ts'
import { halving } from './halving.ts'

/** Rows as the spans of `order_counts` count them. */
interface RowsOfSpans {
  /** A query of the ids of their editions. */
  editions: SQL
  /** How many of them a row of a long span has, and of a short one. */
  long: SQL
  short: SQL
  /** Condition of a long span whose short spans count the same rows; of every one, if it is left out. */
  isDivided?: SQL
}

/** Short spans are passed by so many at once. */
const passedAtOnce = 16
const lastGroup = written(fineInCoarse / passedAtOnce - 1)

/** The number of rows of the spans of a length from one to the one before another, as an expression. */
const rowsOf =
  ({ editions, long, short }: RowsOfSpans, bits: number) =>
  (from: SQL, until: SQL): SQL =>
    sql`(select coalesce(sum(${bits === coarseBits ? long : short}), 0) from order_counts
      where ${areSpans(bits, editions)} and span >= ${from} and span < ${until})`

/**
 * A query `groups` of groups of short spans of the long span that `found` has, from its nearer end up to the one of the row
 * that is looked for. Counted from there, `rest` rows come before that row.
 */
function groupsOfShort(rows: RowsOfSpans, isDesc: boolean): SQL {
  const rowsIn = (group: SQL): SQL => {
    const first = sql`lo * ${written(fineInCoarse)} + (${group}) * ${written(passedAtOnce)}`
    return rowsOf(rows, fineBits)(first, sql`${first} + ${written(passedAtOnce)}`)
  }
  const isFromTop = isDesc ? sql`not is_behind` : sql`is_behind`
  return sql`groups (lo, number, step, is_behind, rest, n) as (
      select lo, number, step, is_behind, rest, ${rowsIn(sql`number`)} from (
        select lo, iif(${isFromTop}, ${lastGroup}, 0) as number, iif(${isFromTop}, -1, 1) as step, is_behind,
          iif(is_behind, total - 1 - ahead, ahead) as rest
        from (select *, ahead * 2 > total as is_behind from found where is_divided))
      union all
      select lo, number + step, step, is_behind, rest - n, ${rowsIn(sql`number + step`)}
        from groups where n <= rest and number + step between 0 and ${lastGroup})`
}

/**
 * Defines `start`: the edge of a short span, and how many of the rows from there on stand before the one behind `ahead`
 * others, in the order of creation. It reads about as many rows as there are long spans, and up to half of the short ones in
 * one of them where rows are spread evenly.
 */
export function startInEditions(rows: RowsOfSpans, isDesc: boolean, ahead: SQL): SQL {
  const { editions, long, isDivided } = rows
  const [coarse, fine, parts] = [written(coarseBits), written(fineBits), written(fineInCoarse)]
  const ofLong = sql`from order_counts where ${areSpans(coarseBits, editions)}`
  // The edge of a long span that is not divided is that of its first short one, or of its last.
  const whole = isDesc ? sql`(lo + 1) * ${parts} - 1` : sql`lo * ${parts}`
  return sql`ends (lo, size) as materialized (select min(span), coalesce(max(span) - min(span) + 1, 1) ${ofLong}),
      ${halving(isDesc, {
        name: sql`coarse`,
        begin: sql`select ${coarse} as bits, lo, size, ${ahead} as ahead from ends`,
        rowsOf: (_, from, until) => rowsOf(rows, coarseBits)(from, until),
      })},
      found (lo, ahead, total, is_divided) as materialized (
        select lo, ahead, (select sum(${long}) ${ofLong} and span = lo),
            ${isDivided ? sql`exists (select 1 ${ofLong} and span = lo and ${isDivided})` : sql`1`}
          from coarse where size = 1),
      ${groupsOfShort(rows, isDesc)},
      ${halving(isDesc, {
        name: sql`fine`,
        begin: sql`select ${fine} as bits, lo * ${parts} + number * ${written(passedAtOnce)} as lo,
            ${written(passedAtOnce)} as size, iif(is_behind, n - 1 - rest, rest) as ahead
          from groups where n > rest or number + step not between 0 and ${lastGroup}
          union all select ${fine}, ${whole}, 1, ahead from found where not is_divided`,
        rowsOf: (_, from, until) => rowsOf(rows, fineBits)(from, until),
      })},
      start (moment, skipped) as materialized (
        select (lo ${isDesc ? sql`+ 1` : sql``}) << ${fine}, ahead from fine where size = 1)`
}
