import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { packSizes } from '../../src/modules/webhooks/delivery-lists/packs.ts'
import { packDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from './api.ts'
import { contextAt } from './context.ts'
import { costOf } from './cost.ts'
import { deliveryOrderings, type StoredDelivery, storedDeliveries } from './delivery-intervals.ts'
import { queryOf } from './list-spans.ts'
import { byCodePoint, idsOf, readAs } from './lists.ts'
import { db } from './seeding/rows.ts'

const minute = 60_000
/** Packs are short. */
export const shortPacks = { ...packSizes, rows: 64, rowsAStep: 1000 }
export const packedOrderings = ['created', '-created', ...deliveryOrderings] as const

interface Asked {
  endpoint: string
  editions: readonly string[]
  edition?: string
  status?: string
  ordering: (typeof packedOrderings)[number]
  token?: string
}

function expectedIds({ editions, status, ordering }: Asked, deliveries: readonly StoredDelivery[]): string[] {
  const direction = ordering.startsWith('-') ? -1 : 1
  const compared = (one: StoredDelivery, other: StoredDelivery): number => {
    if (ordering.endsWith('modified')) return one.modified - other.modified
    return (ordering.endsWith('name') ? byCodePoint(one.name, other.name) : 0) || one.created - other.created
  }
  return deliveries
    .filter((one) => editions.includes(one.edition) && (!status || one.status === status))
    .toSorted((one, other) => direction * (compared(one, other) || byCodePoint(one.id, other.id)))
    .map(({ id }) => id)
}

/** A list read page by page, from its first one or by numbers, is that of all its deliveries. Answers what pages read. */
export async function expectList(
  asked: Asked,
  given: { deliveries: readonly StoredDelivery[]; size: number; pages: number; numbers: readonly number[] },
): Promise<number[]> {
  const { endpoint, edition, status, ordering, token = rootToken } = asked
  const { deliveries, size, pages, numbers } = given
  const ids = expectedIds(asked, deliveries)
  const query = queryOf({ status, edition_id: edition, ordering, page_size: size })
  const path = `/v1/webhooks/${endpoint}/deliveries?${query}`
  const rows: number[] = []
  const expectPage = async (at: string, from: number) => {
    const reply = await readAs(token, at)
    expect([at, reply.status, reply.body.count]).toEqual([at, 200, ids.length])
    expect([at, idsOf(reply)]).toEqual([at, ids.slice(from, from + size)])
    expect([at, reply.body.next !== null]).toEqual([at, ids.length > from + size])
    rows.push(costOf(reply).rows_read)
    return reply.body.next as string | null
  }
  let next: string | null = path
  for (let page = 0; next && page < pages; page++) {
    const { pathname, search }: URL = new URL(next, 'https://service.example.com')
    next = await expectPage(`${pathname}${search}`, page * size)
  }
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const number of new Set([...numbers.map((one) => 1 + (one % last)), last]))
    await expectPage(`${path}&page=${number}`, (number - 1) * size)
  return rows
}

/** Compares packs with the deliveries that are old enough. Those that retention deleted may be left in packs. */
export async function expectPacks(endpoint: string): Promise<number> {
  const until = await db.first(
    sql<{ until: number }>`select until from settled_lists where list = 'delivery_packs' and scope = ${endpoint}`,
  )
  const packs = await db.all(sql<{ edition: string; kind: string; first: number; size: number; entries: string }>`
    select edition_id as edition, kind, first_created_at as first, size, entries from delivery_packs
    where endpoint_id = ${endpoint} order by edition_id, kind, first_created_at, number`)
  const packed = packs.flatMap(({ edition, kind, first, size, entries }) => {
    const all = JSON.parse(entries) as [string, number][]
    expect(all).toHaveLength(size)
    expect(Math.min(...all.map(([, at]) => at))).toBe(first)
    return all.map(([id, at]) => ({ id, at, edition, kind }))
  })
  const stored = await storedDeliveries(endpoint)
  const exist = new Set(stored.map(({ id }) => id))
  const expected = stored
    .filter(({ edition, created: at }) => edition !== '-' && at < (until?.until ?? 0))
    .map(({ id, created: at, edition, name }) => ({ id, at, edition, kind: name }))
  const inOrder = <One extends { at: number; edition: string; kind: string; id: string }>(rows: One[]) =>
    rows.toSorted(
      (one, other) =>
        byCodePoint(`${one.edition} ${one.kind}`, `${other.edition} ${other.kind}`) ||
        one.at - other.at ||
        byCodePoint(one.id, other.id),
    )
  expect(packed.filter(({ id }) => exist.has(id))).toEqual(inOrder(expected))
  return packs.length
}

/** Compares the rows of deliveries that changed late or ended without success. */
export async function expectRowsOfEditions(endpoint: string): Promise<void> {
  const expected = (await storedDeliveries(endpoint)).flatMap(
    ({ id, edition, status, name, created: at, modified }) => {
      if (edition === '-') return []
      const isLost = ['failed', 'exhausted'].includes(status)
      return [
        ...(modified < at || modified > at + 5 * minute ? [`${edition} late  ${modified} ${id}`] : []),
        ...(isLost
          ? [`${edition} ${status} ${name} ${at} ${id}`, `${edition} ${status} by change  ${modified} ${id}`]
          : []),
      ]
    },
  )
  const stored = await db.all(sql<{
    text: string
  }>`select edition_id || ' ' || list || ' ' || kind || ' ' || at || ' ' || id as text
    from edition_deliveries where endpoint_id = ${endpoint}`)
  expect(stored.map(({ text }) => text).toSorted(byCodePoint)).toEqual(expected.toSorted(byCodePoint))
}

export async function packAll(now: number): Promise<void> {
  for (let minutes = 0; minutes < 4; minutes++) await packDeliveries(contextAt(now), shortPacks)
}
