import { type SQL, sql } from 'drizzle-orm'
import { areSpans, coarseBits, fineBits, fineInCoarse, written } from '../../edition-counts.ts'

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

interface Halving {
  /** The name of the recursive query. */
  name: SQL
  bits: number
  /** A query of the row that the search begins with: `lo`, the first span; `size`, how many there are; and `ahead`. */
  begin: SQL
}

/**
 * A recursive query that halves `size` spans until one is left, in which the row behind `ahead` others stands. `near` are
 * the rows of the half that comes first: together they are as many spans as there are.
 */
function halving({ editions, long, short }: RowsOfSpans, isDesc: boolean, { name, bits, begin }: Halving): SQL {
  const near = (
    lo: SQL,
    size: SQL,
  ) => sql`(select coalesce(sum(${bits === coarseBits ? long : short}), 0) from order_counts
    where ${areSpans(bits, editions)}
      and span >= ${lo} ${isDesc ? sql`+ ${size} / 2` : sql``} and span < ${lo} + ${isDesc ? size : sql`${size} / 2`})`
  const isUpper = isDesc ? sql`near > ahead` : sql`near <= ahead`
  const next = sql`iif(${isUpper}, lo + size / 2, lo)`
  return sql`${name} (lo, size, ahead, near) as (
      select lo, size, ahead, ${near(sql`lo`, sql`size`)} from (${begin})
      union all
      select ${next}, size / 2, iif(near <= ahead, ahead - near, ahead), ${near(next, sql`(size / 2)`)}
        from ${name} where size > 1)`
}

/**
 * Defines `start`: the edge of a short span, and how many of the rows from there on stand before the one behind `ahead`
 * others, in the order of creation. It reads about as many rows as there are long spans, and short ones in one of them.
 */
export function startInEditions(rows: RowsOfSpans, isDesc: boolean, ahead: SQL): SQL {
  const { editions, isDivided } = rows
  const end = (direction: SQL) => sql`(select span from order_counts
    where ${areSpans(coarseBits, editions)} order by span ${direction} limit 1)`
  // A power of two, so that it can be halved: one year of spans, four, or all that there can be.
  const coarse = sql`select lo, case when length < 64 then 64 when length < 256 then 256 else 1048576 end as size, ahead
    from (select ${end(sql`asc`)} as lo, ${end(sql`desc`)} - ${end(sql`asc`)} as length, ${ahead} as ahead)`
  const parts = written(fineInCoarse)
  const divided = sql`select lo * ${parts} as lo, ${parts} as size, ahead from coarse where size = 1`
  // The edge of a long span that is not divided is that of its first short one, or of its last.
  const first = isDesc ? sql`lo + ${parts} - 1` : sql`lo`
  const fine = isDivided
    ? sql`select iif(is_divided, lo, ${first}) as lo, iif(is_divided, size, 1) as size, ahead
        from (select *, exists (select 1 from order_counts where ${areSpans(coarseBits, editions)}
          and span = lo / ${parts} and ${isDivided}) as is_divided from (${divided}))`
    : divided
  return sql`${halving(rows, isDesc, { name: sql`coarse`, bits: coarseBits, begin: coarse })},
      ${halving(rows, isDesc, { name: sql`fine`, bits: fineBits, begin: fine })},
      start (moment, skipped) as materialized (
        select (lo ${isDesc ? sql`+ 1` : sql``}) << ${written(fineBits)}, ahead from fine where size = 1)`
}
