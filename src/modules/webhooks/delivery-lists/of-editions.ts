import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { ListSource, OldSortKey } from '../../../db/lists/list-source.ts'
import { and, beyond, type KeyValues, type OrderKey } from '../../../db/lists/order-keys.ts'
import { isFarPage, type PageStart, shortSkipOfTwice } from '../../../db/lists/page-by-number.ts'
import { paginate } from '../../../db/lists/paginate.ts'
import { type Ranges, union } from '../../../db/lists/ranges.ts'
import { countOfSpans, numberOfMatches, type SpannedRows } from '../../../db/lists/spans/count-spans.ts'
import { startOfSpans } from '../../../db/lists/spans/start-of-spans.ts'
import { webhookEvents } from '../../../db/schema/messaging/webhooks.ts'
import { inList } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { type DeliveryStatus, eventKindNames, lostStatuses } from '../../../domain/webhooks/webhooks.ts'
import { type deliveryColumns, type DeliveryRow, eventWhere } from '../queries.ts'
import {
  type AskedDeliveries,
  compareMoments,
  compareText,
  findCandidates,
  type FoundDeliveries,
  type PackedDelivery,
} from './candidates.ts'
import { areLate, soonMs } from './last-changed.ts'
import { byMoment, packedUntil } from './packs.ts'
import { createdAt, deliverySpans } from './spans.ts'
import { type CountedDeliveries, startOfChanges, startOfNames } from './starts.ts'

const id = sql`webhook_deliveries.id`
const kind = sql`webhook_deliveries.kind`
const modifiedAt = sql`webhook_deliveries.modified_at`

/** Those of more editions are looked for among all. */
const mostEditions = 8

type DeliveryOrder = 'created' | 'modified' | 'name'

/** Deliveries of some editions, in one order. */
export interface DeliveriesOfEditions extends CountedDeliveries {
  editions: readonly string[]
  order: DeliveryOrder
}

/** Whether they are found without those of other editions between them. */
export const areFew = (editions: readonly string[]): boolean =>
  editions.length > 0 && editions.length <= mostEditions && editions.every((edition) => /^\w+$/.test(edition))

/** Those that ended without success, which have rows of their own. */
export function lostOfEditions(
  { endpoint, editions, order }: DeliveriesOfEditions,
  status: DeliveryStatus,
): Pick<ListSource, 'from' | 'where' | 'ranges' | 'index' | 'read'> {
  const isByChange = order === 'modified'
  const moment = isByChange ? sql`at as created_at, at as modified_at` : sql`at as created_at`
  const list = sql.raw(`'${isByChange ? `${status} by change` : status}'`)
  const ofEditions: Ranges = {
    columns: [sql`webhook_deliveries.edition_id`],
    values: editions.map((edition) => [edition]),
    areWords: true,
  }
  const withKinds: Ranges = {
    ...ofEditions,
    columns: [...ofEditions.columns, kind],
    values: editions.flatMap((edition) => eventKindNames.map((name) => [edition, name])),
  }
  return {
    from: sql`(select edition_id, kind, id, ${moment} from edition_deliveries
      where endpoint_id = ${endpoint} and list = ${list} ${isByChange ? sql`and kind = ''` : sql``}) as webhook_deliveries`,
    where: [],
    ranges: order === 'created' ? withKinds : ofEditions,
    index: undefined,
    read: undefined,
  }
}

/** Where the page begins among the rows of an order, by its number. */
interface Begin {
  start: PageStart | null
  /** The key there: rows from it on are those of the page, behind `skipped` others. Null where all rows are. */
  key: PackedDelivery | null
  skipped: number
}

const fromTheFirst = (skipped: number): Begin => ({ start: null, key: null, skipped })

/** The start, if it still is where it was found. Otherwise it has no rows. */
const stillAt = (start: PageStart, isThere: SQL): PageStart => ({
  ...start,
  where: start.where.map((one) => sql`${one} and ${isThere}`),
})

/** Whether so many of the newest deliveries are of the list that its rows are soon found among all. */
async function areMany(db: Database, { endpoint }: DeliveriesOfEditions, { facets }: SpannedRows): Promise<boolean> {
  const spans = sql`list_spans`
  const share = await db.first(sql<{ yes: number }>`select 5 * sum(n) > 2 * sum(total) as yes from (
    select total, ${numberOfMatches(deliverySpans, facets, spans)} as n from ${spans}
    where list = ${deliverySpans.name} and scope = ${endpoint} order by span desc limit 2)`)
  return share?.yes === 1
}

