import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { answering, fromJson, type RowOf } from '../../../db/select.ts'
import { eventKindNames } from '../../../domain/webhooks/webhooks.ts'
import { byMoment, packedUntil, packSizes } from './packs.ts'
import { deliverySpans } from './spans.ts'

/** A delivery as packs have it. */
export interface PackedDelivery {
  id: string
  kind: string
  at: number
}

/** The packed deliveries that a page may have, in an order of which they are the first behind where it begins. */
export interface AskedDeliveries {
  endpoint: string
  editions: readonly string[]
  desc: boolean
  /** Whether kinds follow one after another. Otherwise all follow the time of creation. */
  isByKind: boolean
  /** The moment at which those of a kind begin; null for their end, undefined where none of them is asked for. */
  beginOf: (kind: string) => number | null | undefined
  isBehind: (one: PackedDelivery) => boolean
}

export interface FoundDeliveries {
  found: readonly PackedDelivery[]
  /** Whether there are no others. */
  areAll: boolean
  /** Others were created from this moment on. */
  until: number
}

/** More deliveries that are not packed yet make a page dear. */
const mostYoung = 400

export const compareText = (one: string, other: string): number => Number(one > other) - Number(one < other)
/** Compares what was created by its key. */
export const compareMoments = (
  one: Pick<PackedDelivery, 'at' | 'id'>,
  other: Pick<PackedDelivery, 'at' | 'id'>,
): number => one.at - other.at || compareText(one.id, other.id)

/** The packs from a moment on. Each but the last of all is full. */
function packsFrom(endpoint: string, desc: boolean, count: number) {
  const [edition, kind, moment] = [sql`one.value ->> 0`, sql`one.value ->> 1`, sql`one.value ->> 2`]
  const areOf = sql`endpoint_id = ${endpoint} and edition_id = ${edition} and kind = ${kind}`
  const first = sql`select first_created_at from delivery_packs where ${areOf} and first_created_at < ${moment}
    order by first_created_at desc limit 1`
  const [areHere, order] = desc
    ? [sql`first_created_at <= ifnull(${moment}, 9e15)`, sql`first_created_at desc, number desc`]
    : [sql`first_created_at >= ifnull((${first}), 0)`, sql`first_created_at, number`]
  return sql`(select json_group_array(json(entries)) from (
    select entries from delivery_packs where ${areOf} and ${areHere} order by ${order} limit ${count}))`
}

/** More packs of each list are not read for a page. */
const mostPacks = 40

const packFields = { packs: fromJson<readonly (readonly [id: string, created_at: number])[][]>(sql`packs`) }

interface ListedKind {
  edition: string
  kind: string
  begin: number | null
}

/** So many packs of each list, and up to which moment all deliveries are packed. */
async function readPacks(
  db: Database,
  { endpoint, desc }: AskedDeliveries,
  { lists, count }: { lists: readonly ListedKind[]; count: number },
) {
  const isYoung = sql`${deliverySpans.key} >= ${packedUntil(endpoint)}`
  const [[state], packs] = await db.batch([
    sql<{ until: number; young: number }>`select ${packedUntil(endpoint)} as until,
      (select count(*) from (select 1 from ${byMoment(endpoint, isYoung)} limit ${mostYoung + 1})) as young`,
    answering(
      packFields,
      sql<RowOf<typeof packFields>>`select ${packsFrom(endpoint, desc, count)} as packs
        from json_each(${JSON.stringify(lists.map(({ edition, kind, begin }) => [edition, kind, begin]))}) as one`,
    ),
  ])
  return { state, packs: packs.map((one) => one.packs) }
}

/** Finds so many of them at least, if there are. Null where the endpoint has no packs, or much that is not packed. */
export async function findCandidates(
  db: Database,
  asked: AskedDeliveries,
  need: number,
): Promise<FoundDeliveries | null> {
  const { editions, desc, isByKind, beginOf, isBehind } = asked
  const lists = eventKindNames.flatMap((kind) => {
    const begin = beginOf(kind)
    return begin === undefined ? [] : editions.map((edition) => ({ edition, kind, begin }))
  })
  // Many of one moment may stand in several packs before those that are asked for.
  for (let count = 1 + Math.ceil(need / packSizes.rows); count <= mostPacks; count *= 3) {
    const { state, packs } = await readPacks(db, asked, { lists, count })
    if (!state?.until || state.young > mostYoung) return null
    const read = packs.map((ofList, index) => {
      const { kind = '' } = lists[index] ?? {}
      const all = ofList.flat().map(([id, at]) => ({ id, at, kind }))
      return { areAll: ofList.length < count, behind: all.filter(isBehind) }
    })
    if (!read.every(({ areAll, behind }) => areAll || behind.length >= need)) continue
    const direction = desc ? -1 : 1
    const found = read
      .flatMap(({ behind }) => behind)
      .toSorted(
        (one, other) => direction * ((isByKind && compareText(one.kind, other.kind)) || compareMoments(one, other)),
      )
    const areAll = found.length <= need && read.every((one) => one.areAll)
    return { found: found.slice(0, need), areAll, until: state.until }
  }
  return null
}
