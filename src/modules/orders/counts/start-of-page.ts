import { type SQL, sql } from 'drizzle-orm'
import { coarseBits } from '../../../db/edition-counts.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { countOfOrders } from './count-orders.ts'
import { areSpans, type CountedOrders, fineBits, fineInCoarse, ordersInSpan, written } from './spans.ts'

interface Halving {
  /** The name of the recursive query. */
  name: SQL
  bits: number
  /** A query of the row that the search begins with: `lo`, the first span; `size`, how many there are; and `ahead`. */
  begin: SQL
}

/**
 * A recursive query that halves `size` spans until one is left, in which the row behind `ahead` others stands. `near` are
 * the orders of the half that comes first: together they are as many spans as there are.
 */
function halving(counted: CountedOrders, isDesc: boolean, { name, bits, begin }: Halving): SQL {
  const near = (lo: SQL, size: SQL) => sql`(select coalesce(sum(${ordersInSpan(counted)}), 0) from order_counts
    where ${areSpans(bits, counted.editions)}
      and span >= ${lo} ${isDesc ? sql`+ ${size} / 2` : sql``} and span < ${lo} + ${isDesc ? size : sql`${size} / 2`})`
  const isUpper = isDesc ? sql`near > ahead` : sql`near <= ahead`
  const next = sql`iif(${isUpper}, lo + size / 2, lo)`
  return sql`${name} (lo, size, ahead, near) as (
      select lo, size, ahead, ${near(sql`lo`, sql`size`)} from (${begin})
      union all
      select ${next}, size / 2, iif(near <= ahead, ahead - near, ahead), ${near(next, sql`(size / 2)`)}
        from ${name} where size > 1)`
}

/** The number of orders that stand before the list in the list of all moments; null where there are none. */
function countBefore({ from, until, ...all }: CountedOrders, isDesc: boolean): SQL | null {
  if (isDesc) return until === undefined ? null : countOfOrders({ ...all, from: until })
  return from === undefined ? null : countOfOrders({ ...all, until: from })
}

/**
 * Where a page begins in the order of creation: the edge of a fine span, and how many rows from there on are before the
 * page. It reads about as many rows as there are coarse spans, and fine ones in one of them.
 */
export function startOfOrders(counted: CountedOrders, isDesc: boolean, offset: number): PageStart {
  const before = countBefore(counted, isDesc)
  const end = (direction: SQL) => sql`(select span from order_counts
    where ${areSpans(coarseBits, counted.editions)} order by span ${direction} limit 1)`
  // A power of two, so that it can be halved: one year of spans, four, or all that there can be.
  const coarse = sql`select lo, case when length < 64 then 64 when length < 256 then 256 else 1048576 end as size, ahead
    from (select ${end(sql`asc`)} as lo, ${end(sql`desc`)} - ${end(sql`asc`)} as length,
      ${offset} ${before ? sql`+ ${before}` : sql``} as ahead)`
  const parts = written(fineInCoarse)
  const fine = sql`select lo * ${parts} as lo, ${parts} as size, ahead from coarse where size = 1`
  return {
    ctes: sql`${halving(counted, isDesc, { name: sql`coarse`, bits: coarseBits, begin: coarse })},
      ${halving(counted, isDesc, { name: sql`fine`, bits: fineBits, begin: fine })},
      start (moment, skipped) as materialized (
        select (lo ${isDesc ? sql`+ 1` : sql``}) << ${written(fineBits)}, ahead from fine where size = 1)`,
    where: sql`orders.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`,
    offset: sql`(select skipped from start)`,
  }
}