async function beginInSpans(db: Database, counted: SpannedRows, desc: boolean, skipped: number): Promise<Begin | null> {
  const start = startOfSpans(deliverySpans, counted, desc, skipped)
  const found = await db.first(
    sql<{ edge: number; ahead: number }>`with recursive ${start.ctes} select edge, ahead from start`,
  )
  if (!found) return null
  const key = { id: '', kind: '', at: found.edge }
  return { start: stillAt(start, sql`(select edge from start) = ${found.edge}`), key, skipped: found.ahead }
}

async function beginInIntervals(db: Database, start: PageStart | null): Promise<Begin | null> {
  if (!start) return null
  const found = await db.first(sql<{ value: string | number | null; at: number; id: string; ahead: number }>`
    with ${start.ctes} select iif(typeof(value) = 'blob', null, value) as value, iif(typeof(value) = 'blob', 0, created_at) as at,
      iif(typeof(value) = 'blob', '', id) as id, ${start.offset} as ahead from start0`)
  if (!found) return null
  const { value, ahead } = found
  if (value === null)
    return { start: stillAt(start, sql`(select typeof(value) from start0) = 'blob'`), key: null, skipped: ahead }
  const key =
    typeof value === 'number' ? { id: found.id, kind: '', at: value } : { id: found.id, kind: value, at: found.at }
  const isThere = sql`(select value from start0) = ${value} and (select id from start0) = ${found.id}`
  return { start: stillAt(start, isThere), key, skipped: ahead }
}

async function beginOf(
  db: Database,
  { request, rows, counted }: Pick<PackedPage, 'request' | 'rows' | 'counted'>,
): Promise<Begin | null> {
  const skipped = request.after ? 0 : (request.page - 1) * request.size
  if (skipped < shortSkipOfTwice) return fromTheFirst(skipped)
  if (rows.order === 'created')
    return isFarPage(request) && (await areMany(db, rows, counted))
      ? null
      : beginInSpans(db, counted, rows.desc, skipped)
  // Intervals are many rows: they are not read in vain.
  const isThere = await db.first(sql<{ yes: number }>`select ${packedUntil(rows.endpoint)} > 0
    and (${countOfSpans(deliverySpans, counted).statement}) > ${skipped} as yes`)
  if (!isThere?.yes) return null
  const find = rows.order === 'name' ? startOfNames : startOfChanges
  return beginInIntervals(db, await find(db, rows, skipped))
}

/** The packed deliveries behind where a page begins. `isAfter` says that the key is the one before the page. */
function askedOf(
  { endpoint, editions, order, desc }: DeliveriesOfEditions,
  key: PackedDelivery | null,
  isAfter: boolean,
): AskedDeliveries {
  const asked = { endpoint, editions, desc, isByKind: order === 'name' }
  if (!key) return { ...asked, beginOf: () => null, isBehind: () => true }
  if (order === 'modified') {
    const from = desc ? key.at : key.at - soonMs
    return { ...asked, beginOf: () => from, isBehind: ({ at }) => (desc ? at <= from : at >= from) }
  }
  const direction = desc ? -1 : 1
  const byKind = (name: string): number => (order === 'name' ? direction * compareText(name, key.kind) : 0)
  return {
    ...asked,
    beginOf(name) {
      if (byKind(name) === 0) return key.at
      return byKind(name) < 0 ? undefined : null
    },
    isBehind(one) {
      const place = byKind(one.kind) || direction * compareMoments(one, key)
      // Keys of intervals and edges of spans are the first in ascending order, and behind the last in descending order.
      return isAfter || desc ? place > 0 : place >= 0
    },
  }
}

const sortsOf: Record<DeliveryOrder, readonly SQL[]> = {
  created: [createdAt],
  modified: [modifiedAt],
  name: [kind, createdAt],
}

function keyOf(order: DeliveryOrder, after: KeyValues): PackedDelivery {
  const [at, last] = after.slice(-2)
  return { kind: order === 'name' ? String(after[0]) : '', at: Number(at), id: String(last) }
}

interface RowsOfPage {
  rows: DeliveriesOfEditions
  candidates: FoundDeliveries
  /** Conditions of where the page begins, for those that are read by an index. */
  rest: readonly SQL[]
  need: number
  /** How many rows of the order the page takes at most, with those that it passes. */
  most: number
}

/** Condition of deliveries that stand before all packed ones that are no candidates. `last` is the last candidate. */
function isBefore({ kind: name, at }: PackedDelivery, { order, desc }: DeliveriesOfEditions): SQL {
  // What changed soon changed within some minutes after it was made.
  if (order === 'modified') return desc ? sql`${modifiedAt} > ${at + soonMs}` : sql`${modifiedAt} < ${at}`
  const operator = desc ? sql`>=` : sql`<=`
  return order === 'name'
    ? sql`(${kind}, ${createdAt}) ${operator} (${name}, ${at})`
    : sql`${createdAt} ${operator} ${at}`
}

