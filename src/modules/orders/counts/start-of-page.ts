import { type SQL, sql } from 'drizzle-orm'
import { areSpans, longestBits, written } from '../../../db/edition-counts.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { spansOf, startInEditions } from '../../../db/lists/spans/start-in-editions.ts'
import { countOfOrders } from './count-orders.ts'
import type { OrderKinds } from '../../../db/order-kinds.ts'
import { type CountedOrders, ordersInSpan } from './spans.ts'

/** The number of orders that stand before the list in the list of all moments; null where there are none. */
function countBefore({ from, until, ...all }: CountedOrders, isDesc: boolean): SQL | null {
  if (isDesc) return until === undefined ? null : countOfOrders({ ...all, from: until })
  return from === undefined ? null : countOfOrders({ ...all, until: from })
}

const isBehind = (isDesc: boolean, moment: SQL): SQL => sql`orders.created_at ${isDesc ? sql`<` : sql`>=`} ${moment}`
const skippedInStart = sql`(select skipped from start)`

/** Where a page begins in the order of creation. */
export function startOfOrders(counted: CountedOrders, isDesc: boolean, offset: number): PageStart {
  const before = countBefore(counted, isDesc)
  const begin = isDesc ? counted.until : counted.from
  // In the span in which the list begins, orders before it are behind the edge.
  const isOutside = sql`(select moment from start) ${isDesc ? sql`>` : sql`<`} ${begin}`
  return {
    ctes: startInEditions(
      { editions: counted.editions, counted: ordersInSpan(counted) },
      isDesc,
      sql`${offset} ${before ? sql`+ ${before}` : sql``}`,
    ),
    where: [isBehind(isDesc, sql`(select moment from start)`)],
    offset: begin === undefined ? skippedInStart : sql`iif(${isOutside}, ${offset}, ${skippedInStart})`,
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
  const ends = sql`select lo, size, ${ofGroup(sql`number`, sizes)} from sizes cross join begun`
  const [none, all] = isDesc ? [before, behind] : [behind, before]
  return {
    ctes: sql`sizes as materialized (
        select ${spansOf}, ${sql.join(sums, sql`, `)} from order_counts where ${areSpans(longestBits, editions)}),
      begun (number, ahead) as materialized (
        select number, ${offset} - (${ofGroup(sql`number`, ahead)}) from (select *, ${added(isPassed)} as number from sizes)),
      ${startInEditions({ editions, counted: n, ends }, isDesc, sql`(select ahead from begun)`)}`,
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
