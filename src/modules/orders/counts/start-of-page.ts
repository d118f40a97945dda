import { type SQL, sql } from 'drizzle-orm'
import { coarseBits, fineBits, fineInCoarse } from '../../../db/edition-counts.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { countOfOrders } from './count-orders.ts'
import { areSpans, type CountedOrders, type OrderKinds, ordersInSpan, written } from './spans.ts'

/** Orders as spans count them. */
interface SpannedOrders {
  /** A query of the ids of their editions. */
  editions: SQL
  /** How many of them a row of `order_counts` has. */
  n: SQL
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
 * the orders of the half that comes first: together they are as many spans as there are.
 */
function halving({ editions, n }: SpannedOrders, isDesc: boolean, { name, bits, begin }: Halving): SQL {
  const near = (lo: SQL, size: SQL) => sql`(select coalesce(sum(${n}), 0) from order_counts
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

/** The number of orders that stand before the list in the list of all moments; null where there are none. */
function countBefore({ from, until, ...all }: CountedOrders, isDesc: boolean): SQL | null {
  if (isDesc) return until === undefined ? null : countOfOrders({ ...all, from: until })
  return from === undefined ? null : countOfOrders({ ...all, until: from })
}

/**
 * Defines `start`: the edge of a fine span, and how many of the orders from there on stand before the one behind `ahead`
 * others. It reads about as many rows as there are coarse spans, and fine ones in one of them.
 */
function startCtes(orders: SpannedOrders, isDesc: boolean, ahead: SQL): SQL {
  const end = (direction: SQL) => sql`(select span from order_counts
    where ${areSpans(coarseBits, orders.editions)} order by span ${direction} limit 1)`
  // A power of two, so that it can be halved: one year of spans, four, or all that there can be.
  const coarse = sql`select lo, case when length < 64 then 64 when length < 256 then 256 else 1048576 end as size, ahead
    from (select ${end(sql`asc`)} as lo, ${end(sql`desc`)} - ${end(sql`asc`)} as length, ${ahead} as ahead)`
  const parts = written(fineInCoarse)
  const fine = sql`select lo * ${parts} as lo, ${parts} as size, ahead from coarse where size = 1`
  return sql`${halving(orders, isDesc, { name: sql`coarse`, bits: coarseBits, begin: coarse })},
      ${halving(orders, isDesc, { name: sql`fine`, bits: fineBits, begin: fine })},
      start (moment, skipped) as materialized (
        select (lo ${isDesc ? sql`+ 1` : sql``}) << ${written(fineBits)}, ahead from fine where size = 1)`
}

const isBehind = (isDesc: boolean, moment: SQL): SQL => sql`orders.created_at ${isDesc ? sql`<` : sql`>=`} ${moment}`
const skippedInStart = sql`(select skipped from start)`

/** Where a page begins in the order of creation. */
export function startOfOrders(counted: CountedOrders, isDesc: boolean, offset: number): PageStart {
  const before = countBefore(counted, isDesc)
  const spanned = { editions: counted.editions, n: ordersInSpan(counted) }
  return {
    ctes: startCtes(spanned, isDesc, sql`${offset} ${before ? sql`+ ${before}` : sql``}`),
    where: [isBehind(isDesc, sql`(select moment from start)`)],
    offset: skippedInStart,
  }
}

/** A moment before and one behind all others. */
const [before, behind] = [written(-(2 ** 53)), written(2 ** 53)]

const added = (numbers: readonly SQL[]): SQL => sql.join([sql`0`, ...numbers], sql` + `)

/**
 * Where a page begins in an order that reads groups of orders one after the other, each in the order of creation. Groups
 * before that of the page are passed by their counts.
 */
export function startInGroups(
  editions: SQL,
  groups: readonly OrderKinds[],
  isDesc: boolean,
  offset: number,
): PageStart {
  const sizes = groups.map((_, group) => sql.raw(`size${group}`))
  const sums = groups.map((kinds, group) => sql`coalesce(sum(${ordersInSpan(kinds)}), 0) as ${sizes[group]}`)
  const begun = sql`(select number from begun)`
  /** What a group has to say if it is the one of this number. */
  const ofGroup = (number: SQL, values: readonly SQL[]): SQL =>
    sql`case ${number} ${sql.join(
      values.map((value, group) => sql`when ${written(group)} then ${value}`),
      sql` `,
    )} end`
  const ahead = groups.map((_, group) => added(sizes.slice(0, group)))
  const isPassed = ahead.slice(1).map((passed) => sql`(${offset} >= ${passed})`)
  const n = ofGroup(
    begun,
    groups.map((kinds) => ordersInSpan(kinds)),
  )
  const [none, all] = isDesc ? [before, behind] : [behind, before]
  return {
    ctes: sql`sizes as materialized (
        select ${sql.join(sums, sql`, `)} from order_counts where ${areSpans(coarseBits, editions)}),
      begun (number, ahead) as materialized (
        select number, ${offset} - (${ofGroup(sql`number`, ahead)}) from (select *, ${added(isPassed)} as number from sizes)),
      ${startCtes({ editions, n }, isDesc, sql`(select ahead from begun)`)}`,
    where: groups.map((_, group) =>
      isBehind(
        isDesc,
        sql`(select case when ${begun} > ${written(group)} then ${none} when ${begun} < ${written(group)} then ${all} else moment end
          from start)`,
      ),
    ),
    offset: skippedInStart,
  }
}
