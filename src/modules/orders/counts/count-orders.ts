import { type SQL, sql } from 'drizzle-orm'
import {
  areSpans,
  lengthsOfSpans,
  longestBits,
  shortBits,
  sumBits,
  sumOfEditions,
  written,
} from '../../../db/edition-counts.ts'
import { ofKinds } from '../../../db/order-kinds.ts'
import { shortIdsOf } from '../../../db/short-ids.ts'
import { type CountedOrders, ordersInSpan } from './spans.ts'

/** Numbers from the first up to the second, and without it. Open where one is undefined. */
type Range = readonly [from: number | undefined, until: number | undefined]

/** Spans of a length, which a count adds or takes away. */
interface CountedSpans {
  bits: number
  spans: Range
  sign: 1 | -1
}

const noSpan = 2 ** 53

/** One query of all of them: each one of its own would look the editions up again. */
function sumOfSpans(counted: CountedOrders, ranges: readonly CountedSpans[]): SQL {
  if (ranges.length === 0) return sql`0`
  const rows = ranges.map(
    ({ bits, spans: [from = -noSpan, until = noSpan], sign }) =>
      sql`(${written(bits)}, ${from}, ${until}, ${written(sign)})`,
  )
  return sql`(select coalesce(sum(part.column4 * (${ordersInSpan(counted)})), 0)
    from (values ${sql.join(rows, sql`, `)}) as part cross join (${counted.editions}) as one cross join order_counts
      on span_bits = part.column1 and edition_id = one.id and span >= part.column2 and span < part.column3)`
}

/** More orders between a moment and the nearest edge are not read where fewer are on the other side. */
const fewRows = 128

const rowsIn = ({ editions, status, type }: CountedOrders, [from, until]: readonly [number, number]): SQL =>
  sql`from orders where edition_short_id in (${shortIdsOf(editions)})
    and created_at >= ${written(from)} and created_at < ${written(until)} ${status || type ? sql`and ${ofKinds({ status, type })}` : sql``}`

/** What `counted` makes of the number `n` of rows, read up to one more than few. */
const countUpToFew = (rows: SQL, counted: SQL): SQL =>
  sql`(select ${counted} from (select count(*) as n from (select 1 ${rows} limit ${written(fewRows + 1)})))`

/**
 * The number of orders between a moment and the nearest edge of short spans. Where many have one moment, as of an import that
 * knows dates alone, one side of it has few: that side is read, and taken from what the span has.
 */
function countRows(counted: CountedOrders, near: readonly [number, number], far: readonly [number, number]): SQL {
  const [first] = near
  const span = sql`(select coalesce(sum(${ordersInSpan(counted)}), 0) from order_counts
    where ${areSpans(shortBits, counted.editions)} and span = ${written(Math.floor(first / 2 ** shortBits))})`
  const all = sql`(select count(*) ${rowsIn(counted, near)})`
  const byOthers = countUpToFew(rowsIn(counted, far), sql`iif(n > ${written(fewRows)}, ${all}, ${span} - n)`)
  return countUpToFew(rowsIn(counted, near), sql`iif(n > ${written(fewRows)}, ${byOthers}, n)`)
}

/** The number of the edge of spans that is nearest to a moment. */
const nearestEdge = (moment: number, bits: number): number => Math.round(moment / 2 ** bits)

/** Numbers between two, and whether those from the first on are too many or too few. */
const between = (edge: number, from: number): { range: readonly [number, number]; sign: 1 | -1 } =>
  edge < from ? { range: [edge, from], sign: -1 } : { range: [from, edge], sign: 1 }

/** From the edge of the longest spans that is nearest to a moment to that of the shortest, by spans of the other lengths. */
const spansTo = (moment: number, sign: 1 | -1): CountedSpans[] =>
  lengthsOfSpans.slice(1).map((bits) => {
    const found = between(nearestEdge(moment, bits + sumBits) * 2 ** sumBits, nearestEdge(moment, bits))
    return { bits, spans: found.range, sign: found.sign === sign ? 1 : -1 }
  })

/** From there to the moment. */
function rowsTo(counted: CountedOrders, moment: number): SQL {
  const [spanMs, edge] = [2 ** shortBits, nearestEdge(moment, shortBits) * 2 ** shortBits]
  const { range, sign } = between(edge, moment)
  if (edge === moment) return sql`0`
  const far: readonly [number, number] = edge < moment ? [moment, edge + spanMs] : [edge - spanMs, moment]
  return sql`${written(sign)} * ${countRows(counted, range, far)}`
}

const isSome = ({ spans: [from = -noSpan, until = noSpan] }: CountedSpans): boolean => from < until

/** Spans from the edge of short ones that is nearest to one end up to that of the other. */
function spansOfRange({ from, until }: CountedOrders): CountedSpans[] {
  const edgeOf = (moment: number | undefined) => (moment === undefined ? undefined : nearestEdge(moment, longestBits))
  const ranges: CountedSpans[] = [
    { bits: longestBits, spans: [edgeOf(from), edgeOf(until)], sign: 1 },
    ...(from === undefined ? [] : spansTo(from, 1)),
    ...(until === undefined ? [] : spansTo(until, -1)),
  ]
  return ranges.filter(isSome)
}

const isEmpty = ({ from, until }: CountedOrders): boolean => from !== undefined && until !== undefined && from >= until

/**
 * The exact number of these orders, as an expression. It reads the longest spans between, and from the nearest edge to each
 * end at most eight spans of each other length and half a short one of orders, or the other half where it has fewer.
 */
export function countOfOrders(counted: CountedOrders): SQL {
  if (isEmpty(counted)) return sql`0`
  const { from, until } = counted
  const ofBegin = from === undefined ? sql`` : sql`+ ${rowsTo(counted, from)}`
  const ofEnd = until === undefined ? sql`` : sql`- ${rowsTo(counted, until)}`
  return sql`(${sumOfSpans(counted, spansOfRange(counted))} ${ofBegin} ${ofEnd})`
}

/** The sum of all changes of these editions: two states of their lists never have the same. */
export const versionOfOrders = (editions: SQL): SQL => sumOfEditions(sql`changes`, editions)

/** The same where the amount or the time of the last change orders a list. */
export const versionOfSortedOrders = (editions: SQL): SQL => sumOfEditions(sql`changes + sort_changes`, editions)

export const countOfAllOrders = (editions: SQL): SQL => sumOfEditions(ordersInSpan(), editions)

/** Counts of orders of the kinds that are asked for. */
export interface MatchEstimate {
  /** At any time. */
  total: number
  matching: number
}

/** Estimates how many orders match: ends of the range are those of short spans. */
export const estimateOf = (counted: CountedOrders): SQL<MatchEstimate> =>
  sql`select ${countOfOrders({ ...counted, from: undefined, until: undefined })} as total,
    ${isEmpty(counted) ? sql`0` : sumOfSpans(counted, spansOfRange(counted))} as matching`
