import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recountRefundIntervals, settleRefunds } from '../../src/modules/refunds/jobs.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { shortSizes } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import {
  expectRefundIntervals,
  expectRefundPages,
  type LongRefunds,
  manyFrom,
  refundOrderings,
  seedLongRefunds,
  settleAllRefunds,
  type StoredRefund,
  storedRefunds,
} from '../support/refund-intervals.ts'
import { change, type Change, changeRefunds } from '../support/refund-changes.ts'
import { requestsOf } from '../support/refunds.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'

/** When requests are settled. */
const later = manyFrom + 700 * 86_400_000
const statuses = [undefined, 'rejected']

describe('a page of refund requests by number far from both ends', () => {
  let requests: StoredRefund[]
  let place: LongRefunds
  beforeAll(async () => {
    place = await seedLongRefunds([9_000, 2_400, 1_200])
    await seedLongRefunds([500])
    await settleAllRefunds(later)
    requests = await storedRefunds(place.organization)
  })

  it('is led to by intervals of which none is long', async () => {
    const intervals = await expectRefundIntervals(place.organization)
    expect(intervals).toBeGreaterThan(500)
    expect(intervals).toBeLessThan(1500)
  })

  it.each(refundOrderings)('is that of the list, in the order %s', async (ordering) => {
    const edition_id = place.editions[0] ?? ''
    const own = requests.filter((one) => one.edition_id === edition_id)
    const numbers = Array.from({ length: 6 }, (_, index) => 38 + 61 * index)
    for (const [index, status] of statuses.entries()) {
      const isOfEdition = (index + refundOrderings.indexOf(ordering)) % 2 === 1
      const scope: Record<string, string> = isOfEdition ? { edition_id } : { organization_id: place.organization }
      await expectRefundPages(
        { scope, status, ordering },
        { requests: isOfEdition ? own : requests, size: 50, numbers },
      )
    }
  })

  it('is that of the editions that a caller sees', async () => {
    const [edition = ''] = place.editions
    const own = requests.filter((one) => one.edition_id === edition)
    const scope = { organization_id: place.organization }
    const numbers = [41, 90, 150]
    for (const ordering of ['requested_amount', '-modified'] as const) {
      const { token } = await givenMember({ id: place.organization }, 'manager', edition)
      await expectRefundPages({ scope, ordering }, { requests: own, size: 50, numbers, token })
      const ofAll = await givenMember({ id: place.organization }, 'viewer')
      await expectRefundPages({ scope, ordering }, { requests, size: 50, numbers, token: ofAll.token })
      const stranger = await givenMember(await givenOrganization(), 'admin')
      const page = await readAs(
        stranger.token,
        `/v1/refund-requests?edition_id=${edition}&ordering=${ordering}&page=90`,
      )
      expect(page.status).toBe(404)
    }
  })

  it.each(refundOrderings)('costs few rows in the order %s', async (ordering) => {
    for (const scope of [`edition_id=${place.editions[0]}`, `organization_id=${place.organization}`])
      for (const page of [75, 122]) {
        const path = `/v1/refund-requests?${scope}&ordering=${ordering}&page=${page}&page_size=50`
        const reply = await readAs(rootToken, path)
        expect(reply.status).toBe(200)
        expect([path, Math.max(1800, costOf(reply).rows_read)]).toEqual([path, 1800])
      }
  })
})

async function perform(one: Change, place: LongRefunds, now: number): Promise<void> {
  if (one.act === 'settle') await settleRefunds({ db, now: () => now }, { ...shortSizes, stepsASweep: one.steps })
  await changeRefunds(one, place, now)
}

