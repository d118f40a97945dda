import { type SQL, sql } from 'drizzle-orm'
import { areSpans, lengthsOfSpans, longestBits, shortBits, sumBits, sumOfEditions } from '../../../db/edition-counts.ts'
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

/** A count from the edge of the longest spans that is nearest to a moment, corrected to that of the shortest. */
const correctionBySpans = (counted: CountedOrders, moment: number): SQL =>
  sql.join(
    lengthsOfSpans.slice(1).map((bits) => {
      const edge = nearestEdge(moment, bits + sumBits) * 2 ** sumBits
      return correction(nearestEdge(moment, bits), edge, (range) => countSpans(counted, bits, range))
    }),
    sql` `,
  )

/** From there to the moment. */
const correctionByRows = (counted: CountedOrders, moment: number): SQL =>
  correction(moment, nearestEdge(moment, shortBits) * 2 ** shortBits, (range) => countRows(counted, range))

type Correction = (counted: CountedOrders, moment: number) => SQL

function countFrom(counted: CountedOrders, correctionAt: Correction): SQL {
  const { from, until } = counted
  if (from !== undefined && until !== undefined && from >= until) return sql`0`
  const edgeOf = (moment: number | undefined) => (moment === undefined ? undefined : nearestEdge(moment, longestBits))
  const atBegin = from === undefined ? sql`` : correctionAt(counted, from)
  const atEnd = until === undefined ? sql`` : sql`- (0 ${correctionAt(counted, until)})`
  return sql`(${countSpans(counted, longestBits, [edgeOf(from), edgeOf(until)])} ${atBegin} ${atEnd})`
}

/**
 * The exact number of these orders, as an expression. It reads the longest spans between, and from the nearest edge to each
 * end at most eight spans of each other length and half a short one of orders.
 */
export const countOfOrders = (counted: CountedOrders): SQL =>
  countFrom(counted, (...at) => sql`${correctionBySpans(...at)} ${correctionByRows(...at)}`)

/** The sum of all changes of these editions: two states of their lists never have the same. */
export const versionOfOrders = (editions: SQL): SQL => sumOfEditions(sql`changes`, editions)

export const countOfAllOrders = (editions: SQL): SQL => sumOfEditions(ordersInSpan(), editions)

/** Counts of orders of the kinds that are asked for. */
export interface MatchEstimate {
  /** At any time. */
  total: number
  matching: number
}

/** Estimates how many orders match: ends of the range are those of short spans. */
export const estimateOf = (counted: CountedOrders): SQL<MatchEstimate> =>
  sql`select ${countFrom({ ...counted, from: undefined, until: undefined }, correctionBySpans)} as total,
    ${countFrom(counted, correctionBySpans)} as matching`