/** In place of their table: the candidates of a page, those that are not packed yet, and those that changed late. */
function rowsOfPage({ rows, candidates, rest, need, most }: RowsOfPage): SQL {
  const { endpoint, editions, status, desc, order } = rows
  const { found, areAll, until } = candidates
  const isByChange = order === 'modified'
  const shown = isByChange ? sql`${id}, ${modifiedAt}` : sql`webhook_deliveries.*`
  const hasStatus = status ? [sql`webhook_deliveries.status = ${status}`] : []
  const last = areAll ? undefined : found.at(-1)
  const isCovered = last ? [isBefore(last, rows)] : []
  const common = [...rest, ...isCovered]
  const own = [...common, ...hasStatus, ...(isByChange ? [sql`not (${areLate})`] : [])]
  const ids = JSON.stringify(found.map((one) => one.id))
  const packed = sql`select ${shown} from json_each(${ids}) as one cross join webhook_deliveries on ${id} = one.value
    where ${and(own)}`
  // Candidates are in the order of the list, other than that of changes: those behind a page are not read.
  const firstOnes = isByChange ? packed : sql`select * from (${packed} limit ${most})`
  const young = sql`select ${shown} from ${byMoment(endpoint, and([sql`${createdAt} >= ${until}`, ...own, eventWhere(inList(sql`${webhookEvents.edition_id}`, editions))]))}`
  if (!isByChange) return sql`(${firstOnes} union all ${young}) as webhook_deliveries`
  const late = editions.map(
    (edition) => sql`select ${id}, ${modifiedAt} from (select id, at as modified_at from edition_deliveries
        where endpoint_id = ${endpoint} and edition_id = ${edition} and list = 'late' and kind = '') as webhook_deliveries
      where ${and([...common, ...(status ? [sql`(select status from webhook_deliveries as whole where whole.id = webhook_deliveries.id) = ${status}`] : [])])}
      order by webhook_deliveries.modified_at ${desc ? sql`desc` : sql`asc`}, webhook_deliveries.id ${desc ? sql`desc` : sql`asc`} limit ${need}`,
  )
  return sql`(${packed} union all ${young} union all select * from (${union(late.map((one) => sql`select * from (${one})`))})) as webhook_deliveries`
}

type ShownDeliveries = Pick<ListSource<typeof deliveryColumns>, 'key' | 'columns' | 'joins' | 'count'>

interface PackedPage {
  request: PageRequest
  rows: DeliveriesOfEditions
  counted: SpannedRows
  source: ShownDeliveries
}

/** More candidates are not read for a page. */
const mostCandidates = 3000

/** A page of deliveries that packs lead to. Null where they do not, or where it may need too many candidates. */
export async function packedPage(db: Database, asked: PackedPage): Promise<Page<DeliveryRow> | null> {
  const { request, rows, source } = asked
  const { order, desc } = rows
  const { size, after } = request
  const sort: OldSortKey[] = sortsOf[order].map((by) => ({ by, desc }))
  const keys: OrderKey[] = [...sortsOf[order], id].map((by) => ({ by, desc }))
  if (after && after.length !== keys.length) return null
  // Of those candidates that have another status, or changed late, the page needs others.
  const isSure = !rows.status && order !== 'modified'
  for (let factor = 1; ; factor *= 4) {
    const begin = await beginOf(db, asked)
    if (!begin) return null
    const { start, skipped } = begin
    const most = skipped + size + 1
    const need = (isSure ? most : most + Math.ceil(most / 2) + 25) * factor
    if (need > mostCandidates) return null
    const key = after ? keyOf(order, after) : begin.key
    const candidates = await findCandidates(db, askedOf(rows, key, after !== null), need)
    if (!candidates) return null
    const rest = order === 'modified' ? [...(after ? [beyond(keys, after)] : []), ...(start?.where ?? [])] : []
    const page = await paginate(db, request, {
      ...source,
      from: rowsOfPage({ rows, candidates, rest, need, most }),
      where: [],
      sort,
      ...(order !== 'modified' && { read: { table: sql`webhook_deliveries`, joins: sql`` } }),
      ...(start && { startOf: () => start, shortSkip: shortSkipOfTwice }),
    })
    if (isWhole(page, { after, areAll: candidates.areAll })) return page
  }
}

/** Whether a page has all of its rows. Behind another page, all rows may have been candidates. */
function isWhole(
  { rows, count, page, size, after: next }: Page<unknown>,
  { after, areAll }: { after: KeyValues | null; areAll: boolean },
): boolean {
  if (next) return true
  return after ? areAll : (page - 1) * size + rows.length === count
}

export const isLost = (status: DeliveryStatus | undefined): status is DeliveryStatus =>
  status !== undefined && lostStatuses.includes(status)
