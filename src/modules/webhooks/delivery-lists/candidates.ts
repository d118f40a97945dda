import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
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

export interface Candidates {
  found: readonly PackedDelivery[]
  /** Whether there are no others. */
  areAll: boolean
  /** Others were created from this moment on. */
  until: number
}

/** More deliveries that are not packed yet make a page dear. */
const mostYoung = 400

const compared = (one: string | number, other: string | number): number => Number(one > other) - Number(one < other)

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

/** Finds so many of them at least, if there are. Null where the endpoint has no packs, or much that is not packed. */
export async function findCandidates(
  db: Database,
  { endpoint, editions, desc, isByKind, beginOf, isBehind }: AskedDeliveries,
  need: number,
): Promise<Candidates | null> {
  const count = 2 + Math.ceil(need / packSizes.rows)
  const lists = eventKindNames.flatMap((kind) => {
    const begin = beginOf(kind)
    return begin === undefined ? [] : editions.map((edition) => [edition, kind, begin] as const)
  })
  const [[state], packs] = await db.batch([
    sql<{ until: number; young: number }>`select ${packedUntil(endpoint)} as until, (select count(*) from (
      select 1 from ${byMoment(endpoint, sql`${deliverySpans.key} >= ${packedUntil(endpoint)}`)} limit ${mostYoung + 1})) as young`,
    sql<{ kind: string; packs: string }>`select one.value ->> 1 as kind, ${packsFrom(endpoint, desc, count)} as packs
      from json_each(${JSON.stringify(lists)}) as one`,
  ])
  if (!state?.until || state.young > mostYoung) return null
  let areAll = true
  const all = packs.flatMap((one) => {
    const entries = JSON.parse(one.packs) as readonly (readonly [string, number])[][]
    areAll &&= entries.length < count
    return entries.flat().map(([id, at]) => ({ id, at, kind: one.kind }))
  })
  const direction = desc ? -1 : 1
  const found = all
    .filter(isBehind)
    .toSorted(
      (one, other) =>
        direction *
        ((isByKind ? compared(one.kind, other.kind) : 0) || one.at - other.at || compared(one.id, other.id)),
    )
  const first = found.slice(0, need)
  return { found: first, areAll: areAll && found.length <= need, until: state.until }
}