it('intervals of refund requests are exact through every change, and lead to the pages', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 6, maxLength: 12 }), fc.nat({ max: 400 }), async (acts, number) => {
      await write(sql`delete from list_sizes`)
      const place = await seedLongRefunds([3_500, 400, 60])
      let now = later
      await settleRefunds({ db, now: () => now }, shortSizes)
      for (const one of acts) {
        if (one.act === 'wait') now += one.ms
        await perform(one, place, now)
        most = Math.max(most, await expectRefundIntervals(place.organization))
      }
      const requests = await storedRefunds(place.organization)
      const numbers = [number, 190, 230]
      for (const ordering of refundOrderings)
        for (const status of statuses)
          await expectRefundPages(
            { scope: { organization_id: place.organization }, status, ordering },
            { requests, size: 11, numbers },
          )
      await write(
        sql`delete from refund_items where refund_request_id = ${place.first}`,
        sql`delete from refund_requests where organization_id = ${place.organization}`,
      )
      await expectRefundIntervals(place.organization)
    }),
    { numRuns: dearRuns(3) },
  )
  expect(most).toBeGreaterThan(150)
})

describe('the sweeps of intervals of refund requests', () => {
  beforeEach(() =>
    write(
      ...['list_sizes', 'refund_intervals', 'settled_lists', 'storage_sweeps'].map(
        (name) => sql`delete from ${sql.raw(name)}`,
      ),
    ),
  )

  it('leave out organisations with few requests', async () => {
    const { organization } = await seedLongRefunds([600, 300])
    await settleAllRefunds(later, { ...shortSizes, fewestRows: 901 })
    expect(await expectRefundIntervals(organization)).toBe(0)
    await write(sql`update list_sizes set all_purchases = 902`)
    await settleAllRefunds(later, { ...shortSizes, fewestRows: 902 })
    expect(await expectRefundIntervals(organization)).toBe(0)
    await settleAllRefunds(later, { ...shortSizes, fewestRows: 901 })
    expect(await expectRefundIntervals(organization)).toBeGreaterThan(50)
  })

  it('go on with organisations that had many requests', async () => {
    const place = await seedLongRefunds([1_500])
    await settleAllRefunds(later)
    await write(
      sql`delete from refund_requests where organization_id = ${place.organization} and created_at % 2 and id <> ${place.first}`,
      sql`update refund_requests set modified_at = ${later} where organization_id = ${place.organization} and created_at % 20 = 0`,
    )
    await write(sql`update list_sizes set all_orders = 1000`)
    await settleRefunds({ db, now: () => later + 86_400_000 }, { ...shortSizes, fewestRows: 1000 })
    const until = await db.first(sql<{ until: number }>`select until from settled_lists where list = 'refund_requests'`)
    expect(until?.until).toBeGreaterThan(later)
    await expectRefundIntervals(place.organization)
  })

  it('repair intervals at night', async () => {
    const { organization } = await seedLongRefunds([3_000])
    await settleAllRefunds(later)
    const nights = async (day: number): Promise<string> => {
      const wrong: string[] = []
      for (let minute = 0; minute < 30; minute++)
        await recountRefundIntervals({ db, now: () => Date.UTC(2027, 5, day, 3, minute) }).catch((error: unknown) =>
          wrong.push(String(error)),
        )
      return wrong.join()
    }
    expect(await nights(1)).toBe('')
    await write(
      sql`update refund_intervals set rejected = rejected + 3 where scope = ${organization} and ordering = 'amount'`,
    )
    await expect(expectRefundIntervals(organization)).rejects.toThrow('to deeply equal')
    expect(await nights(2)).toContain(`Counts of intervals were wrong and are repaired: ["${organization}"`)
    await expectRefundIntervals(organization)
    expect(await nights(3)).toBe('')
  })
})

it('a new refund request writes nothing for intervals, and one that is changed later four rows', async () => {
  const shop = await seedShop()
  const { made, asked, rejected } = requestsOf(shop)
  for (let before = 0; before < 3; before++) await asked()
  const before = [await asked(), await rejected(0)]
  await write(sql`update refund_requests set modified_at = modified_at - 86400000 where id = ${made[1]}`)
  await settleAllRefunds(Date.now())
  expect(await expectRefundIntervals(shop.organization_id)).toBe(4)
  const after = [await asked(), await rejected(1), await rejected(2)]
  expect(after).toEqual([before[0], (before[1] ?? 0) + 4, before[1]])
  expect(await expectRefundIntervals(shop.organization_id)).toBe(4)
})
