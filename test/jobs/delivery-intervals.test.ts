import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { deliveryStatuses } from '../../src/domain/webhooks/webhooks.ts'
import {
  recountDeliveryIntervals,
  settleDeliveries,
  settleDeliveryIntervals,
  sweepEvents,
} from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import {
  deliveryOrderings,
  expectDeliveryIntervals,
  expectDeliveryPages,
  later,
  manyFrom,
  seedManyDeliveries,
  settleAllDeliveries,
  type StoredDelivery,
  storedDeliveries,
} from '../support/delivery-intervals.ts'
import { shortSizes } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { seedPlace } from '../support/retention.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, type Place, write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

const minute = 60_000
const statuses = [undefined, 'success', 'exhausted', 'pending'] as const

async function seedLongEndpoint(count: number, other?: string): Promise<{ place: Place; endpoint: string }> {
  const place = await seedPlace()
  const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
  await seedManyDeliveries(place, endpoint, { count, from: manyFrom, step: 600_000, ...(other && { other }) })
  await settleDeliveries(contextAt(later))
  return { place, endpoint }
}

describe('a page of deliveries by number far from both ends', () => {
  let deliveries: StoredDelivery[]
  let endpoint: string
  let place: Place
  beforeAll(async () => {
    ;({ endpoint, place } = await seedLongEndpoint(6_000, (await seedPlace()).edition))
    await seedLongEndpoint(300)
    await settleAllDeliveries(later + 30 * dayMs)
    deliveries = await storedDeliveries(endpoint)
  })

  it('is led to by intervals of which none is long', async () => {
    const intervals = await expectDeliveryIntervals(endpoint)
    expect(intervals).toBeGreaterThan(150)
    expect(intervals).toBeLessThan(400)
  })

  it.each(deliveryOrderings)('is that of the list, in the order %s', async (ordering) => {
    for (const status of statuses) {
      const numbers = Array.from({ length: 8 }, (_, index) => 3 + 28 * index)
      await expectDeliveryPages({ endpoint, ...(status && { status }), ordering }, { deliveries, size: 25, numbers })
    }
  })

  it('is that of the deliveries that a caller sees', async () => {
    const seen = new Set(
      (
        await db.all(sql<{ id: string }>`select webhook_deliveries.id from webhook_deliveries
          join webhook_events on webhook_events.id = event_id where webhook_events.edition_id = ${place.edition}`)
      ).map(({ id }) => id),
    )
    await write(sql`update webhook_endpoints set edition_id = ${place.edition} where id = ${endpoint}`)
    const { token } = await givenMember({ id: place.organization }, 'admin', place.edition)
    const own = deliveries.filter(({ id }) => seen.has(id))
    expect(own.length).toBeLessThan(deliveries.length)
    for (const ordering of deliveryOrderings)
      await expectDeliveryPages({ endpoint, ordering }, { deliveries: own, size: 25, numbers: [70, 110], token })
    const ofAll = await givenMember({ id: place.organization }, 'admin')
    for (const ordering of deliveryOrderings)
      await expectDeliveryPages({ endpoint, ordering }, { deliveries, size: 25, numbers: [110], token: ofAll.token })
  })

  it.each(deliveryOrderings)('costs few rows in the order %s', async (ordering) => {
    for (const filter of ['', '&status=success', '&status=exhausted'])
      for (const page of [9, 90, 122]) {
        const path = `/v1/webhooks/${endpoint}/deliveries?ordering=${ordering}&page=${page}&page_size=25${filter}`
        const reply = await readAs(rootToken, path)
        if (reply.status === 404) continue
        expect([path, Math.max(2600, costOf(reply).rows_read)]).toEqual([path, 2600])
      }
  })
})

it.each(['created', 'modified', 'name'])('deliveries of none are listed in the order %s', async (ordering) => {
  const place = await seedPlace()
  const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
  await seedManyDeliveries(place, endpoint, { count: 30, from: manyFrom, step: 1000 })
  for (const filter of ['is_active=false', `organization_id=${(await seedPlace()).organization}`]) {
    const path = `/v1/webhooks/${endpoint}/deliveries?ordering=${ordering}&${filter}`
    const reply = await readAs(rootToken, path)
    expect([path, reply.status, reply.body.count, reply.body.results]).toEqual([path, 200, 0, []])
    expect((await readAs(rootToken, `${path}&page=30`)).status).toBe(404)
  }
})

