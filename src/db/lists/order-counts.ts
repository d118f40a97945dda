import { type SQL, sql } from 'drizzle-orm'
import { type OrderStatus, orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import type { PageStart } from './page-by-number.ts'

type OrderType = (typeof orderTypes)[number]

/** Spans of `order_counts` are `created_at >> bits`. A coarse one is 256 fine ones. */
export const fineBits = 21
export const coarseBits = 29

/** Orders that `order_counts` can count. */
export interface CountedOrders {
  /** A query of the ids of their editions. */
  editions: SQL
  status?: OrderStatus | undefined
  type?: OrderType | undefined
  /** The first moment of creation, and the first one behind the last. Milliseconds UTC. */
  from?: number | undefined
  until?: number | undefined
}

/** Columns of `order_counts`, by the status and the type that they count. */
export const countColumns = orderStatuses.flatMap((status) =>
  orderTypes.map((type) => ({ status, type, name: `${status}_${type.replaceAll('-', '_')}` })),
)

function columnsOf({ status, type }: Pick<CountedOrders, 'status' | 'type'>): SQL {
  const chosen = countColumns.filter((one) => (!status || one.status === status) && (!type || one.type === type))
  return sql.raw(chosen.map(({ name }) => name).join(' + '))
}

/** A run of numbers: from the first, up to the second and without it. Open where there is none. */
type Range = readonly [from: number | undefined, until: number | undefined]

const within = (column: SQL, [from, until]: Range): SQL => sql`
  ${from === undefined ? sql`` : sql`and ${column} >= ${from}`} ${until === undefined ? sql`` : sql`and ${column} < ${until}`}`

const ofSpans = (counted: CountedOrders, bits: number, range: Range): SQL =>
  sql`(select coalesce(sum(${columnsOf(counted)}), 0) from order_counts
    where span_bits = ${sql.raw(String(bits))} and edition_id in (${counted.editions}) ${within(sql`span`, range)})`

/** Without an index of status and type together, the rows of the moments between are looked up. */
const ofMoments = ({ editions, status, type }: CountedOrders, range: Range): SQL =>
  sql`(select count(*) from orders where edition_id in (${editions}) ${within(sql`created_at`, range)}
    ${status ? sql`and status = ${status}` : sql``} ${type ? sql`and type = ${type}` : sql``})`

/** The number of the edge of spans that is nearest to a moment. */
const nearestEdge = (moment: number, bits: number): number => Math.round(moment / 2 ** bits)

/** The orders between `from` and `edge` by which a count from the edge is too high; negative when it is too low. */
function beyond(from: number, edge: number, between: (range: Range) => SQL): SQL {
  if (from === edge) return sql``
  return edge < from ? sql`- ${between([edge, from])}` : sql`+ ${between([from, edge])}`
}

/** The number between the edge of a coarse span and a moment near it, as a part of a sum. */
function corrected(counted: CountedOrders, moment: number): SQL {
  const coarse = nearestEdge(moment, coarseBits) * 2 ** (coarseBits - fineBits)
  const fine = nearestEdge(moment, fineBits)
  return sql`${beyond(fine, coarse, (range) => ofSpans(counted, fineBits, range))}
    ${beyond(moment, fine * 2 ** fineBits, (range) => ofMoments(counted, range))}`
}

/**
 * The exact number of these orders, as an expression. It reads the coarse spans between, and from the nearest edge to
 * each end at most half a coarse span of fine ones and half a fine one of orders.
 */
export function countOfOrders(counted: CountedOrders): SQL {
  const { from, until } = counted
  if (from !== undefined && until !== undefined && from >= until) return sql`0`
  const edges = [from, until].map((moment) => moment && nearestEdge(moment, coarseBits))
  const ends = [
    from === undefined ? sql`` : corrected(counted, from),
    until === undefined ? sql`` : sql`- (0 ${corrected(counted, until)})`,
  ]
  return sql`(${ofSpans(counted, coarseBits, [edges[0], edges[1]])} ${ends[0]} ${ends[1]})`
}

const ofEditions = (value: SQL, editions: SQL): SQL =>
  sql`(select coalesce(sum(${value}), 0) from order_counts
    where span_bits = ${sql.raw(String(coarseBits))} and edition_id in (${editions}))`

/** The sum of all changes of these editions: two states of their lists never have the same. */
export const versionOfOrders = (editions: SQL): SQL => ofEditions(sql`changes`, editions)

export const allOrders = (editions: SQL): SQL => ofEditions(columnsOf({}), editions)

/** Counts of orders. */
export interface MatchEstimate {
  total: number
  matching: number
  /** The number of orders that an index of the filter finds. */
  found: number
}

/**
 * About how many orders there are, how many of them match, and how many of them an index of the filter alone leads to.
 * Spans count as a whole.
 */
export function estimateOf(counted: CountedOrders): SQL<MatchEstimate> {
  const spanOf = (moment: number) => Math.floor(moment / 2 ** coarseBits)
  const { editions, status, type, from, until } = counted
  const isWithin = sql`(${from === undefined ? sql`1` : sql`span >= ${spanOf(from)}`}
    and ${until === undefined ? sql`1` : sql`span <= ${spanOf(until)}`})`
  const sum = (columns: SQL) => sql`coalesce(sum(iif(${isWithin}, ${columns}, 0)), 0)`
  return sql`select coalesce(sum(${columnsOf({})}), 0) as total, ${sum(columnsOf(counted))} as matching,
    ${sum(columnsOf(status ? { status } : { type }))} as found
    from order_counts where span_bits = ${sql.raw(String(coarseBits))} and edition_id in (${editions})`
}

/**
 * A recursive query that halves `size` spans until one is left, in which the row behind `ahead` others stands. `near` are
 * the orders of the half that comes first: together they are as many spans as there are.
 */
function halving(counted: CountedOrders, isDesc: boolean, search: { name: SQL; bits: number; begin: SQL }): SQL {
  const { name, bits, begin } = search
  const near = (lo: SQL, size: SQL) => sql`(select coalesce(sum(${columnsOf(counted)}), 0) from order_counts
    where span_bits = ${sql.raw(String(bits))} and edition_id in (${counted.editions})
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
 * Where a page begins in the order of creation: the edge of a fine span, and how many rows from there on are before the
 * page. It reads about as many rows as there are coarse spans, and fine ones in one of them.
 */
export function startOfOrders(counted: CountedOrders, isDesc: boolean, offset: number): PageStart {
  const { from, until, ...all } = counted
  // The orders that stand before the list in the list of all moments.
  const before = isDesc
    ? until !== undefined && countOfOrders({ ...all, from: until })
    : from !== undefined && countOfOrders({ ...all, until: from })
  const parts = sql.raw(String(2 ** (coarseBits - fineBits)))
  const end = (direction: 'asc' | 'desc') => sql`(select span from order_counts
    where span_bits = ${sql.raw(String(coarseBits))} and edition_id in (${all.editions}) order by span ${sql.raw(direction)} limit 1)`
  // A power of two, so that it can be halved: one year of spans, four, or all that there can be.
  const coarse = sql`select lo, case when length < 64 then 64 when length < 256 then 256 else 1048576 end as size, ahead
    from (select ${end('asc')} as lo, ${end('desc')} - ${end('asc')} as length,
      ${offset} ${before ? sql`+ ${before}` : sql``} as ahead)`
  const fine = sql`select lo * ${parts} as lo, ${parts} as size, ahead from coarse where size = 1`
  return {
    ctes: sql`${halving(all, isDesc, { name: sql`coarse`, bits: coarseBits, begin: coarse })},
      ${halving(all, isDesc, { name: sql`fine`, bits: fineBits, begin: fine })},
      start (moment, skipped) as materialized (
        select (lo ${isDesc ? sql`+ 1` : sql``}) << ${sql.raw(String(fineBits))}, ahead from fine where size = 1)`,
    where: sql`orders.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`,
    offset: sql`(select skipped from start)`,
  }
}
