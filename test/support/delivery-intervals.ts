import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { deliveryStatuses, eventKindNames } from '../../src/domain/webhooks/webhooks.ts'
import { deliveryIntervals } from '../../src/modules/webhooks/delivery-lists/intervals.ts'
import { settleDeliveries, settleDeliveryIntervals } from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from './api.ts'
import { contextAt } from './context.ts'
import { countedAnew, shortSizes, type StoredInterval } from './intervals.ts'
import { queryOf } from './list-spans.ts'
import { byCodePoint, idsOf, readAs } from './lists.ts'
import { seedPlace } from './retention.ts'
import { seedEdition } from './seeding/editions.ts'
import { db, type Place, write } from './seeding/rows.ts'
import { seedEndpoint } from './seeding/webhooks.ts'

export const manyFrom = Date.UTC(2026, 0, 1)
/** When those of the seed are settled. */
export const later = manyFrom + 20 * dayMs

/** Deliveries of most kinds and of two editions, with ties: most arrive at once, some minutes or hours later. */
export async function seedManyDeliveries(
  { organization, edition }: Place,
  endpoint: string,
  { count, from, step, other = edition }: { count: number; from: number; step: number; other?: string },
): Promise<void> {
  const mark = newId('webhook_event', from, Math.random).slice(4, 24)
  const made = sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}),
    made as (select printf('%06d', i * 7919 % 100003) as number,
      ${JSON.stringify(eventKindNames.slice(-7))} ->> (i * 104729 % 7) as kind,
      iif(i % 3, 'success', ${JSON.stringify(deliveryStatuses)} ->> (i * 48271 % 5)) as status,
      ${from} + i / 3 * ${step} as at,
      case when i % 11 = 5 then i % 97 * 3600000 when i % 11 = 7 then 300000 when i % 23 = 4 then -1000 else i % 4 * 70000 end as took
    from n)`
  await write(
    sql`insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at) ${made}
      select 'evn_' || ${mark} || number, ${organization},
        case when number % 13 = 5 then null when number % 3 then ${edition} else ${other} end, kind, '{}', at from made`,
    sql`insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, created_at, modified_at) ${made}
      select 'whd_' || ${mark} || number, ${endpoint}, 'evn_' || ${mark} || number, kind, status, at, at + took from made`,
  )
}

export interface LongEndpoint {
  place: Place
  /** Another edition of the organisation, which has some of the deliveries. */
  other: string
  endpoint: string
}

export async function seedLongEndpoint(count: number): Promise<LongEndpoint> {
  const place = await seedPlace()
  const other = (await seedEdition({ id: place.organization })).id
  const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
  await seedManyDeliveries(place, endpoint, { count, from: manyFrom, step: 600_000, other })
  await settleDeliveries(contextAt(later))
  return { place, other, endpoint }
}

/** Filters by the edition, also with a status. */
export const ofEditions = ({ place, other }: LongEndpoint) => [
  { edition: place.edition },
  { edition: other },
  { edition: place.edition, status: 'success' },
  { edition: other, status: 'exhausted' },
]

/** Settles all deliveries of an endpoint that are old enough. */
export async function settleAllDeliveries(now: number): Promise<void> {
  for (let minutes = 0; minutes < 4; minutes++) await settleDeliveryIntervals(contextAt(now), shortSizes)
}

export interface StoredDelivery {
  id: string
  status: string
  name: string
  edition: string
  created: number
  modified: number
}

export const storedDeliveries = (endpoint: string): Promise<StoredDelivery[]> =>
  db.all(sql<StoredDelivery>`select id, status, kind as name, created_at as created, modified_at as modified,
      coalesce((select edition_id from webhook_events where id = event_id), '-') as edition
    from webhook_deliveries where endpoint_id = ${endpoint}`)

/** An interval with a number of each combination that it has. Null where it does not know them. */
function numbersOf({ of_editions, ...interval }: StoredInterval): StoredInterval | null {
  if (of_editions === null) return null
  const numbers = Object.entries(JSON.parse(String(of_editions)) as Record<string, number>)
  return { ...interval, ...Object.fromEntries(numbers.filter(([, number]) => number !== 0)) }
}

/** Compares the intervals of an endpoint with its deliveries. Answers how many there are. */
export async function expectDeliveryIntervals(endpoint: string): Promise<number> {
  const settled = await db.first(
    sql<{
      until: number
    }>`select until from settled_lists where list = ${deliveryIntervals.name} and scope = ${endpoint}`,
  )
  const stored = await db.all(sql<StoredInterval>`select * from delivery_intervals where scope = ${endpoint}
    order by scope, ordering, value, created_at, id`)
  const rows = (await storedDeliveries(endpoint))
    .filter(({ created }) => created < (settled?.until ?? 0))
    .flatMap(({ id, status, edition, name, created, modified }) =>
      [status, `${status} ${edition}`].map((count) => ({
        scopes: [endpoint],
        keys: { modified: [modified, 0, id], name: [name, created, id] },
        count,
      })),
    )
  const bare = stored.map(({ of_editions: _ofEditions, ...interval }) => interval)
  const counted = countedAnew(deliveryIntervals, bare, rows)
  const byStatus = Object.keys(bare[0] ?? {})
  for (const [index, interval] of counted.entries()) {
    const one = stored[index] ?? {}
    const known = numbersOf(one)
    const expected = Object.entries(interval).filter(([name]) => known || byStatus.includes(name))
    expect(known ?? bare[index]).toEqual(Object.fromEntries(expected))
  }
  return stored.length
}

export const deliveryOrderings = ['modified', '-modified', 'name', '-name'] as const

/** The pages of a list by their numbers are those of all its deliveries in the order. */
export async function expectDeliveryPages(
  asked: { endpoint: string; status?: string; edition?: string; ordering: (typeof deliveryOrderings)[number] },
  given: { deliveries: readonly StoredDelivery[]; size: number; numbers: readonly number[]; token?: string },
): Promise<void> {
  const { endpoint, status, edition, ordering } = asked
  const { deliveries, size, numbers, token = rootToken } = given
  const direction = ordering.startsWith('-') ? -1 : 1
  const compared = (one: StoredDelivery, other: StoredDelivery): number =>
    ordering.endsWith('modified')
      ? one.modified - other.modified
      : byCodePoint(one.name, other.name) || one.created - other.created
  const ids = deliveries
    .filter((one) => (!status || one.status === status) && (!edition || one.edition === edition))
    .toSorted((one, other) => direction * (compared(one, other) || byCodePoint(one.id, other.id)))
    .map(({ id }) => id)
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const number of new Set([...numbers.map((one) => 1 + (one % last)), last])) {
    const query = queryOf({ status, edition_id: edition, ordering, page_size: size, page: number })
    const reply = await readAs(token, `/v1/webhooks/${endpoint}/deliveries?${query}`)
    expect([query, reply.status, reply.body.count]).toEqual([query, 200, ids.length])
    expect([query, idsOf(reply)]).toEqual([query, ids.slice((number - 1) * size, number * size)])
  }
}