const change = fc.oneof(
  fc.record({
    act: fc.constant('add' as const),
    many: fc.constantFrom(1, 40, 300),
    step: fc.constantFrom(0, 1000, 600_000),
  }),
  fc.record({
    act: fc.constant('change' as const),
    status: fc.constantFrom(...deliveryStatuses, null),
    part: fc.constantFrom(1, 3, 40, 700),
    rest: fc.nat({ max: 700 }),
  }),
  fc.record({
    act: fc.constant('wait' as const),
    ms: fc.constantFrom(minute, 9 * minute, 20 * minute, dayMs),
  }),
  fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000) }),
  fc.record({ act: fc.constant('sweep' as const) }),
)
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

async function perform(one: Change, { place, endpoint }: { place: Place; endpoint: string }, now: number) {
  if (one.act === 'add')
    await seedManyDeliveries(place, endpoint, {
      count: one.many,
      from: now,
      step: one.step,
    })
  if (one.act === 'settle') await settleDeliveryIntervals(contextAt(now), { ...shortSizes, stepsASweep: one.steps })
  if (one.act === 'sweep') await sweepEvents(contextAt(now))
  if (one.act === 'change')
    await write(sql`update webhook_deliveries set status = coalesce(${one.status}, status), modified_at = ${now}
      where endpoint_id = ${endpoint} and created_at <= ${now} and substr(id, -6) % ${one.part} = ${one.rest % one.part}`)
}

it('intervals of deliveries are exact through every change, and lead to the pages', async () => {
  let [most, fewest] = [0, 100_000]
  const removesOldest: [Change[], number] = [[{ act: 'wait', ms: dayMs }, { act: 'sweep' }], 1]
  // Retention waits for open deliveries of the oldest events.
  await write(sql`delete from webhook_endpoints`, sql`delete from webhook_events`)
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 12 }), fc.nat({ max: 400 }), async (acts, number) => {
      const long = await seedLongEndpoint(5_200)
      const { endpoint, place } = long
      let now = later
      await settleDeliveryIntervals(contextAt(now), shortSizes)
      for (const one of acts) {
        if (one.act === 'wait') now += one.ms
        await perform(one, long, now)
        most = Math.max(most, await expectDeliveryIntervals(endpoint))
      }
      if (number % 2) await sweepEvents(contextAt(later + 75 * dayMs))
      await expectDeliveryIntervals(endpoint)
      const deliveries = await storedDeliveries(endpoint)
      fewest = Math.min(fewest, deliveries.length)
      const numbers = [number, 190, 200, 215, 230, 255]
      for (const ordering of deliveryOrderings)
        for (const status of statuses)
          await expectDeliveryPages(
            { endpoint, ...(status && { status }), ordering },
            { deliveries, size: 11, numbers },
          )
      await write(
        sql`delete from webhook_endpoints where id = ${endpoint}`,
        sql`delete from webhook_events where organization_id = ${place.organization}`,
      )
      expect(await expectDeliveryIntervals(endpoint)).toBe(0)
      expect(await db.all(sql`select * from settled_lists where scope = ${endpoint}`)).toEqual([])
    }),
    { numRuns: 3, examples: [removesOldest] },
  )
  expect(most).toBeGreaterThan(150)
  expect(fewest).toBeLessThan(5_200)
})

describe('the sweeps of intervals of deliveries', () => {
  it('leave out endpoints with few deliveries', async () => {
    const { endpoint } = await seedLongEndpoint(600)
    await settleDeliveryIntervals(contextAt(later), { ...shortSizes, fewestRows: 601 })
    expect(await expectDeliveryIntervals(endpoint)).toBe(0)
    await settleDeliveryIntervals(contextAt(later), { ...shortSizes, fewestRows: 600 })
    expect(await expectDeliveryIntervals(endpoint)).toBeGreaterThan(10)
  })

  it('repair intervals at night', async () => {
    const { endpoint } = await seedLongEndpoint(1_000)
    await settleAllDeliveries(later)
    const nights = async (day: number): Promise<string> => {
      const wrong: string[] = []
      for (let at = 0; at < 59; at++)
        await recountDeliveryIntervals(contextAt(Date.UTC(2027, 5, day, 3, at))).catch((error: unknown) =>
          wrong.push(String(error)),
        )
      return wrong.join()
    }
    expect(await nights(1)).toBe('')
    for (const [night, ordering] of [
      [2, 'modified'],
      [3, 'name'],
    ] as const) {
      await write(
        sql`update delivery_intervals set success = success + 3 where scope = ${endpoint} and ordering = ${ordering}`,
      )
      await expect(expectDeliveryIntervals(endpoint)).rejects.toThrow('to deeply equal')
      expect(await nights(night)).toContain(`Counts of intervals were wrong and are repaired: ["${endpoint}"`)
      await expectDeliveryIntervals(endpoint)
    }
    expect(await nights(4)).toBe('')
  })
})
