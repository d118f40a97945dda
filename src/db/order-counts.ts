import { type SQL, sql } from 'drizzle-orm'
import { type OrderStatus, orderStatuses, orderTypes } from '../domain/orders/orders.ts'
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

/** What a count from `from` has too much where it is made from `edge`; negative where it lacks something. */
function beyond(from: number, edge: number, between: (range: Range) => SQL): SQL {
  if (from === edge) return sql``
  return edge < from ? sql`- ${between([edge, from])}` : sql`+ ${between([from, edge])}`
}

/** What is between the edge of a coarse span and a moment near it, as a part of a sum. */
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

/**
 * About how many orders there are, how many of them match, and how many of them an index of the filter alone leads to.
 * Spans count as a whole.
 */
export function estimateOf(counted: CountedOrders): SQL<{ total: number; matching: number; found: number }> {
  const spanOf = (moment: number) => Math.floor(moment / 2 ** coarseBits)
  const { editions, status, type, from, until } = counted
  const isWithin = sql`(${from === undefined ? sql`1` : sql`span >= ${spanOf(from)}`}
    and ${until === undefined ? sql`1` : sql`span <= ${spanOf(until)}`})`
  const sum = (columns: SQL) => sql`coalesce(sum(iif(${isWithin}, ${columns}, 0)), 0)`
  return sql`select coalesce(sum(${columnsOf({})}), 0) as total, ${sum(columnsOf(counted))} as matching,
    ${sum(columnsOf(status ? { status } : { type }))} as found
    from order_counts where span_bits = ${sql.raw(String(coarseBits))} and edition_id in (${editions})`
}

/** The span in which the row of a number stands, and how many rows come before it. */
function spanAt(counted: CountedOrders, isDesc: boolean, step: { bits: number; offset: SQL; within: SQL }): SQL {
  const [direction, last] = isDesc ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  return sql`select span, passed from (
      select span, sum(n) over (order by span ${direction}) - n as passed from (
        select span, sum(${columnsOf(counted)}) as n from order_counts
        where span_bits = ${sql.raw(String(step.bits))} and edition_id in (${counted.editions}) ${step.within}
        group by span))
    where passed <= ${step.offset} order by span ${last} limit 1`
}

/**
 * Where a page begins in the order of creation: the edge of a fine span, and how many rows from there on are before the
 * page. It reads the coarse spans and the fine ones of one of them.
 */
export function startOfOrders(counted: CountedOrders, isDesc: boolean, offset: number): PageStart {
  const { from, until, ...all } = counted
  // The orders that stand before the list in the list of all moments.
  const before = isDesc
    ? until !== undefined && countOfOrders({ ...all, from: until })
    : from !== undefined && countOfOrders({ ...all, until: from })
  const shift = coarseBits - fineBits
  const ofCoarse = sql.raw(
    `span between (select span << ${shift} from coarse) and (select (span << ${shift}) + ${2 ** shift - 1} from coarse)`,
  )
  const wanted = sql`(select rows from wanted)`
  return {
    ctes: sql`wanted (rows) as materialized (select ${offset} ${before ? sql`+ ${before}` : sql``}),
      coarse as materialized (${spanAt(all, isDesc, { bits: coarseBits, offset: wanted, within: sql`` })}),
      fine as materialized (${spanAt(all, isDesc, {
        bits: fineBits,
        offset: sql`(select ${wanted} - passed from coarse)`,
        within: sql`and ${ofCoarse}`,
      })}),
      start (moment, skipped) as materialized (
        select (fine.span ${isDesc ? sql`+ 1` : sql``}) << ${sql.raw(String(fineBits))},
          ${wanted} - coarse.passed - fine.passed from coarse, fine)`,
    where: sql`orders.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`,
    offset: sql`coalesce((select skipped from start), 0)`,
  }
}
