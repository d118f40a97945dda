import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { settleDeliveryIntervals, sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { created, rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { changeDeliveries, deliveryChange } from '../support/delivery-changes.ts'
import { costOf } from '../support/cost.ts'
import {
  deliveryOrderings,
  expectDeliveryIntervals,
  expectDeliveryPages,
  type LongEndpoint,
  later,
  manyFrom,
  ofEditions,
  seedLongEndpoint,
  seedManyDeliveries,
  settleAllDeliveries,
  type StoredDelivery,
  storedDeliveries,
} from '../support/delivery-intervals.ts'
import { shortSizes } from '../support/intervals.ts'
import { queryOf } from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { seedPlace } from '../support/retention.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

const statuses = [undefined, 'success', 'exhausted', 'pending'] as const

describe('a page of deliveries by number far from both ends', () => {
  let deliveries: StoredDelivery[]
  let long: LongEndpoint
  let endpoint: string
  beforeAll(async () => {
    long = await seedLongEndpoint(6_000)
    ;({ endpoint } = long)
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
    for (const filter of ofEditions(long)) {
      const numbers = [3, 9, 30, 57, 79, 120]
      await expectDeliveryPages({ endpoint, ...filter, ordering }, { deliveries, size: 25, numbers })
    }
  })

  it('is that of the deliveries that a caller sees', async () => {
    const { place, other } = long
    await write(sql`update webhook_endpoints set edition_id = ${place.edition} where id = ${endpoint}`)
    const ofOne = await givenMember({ id: place.organization }, 'admin', place.edition)
    const ofTwo = await givenMember({ id: place.organization }, 'admin', place.edition)
    const second = { email: ofTwo.email, role: 'admin', edition_id: other }
    await created(`/v1/organizations/${place.organization}/members`, second)
    const ofAll = await givenMember({ id: place.organization }, 'admin')
    const seen = [
      { token: ofOne.token, own: deliveries.filter(({ edition }) => edition === place.edition) },
      { token: ofTwo.token, own: deliveries.filter(({ edition }) => edition !== '-') },
      { token: ofAll.token, own: deliveries },
    ]
    expect(new Set(seen.map(({ own }) => own.length)).size).toBe(3)
    for (const { token, own } of seen)
      for (const ordering of deliveryOrderings)
        for (const filter of [{}, { status: 'success' }, { edition: other }])
          await expectDeliveryPages(
            { endpoint, ordering, ...filter },
            { deliveries: own, size: 25, numbers: [12, 70, 110], token },
          )
  })

  it.each(deliveryOrderings)('costs few rows in the order %s', async (ordering) => {
    const ofEdition = `&edition_id=${long.place.edition}`
    for (const filter of ['', '&status=success', '&status=exhausted', ofEdition, `${ofEdition}&status=success`])
      for (const page of [9, 70, 122]) {
        const path = `/v1/webhooks/${endpoint}/deliveries?ordering=${ordering}&page=${page}&page_size=25${filter}`
        const reply = await readAs(rootToken, path)
        if (reply.status === 404) continue
        expect([path, Math.max(2600, costOf(reply).rows_read)]).toEqual([path, 2600])
      }
  })

  it.each(['created', ...deliveryOrderings])('of an edition without any is none in the order %s', async (ordering) => {
    const { edition } = await seedPlace()
    for (const [page, status] of [
      [1, 200],
      [60, 404],
    ]) {
      const path = `/v1/webhooks/${endpoint}/deliveries?${queryOf({ ordering, page, edition_id: edition })}`
      const reply = await readAs(rootToken, path)
      expect([path, reply.status]).toEqual([path, status])
      expect([path, Math.max(600, costOf(reply).rows_read)]).toEqual([path, 600])
      if (page === 1) expect(reply.body).toMatchObject({ count: 0, results: [] })
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
  { arbitrary: deliveryChange, weight: 4 },
  fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000) }),
  // As the version before, which leaves the numbers of editions out.
  fc.record({ act: fc.constant('forget' as const), part: fc.constantFrom(1, 5) }),
)
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

async function perform(one: Change, long: LongEndpoint, now: number) {
  if (one.act === 'settle') return settleDeliveryIntervals(contextAt(now), { ...shortSizes, stepsASweep: one.steps })
  if (one.act !== 'forget') return changeDeliveries(one, long, now)
  for (const sign of ['+', '-'])
    await write(sql`update delivery_intervals set failed = failed ${sql.raw(sign)} 1
      where scope = ${long.endpoint} and (success + exhausted) % ${one.part} = 0`)
}

it('intervals of deliveries are exact through every change, and lead to the pages', async () => {
  let [most, fewest] = [0, 100_000]
  const removesOldest: [Change[], number] = [[{ act: 'wait', ms: dayMs }, { act: 'sweep' }], 1]
  const changesLate: [Change[], number] = [
    [
      { act: 'change', status: 'failed', part: 3, rest: 1 },
      { act: 'wait', ms: dayMs },
      { act: 'change', status: null, part: 40, rest: 2 },
    ],
    0,
  ]
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
      for (const ordering of deliveryOrderings)
        for (const filter of ofEditions(long))
          await expectDeliveryPages({ endpoint, ...filter, ordering }, { deliveries, size: 11, numbers })
      await write(
        sql`delete from webhook_endpoints where id = ${endpoint}`,
        sql`delete from webhook_events where organization_id = ${place.organization}`,
      )
      expect(await expectDeliveryIntervals(endpoint)).toBe(0)
      expect(await db.all(sql`select * from settled_lists where scope = ${endpoint}`)).toEqual([])
    }),
    { numRuns: dearRuns(2), examples: [removesOldest, changesLate] },
  )
  expect(most).toBeGreaterThan(150)
  expect(fewest).toBeLessThan(5_200)
})
