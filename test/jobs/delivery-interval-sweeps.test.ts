import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { listDeliveries } from '../../src/modules/webhooks/delivery-lists/list.ts'
import { recountDeliveryIntervals, settleDeliveryIntervals } from '../../src/modules/webhooks/jobs.ts'
import { findEndpoint } from '../../src/modules/webhooks/queries.ts'
import { contextAt } from '../support/context.ts'
import {
  deliveryOrderings,
  expectDeliveryIntervals,
  expectDeliveryPages,
  later,
  ofEditions,
  seedLongEndpoint,
  seedManyDeliveries,
  settleAllDeliveries,
  storedDeliveries,
} from '../support/delivery-intervals.ts'
import { shortSizes } from '../support/intervals.ts'
import { db, write } from '../support/seeding/rows.ts'

it('intervals that the version before counts lead to no page of an edition until a sweep knows them', async () => {
  const long = await seedLongEndpoint(4_000)
  const { endpoint } = long
  await settleAllDeliveries(later)
  const deliveries = await storedDeliveries(endpoint)
  const unknown = async () =>
    (await db.all(sql`select 1 from delivery_intervals where scope = ${endpoint} and of_editions is null`)).length
  const expectPages = async () => {
    for (const ordering of deliveryOrderings)
      for (const filter of [{}, ...ofEditions(long)])
        await expectDeliveryPages({ endpoint, ordering, ...filter }, { deliveries, size: 11, numbers: [60, 120] })
  }
  // What it adds to an interval and what it takes may be as many.
  for (const sign of ['+', '-'])
    await write(sql`update delivery_intervals set success = success ${sql.raw(sign)} 1
      where scope = ${endpoint} and value > (select min(value) from delivery_intervals where scope = ${endpoint})`)
  expect(await unknown()).toBeGreaterThan(50)
  await expectDeliveryIntervals(endpoint)
  await expectPages()
  // Nothing was wrong.
  await recountDeliveryIntervals(contextAt(Date.UTC(2027, 5, 1, 3, 0)))
  await seedManyDeliveries(long.place, endpoint, { count: 1, from: later, step: 0 })
  await settleDeliveryIntervals(contextAt(later + dayMs), shortSizes)
  expect(await unknown()).toBe(0)
  await expectDeliveryIntervals(endpoint)
  deliveries.splice(0, Infinity, ...(await storedDeliveries(endpoint)))
  await expectPages()
})

it('a role of many editions has pages of all of them', async () => {
  const { place, other, endpoint } = await seedLongEndpoint(4_000)
  await settleAllDeliveries(later)
  const row = await findEndpoint(contextAt(later), endpoint)
  const own = (await storedDeliveries(endpoint)).filter(
    ({ edition, status }) => edition !== '-' && status === 'success',
  )
  const ids = new Set(own.map(({ id }) => id))
  for (const many of [64, 65]) {
    const others = Array.from({ length: many - 2 }, (_, number) => newId('edition', later + number, Math.random))
    const grants = [place.edition, other, ...others].map((edition_id) => ({
      organization_id: place.organization,
      edition_id,
      role: 'viewer' as const,
    }))
    for (const name of ['created', 'modified', 'name'] as const) {
      const ctx = contextAt(later, { is_superuser: false, grants })
      const query = { ordering: [{ name, desc: true }], status: 'success' as const }
      const { count, rows } = await listDeliveries(ctx, row, { page: 50, size: 20, after: null }, query)
      expect([many, name, count, rows.filter(({ id }) => ids.has(id)).length]).toEqual([many, name, own.length, 20])
    }
  }
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
