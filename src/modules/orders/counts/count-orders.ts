import { type SQL, sql } from 'drizzle-orm'
import { areSpans, coarseBits, fineBits, fineInCoarse, sumOfEditions } from '../../../db/edition-counts.ts'
import { ofKinds } from '../../../db/order-kinds.ts'
import { type CountedOrders, ordersInSpan } from './spans.ts'

/** Numbers from the first up to the second, and without it. Open where one is undefined. */
type Range = readonly [from: number | undefined, until: number | undefined]

const within = (column: SQL, [from, until]: Range): SQL => sql`
  ${from === undefined ? sql`` : sql`and ${column} >= ${from}`} ${until === undefined ? sql`` : sql`and ${column} < ${until}`}`

const countSpans = (counted: CountedOrders, bits: number, range: Range): SQL =>
  sql`(select coalesce(sum(${ordersInSpan(counted)}), 0) from order_counts
    where ${areSpans(bits, counted.editions)} ${within(sql`span`, range)})`

const countRows = ({ editions, status, type }: CountedOrders, range: Range): SQL =>
  sql`(select count(*) from orders
    where edition_short_id in (select short_id from editions where id in (${editions})) ${within(sql`created_at`, range)}
    ${status || type ? sql`and ${ofKinds({ status, type })}` : sql``})`

/** The number of the edge of spans that is nearest to a moment. */
const nearestEdge = (moment: number, bits: number): number => Math.round(moment / 2 ** bits)

/** Corrects a count that begins at `edge` and should begin at `from`; a part of a sum. */
function correction(from: number, edge: number, countBetween: (range: Range) => SQL): SQL {
  if (from === edge) return sql``
  return edge < from ? sql`- ${countBetween([edge, from])}` : sql`+ ${countBetween([from, edge])}`
}

/** Corrects a count that begins at the coarse edge nearest to a moment and should begin at the moment. */
function correctionAt(counted: CountedOrders, moment: number): SQL {
  const coarse = nearestEdge(moment, coarseBits) * fineInCoarse
  const fine = nearestEdge(moment, fineBits)
  return sql`${correction(fine, coarse, (range) => countSpans(counted, fineBits, range))}
    ${correction(moment, fine * 2 ** fineBits, (range) => countRows(counted, range))}`
}

/**
 * The exact number of these orders, as an expression. It reads the coarse spans between, and from the nearest edge to
 * each end at most half a coarse span of fine ones and half a fine one of orders.
 */
export function countOfOrders(counted: CountedOrders): SQL {
  const { from, until } = counted
  if (from !== undefined && until !== undefined && from >= until) return sql`0`
  const edgeOf = (moment: number | undefined) => (moment === undefined ? undefined : nearestEdge(moment, coarseBits))
  const atBegin = from === undefined ? sql`` : correctionAt(counted, from)
  const atEnd = until === undefined ? sql`` : sql`- (0 ${correctionAt(counted, until)})`
  return sql`(${countSpans(counted, coarseBits, [edgeOf(from), edgeOf(until)])} ${atBegin} ${atEnd})`
}

/** The sum of all changes of these editions: two states of their lists never have the same. */
export const versionOfOrders = (editions: SQL): SQL => sumOfEditions(sql`changes`, editions)

export const countOfAllOrders = (editions: SQL): SQL => sumOfEditions(ordersInSpan(), editions)

/** Counts of orders of the kinds that are asked for. */
export interface MatchEstimate {
  /** At any time. */
  total: number
  matching: number
}

/** Estimates how many orders match. Spans count as a whole. */
export function estimateOf(counted: CountedOrders): SQL<MatchEstimate> {
  const spanOf = (moment: number) => Math.floor(moment / 2 ** coarseBits)
  const { editions, from, until } = counted
  const isWithin = sql`(${from === undefined ? sql`1` : sql`span >= ${spanOf(from)}`}
    and ${until === undefined ? sql`1` : sql`span <= ${spanOf(until)}`})`
  const n = ordersInSpan(counted)
  return sql`select coalesce(sum(${n}), 0) as total, coalesce(sum(iif(${isWithin}, ${n}, 0)), 0) as matching
    from order_counts where ${areSpans(coarseBits, editions)}`
}
