import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import {
  packDeliveries,
  settleDeliveries,
  settleDeliveryIntervals,
  sweepEvents,
} from '../../src/modules/webhooks/jobs.ts'
import { created } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { changeDeliveries, deliveryChange } from '../support/delivery-changes.ts'
import {
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
import {
  expectList,
  expectPacks,
  expectRowsOfEditions,
  packAll,
  packedOrderings,
  shortPacks,
} from '../support/delivery-packs.ts'
import { shortSizes } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { seedPlace } from '../support/retention.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

describe('deliveries of an edition', () => {
  const shares = [2000, 100, 10, 2] as const
  let deliveries: StoredDelivery[]
  let long: LongEndpoint
  const editions: string[] = []
  beforeAll(async () => {
    long = await seedLongEndpoint(10_000)
    const { place, endpoint } = long
    for (const share of shares) {
      const { id } = await seedEdition({ id: place.organization })
      editions.push(id)
      await write(sql`update webhook_events set edition_id = ${id}
        where organization_id = ${place.organization} and substr(id, -6) * 7 % ${share} = 1`)
    }
    await write(
      sql`update webhook_deliveries set modified_at = created_at + substr(id, -2) % 4 * 70000 + iif(substr(id, -4) % 17, 0, 3600000)
        where endpoint_id = ${endpoint}`,
      sql`delete from edition_deliveries where endpoint_id = ${endpoint}`,
      // Triggers wrote nothing for deliveries whose events had no edition yet.
      sql`insert into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
        select endpoint_id, edition_id, 'late', '', modified_at, webhook_deliveries.id
        from webhook_deliveries cross join webhook_events on webhook_events.id = event_id
        where modified_at not between webhook_deliveries.created_at and webhook_deliveries.created_at + 300000
          and edition_id is not null and endpoint_id = ${endpoint}`,
      sql`insert into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
        select endpoint_id, edition_id, iif(by_change.value, status || ' by change', status),
          iif(by_change.value, '', webhook_deliveries.kind),
          iif(by_change.value, modified_at, webhook_deliveries.created_at), webhook_deliveries.id
        from webhook_deliveries cross join webhook_events on webhook_events.id = event_id
          cross join json_each('[0,1]') as by_change
        where status in ('failed', 'exhausted') and edition_id is not null and endpoint_id = ${endpoint}`,
      sql`delete from list_spans where scope = ${endpoint}`,
      sql`delete from list_span_parts where scope = ${endpoint}`,
      sql`delete from settled_lists where scope = ${endpoint}`,
    )
    await settleDeliveries(contextAt(later + 90 * dayMs))
    await settleAllDeliveries(later + 90 * dayMs)
    await packAll(later + 90 * dayMs)
    deliveries = await storedDeliveries(endpoint)
  })

  it('are packed', async () => {
    expect(await expectPacks(long.endpoint)).toBeGreaterThan(100)
    await expectRowsOfEditions(long.endpoint)
  })

  it.each(packedOrderings)(
    'are listed in the order %s, and cost few rows whatever their share is',
    async (ordering) => {
      for (const edition of editions)
        for (const status of [undefined, 'success', 'exhausted']) {
          const asked = { endpoint: long.endpoint, editions: [edition], edition, ordering, ...(status && { status }) }
          const [numbers, byNumber] = [[1, 4, 9, 33, 60], ordering.endsWith('created') ? 600 : 3000]
          const rows = await expectList(asked, { deliveries, size: 25, pages: 3, numbers })
          expect([asked, Math.max(600, ...rows.slice(0, 3))]).toEqual([asked, 600])
          expect([asked, Math.max(byNumber, ...rows)]).toEqual([asked, byNumber])
        }
    },
  )

  it('are listed for a role of some editions', async () => {
    const { place, endpoint } = long
    const [, , third = '', fourth = ''] = editions
    await write(sql`update webhook_endpoints set edition_id = ${third} where id = ${endpoint}`)
    const member = await givenMember({ id: place.organization }, 'admin', third)
    const given = { deliveries, size: 25, pages: 3, numbers: [1, 6, 31] }
    for (const ordering of packedOrderings)
      await expectList({ endpoint, editions: [third], ordering, token: member.token }, given)
    await created(`/v1/organizations/${place.organization}/members`, {
      email: member.email,
      role: 'admin',
      edition_id: fourth,
    })
    for (const ordering of packedOrderings)
      for (const status of [undefined, 'success', 'failed'])
        await expectList(
          { endpoint, editions: [third, fourth], ordering, token: member.token, ...(status && { status }) },
          given,
        )
    const asked = {
      endpoint,
      editions: [fourth],
      edition: fourth,
      ordering: '-modified' as const,
      token: member.token,
    }
    await expectList(asked, given)
    expect(
      (await readAs(member.token, `/v1/webhooks/${endpoint}/deliveries?edition_id=${editions[0]}`)).body,
    ).toMatchObject({
      count: 0,
      results: [],
    })
  })
})

it('many deliveries of one moment are listed', async () => {
  const place = await seedPlace()
  const other = (await seedEdition({ id: place.organization })).id
  const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
  for (const from of [manyFrom, manyFrom + dayMs])
    await seedManyDeliveries(place, endpoint, { count: 2600, from, step: 0, other })
  await settleDeliveries(contextAt(later))
  await packAll(later)
  await expectPacks(endpoint)
  const deliveries = await storedDeliveries(endpoint)
  for (const ordering of packedOrderings)
    await expectList(
      { endpoint, editions: [other], edition: other, ordering },
      { deliveries, size: 50, pages: 30, numbers: [3, 11, 20] },
    )
})

const change = fc.oneof(
  { arbitrary: deliveryChange, weight: 4 },
  fc.record({ act: fc.constant('pack' as const), steps: fc.constantFrom(1, 3, 100) }),
  fc.record({ act: fc.constant('settle' as const) }),
)
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

async function perform(one: Change, long: LongEndpoint, now: number) {
  if (one.act === 'pack')
    return packDeliveries(contextAt(now), { ...shortPacks, fewestDue: 10, stepsASweep: one.steps })
  if (one.act !== 'settle') return changeDeliveries(one, long, now)
  await settleDeliveries(contextAt(now))
  await settleDeliveryIntervals(contextAt(now), shortSizes)
}

it('packs lead to the deliveries of an edition through every change', async () => {
  const packsAnew: [Change[], number] = [
    [
      { act: 'add', many: 300, step: 0 },
      { act: 'wait', ms: dayMs },
      { act: 'pack', steps: 100 },
      { act: 'change', status: 'success', part: 3, rest: 1 },
      { act: 'add', many: 40, step: 1000 },
      { act: 'sweep' },
    ],
    1,
  ]
  await write(sql`delete from webhook_endpoints`, sql`delete from webhook_events`)
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 10 }), fc.nat({ max: 400 }), async (acts, number) => {
      const long = await seedLongEndpoint(5_200)
      const { endpoint, place } = long
      let now = later
      await settleDeliveryIntervals(contextAt(now), shortSizes)
      await packDeliveries(contextAt(now), shortPacks)
      for (const one of acts) {
        if (one.act === 'wait') now += one.ms
        await perform(one, long, now)
        await expectPacks(endpoint)
      }
      if (number % 2) await sweepEvents(contextAt(later + 75 * dayMs))
      await expectPacks(endpoint)
      await expectRowsOfEditions(endpoint)
      const deliveries = await storedDeliveries(endpoint)
      for (const ordering of packedOrderings)
        for (const { edition, status } of ofEditions(long))
          await expectList(
            { endpoint, editions: [edition], edition, ordering, ...(status && { status }) },
            { deliveries, size: 11, pages: 3, numbers: [number, 12, 60] },
          )
      await write(
        sql`delete from webhook_endpoints where id = ${endpoint}`,
        sql`delete from webhook_events where organization_id = ${place.organization}`,
      )
      expect(await expectPacks(endpoint)).toBe(0)
      await expectRowsOfEditions(endpoint)
    }),
    { numRuns: dearRuns(2), examples: [packsAnew] },
  )
})

it('packs of which retention leaves nothing are deleted', async () => {
  await write(sql`delete from webhook_endpoints`, sql`delete from webhook_events`)
  const { endpoint } = await seedLongEndpoint(5_200)
  await write(sql`update webhook_deliveries set status = 'success'`)
  await packAll(later)
  const before = await expectPacks(endpoint)
  for (let minutes = 0; minutes < 3; minutes++) await sweepEvents(contextAt(later + 75 * dayMs))
  expect(await expectPacks(endpoint)).toBeLessThan(before)
})

it('an endpoint with few deliveries has no packs', async () => {
  const { endpoint } = await seedLongEndpoint(300)
  await packDeliveries(contextAt(later), { ...shortPacks, fewestRows: 301 })
  expect(await expectPacks(endpoint)).toBe(0)
  await packDeliveries(contextAt(later), { ...shortPacks, fewestRows: 300, fewestDue: 300 })
  expect(await expectPacks(endpoint)).toBe(0)
  await packDeliveries(contextAt(later), { ...shortPacks, fewestRows: 300 })
  expect(await expectPacks(endpoint)).toBeGreaterThan(0)
})
