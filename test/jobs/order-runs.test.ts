import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildOrderRuns } from '../../src/modules/orders/jobs.ts'
import { runSizes } from '../../src/db/lists/runs/run-sizes.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseEndingAfter } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { type OrderFilter, storedOrders } from '../support/many-orders.ts'
import { act, changeOrders } from '../support/order-changes.ts'
import { seedLongEditions } from '../support/order-intervals.ts'
import { expectWalk, runFields } from '../support/order-runs.ts'
import { givenMember } from '../support/seeding/members.ts'
import { manyFrom } from '../support/seeding/many-orders.ts'
import { db, write } from '../support/seeding/rows.ts'

/** Short chunks, so that few orders have many. */
const shortSizes = {
  fewestRows: 0,
  rows: 40,
  fewestDue: 2,
  fewestInDelta: 10,
  mostInDelta: 150,
  stepsASweep: 10_000,
}
/** Of a page of 50, with chunks of 40 orders. */
const mostRows = 900
/** When all orders are settled. */
const later = manyFrom + 400 * 86_400_000
const build = (now: number, sizes = shortSizes) => buildOrderRuns({ db, now: () => now }, sizes)
const day = (days: number, ms = 0) => new Date(manyFrom + days * 86_400_000 + ms).toISOString()

const orderings = runFields.flatMap((field) => [field, `-${field}`])
const ranges: OrderFilter[] = [
  { created_after: day(40) },
  { created_before: day(100) },
  { created_after: day(100, 1), created_before: day(260, 7_654_321) },
  { created_after: day(0), created_before: day(0) },
  { created_after: day(290) },
  { created_after: day(500) },
]
const kinds: OrderFilter[] = [{}, {}, { status: 'completed' }, { type: 'imported', status: 'pending' }]

const forgetRuns = () =>
  write(
    ...['list_sizes', 'order_runs', 'order_run_states', 'late_orders', 'storage_sweeps'].map(
      (name) => sql`delete from ${sql.raw(name)}`,
    ),
  )

const generations = async (): Promise<number[]> =>
  (await db.all(sql<{ generation: number }>`select generation from order_run_states order by generation`)).map(
    ({ generation }) => generation,
  )

describe('a list of a range of time', () => {
  let place: Awaited<ReturnType<typeof seedLongEditions>>
  beforeAll(async () => {
    await forgetRuns()
    place = await seedLongEditions([1_600, 400, 100])
    await seedLongEditions([500])
    await build(later)
  })

  it.each(orderings)('has each order once, in the order %s', async (ordering) => {
    const orders = await storedOrders(place.organization)
    const [edition_id = ''] = place.editions
    const own = orders.filter((order) => order.edition_id === edition_id)
    for (const [index, range] of ranges.entries()) {
      const turn = index + orderings.indexOf(ordering)
      const filter = { ...range, ...kinds[1 + (turn % 3)] }
      if (turn % 2) await expectWalk({ scope: { edition_id }, filter, ordering }, { orders: own, size: 100 })
      else await expectWalk({ scope: { organization_id: place.organization }, filter, ordering }, { orders, size: 100 })
    }
  })

  it('shows the editions that a caller sees, and nobody else theirs', async () => {
    const orders = await storedOrders(place.organization)
    const [edition = ''] = place.editions
    const { token } = await givenMember({ id: place.organization }, 'manager', edition)
    const own = orders.filter((order) => order.edition_id === edition)
    for (const ordering of ['amount', '-modified', 'order_number']) {
      const scope = { organization_id: place.organization }
      await expectWalk({ scope, filter: { created_after: day(40) }, ordering }, { orders: own, size: 100, token })
    }
  })

  it('costs few rows wherever the range stands', async () => {
    const dear: [string, number][] = []
    for (const ordering of orderings)
      for (const range of [`created_after=${day(280)}`, `created_before=${day(20)}`]) {
        const query = `edition_id=${place.editions[0]}&ordering=${ordering}&page_size=50&${range}`
        const reply = await readAs(rootToken, `/v1/orders?${query}`)
        expect(reply.status).toBe(200)
        const { rows_read } = costOf(reply)
        if (rows_read > mostRows) dear.push([query, rows_read])
      }
    expect(dear).toEqual([])
  })
})

const list = fc.record({
  ordering: fc.constantFrom(...orderings),
  range: fc.constantFrom(...ranges),
  kind: fc.constantFrom(...kinds),
  isOfEdition: fc.boolean(),
})

it('pages by runs are exact through every change', async () => {
  let served = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 10 }), fc.tuple(list, list), async (acts, lists) => {
      await forgetRuns()
      const place = await seedLongEditions([900, 300, 60])
      let now = later
      await build(now)
      for (const [index, one] of acts.entries()) {
        if (one.act === 'wait') now += one.ms
        if (one.act === 'settle') await build(now, { ...shortSizes, stepsASweep: one.steps })
        await changeOrders(one, place, now)
        const orders = await storedOrders(place.organization)
        const [edition_id = ''] = place.editions
        const { ordering, range, kind, isOfEdition } = lists[index % 2 ? 0 : 1]
        const scope: Record<string, string> = isOfEdition ? { edition_id } : { organization_id: place.organization }
        const listed = isOfEdition ? orders.filter((order) => order.edition_id === edition_id) : orders
        await expectWalk({ scope, filter: { ...range, ...kind }, ordering }, { orders: listed, size: 100 })
      }
      served = Math.max(served, ...(await generations()))
      await write(sql`delete from orders where organization_id = ${place.organization}`)
    }),
    { numRuns: dearRuns(3) },
  )
  expect(served).toBeGreaterThan(0)
})

describe('the sweep of runs', () => {
  beforeEach(forgetRuns)

  it('leaves exact pages wherever it ends, and goes on', async () => {
    const { organization } = await seedLongEditions([600, 90])
    const scope = { organization_id: organization }
    let now = later
    for (let steps = 0; steps < 20; steps++) {
      await buildOrderRuns({ db: databaseEndingAfter((steps * 3) % 47), now: () => now }, shortSizes).catch(() => null)
      now += 200_000
      await write(sql`update orders set amount_minor = amount_minor * 7 % 50000, modified_at = ${now - 150_000}
        where organization_id = ${organization} and seq % 31 = ${steps % 31}`)
      const orders = await storedOrders(organization)
      const ordering = steps % 2 ? 'amount' : '-modified'
      await expectWalk({ scope, filter: { created_after: day(40) }, ordering }, { orders, size: 100 })
    }
    expect(Math.max(...(await generations()))).toBeGreaterThan(1)
  })

  it('builds nothing twice when two run at once', async () => {
    const { organization } = await seedLongEditions([600, 90])
    await Promise.allSettled([1, 2, 3].map(() => build(later)))
    expect(await generations()).toEqual([1, 1])
    const rows = await db.first(
      sql<{ n: number }>`select count(*) as n from order_runs where ordering = 'amount' and is_delta = 0`,
    )
    expect(rows?.n).toBe(15 + 3)
    const orders = await storedOrders(organization)
    const filter = { created_after: day(40) }
    await expectWalk({ scope: { organization_id: organization }, filter, ordering: 'amount' }, { orders, size: 100 })
  })

  it('writes nothing while nothing is due, and few rows otherwise', async () => {
    const { organization } = await seedLongEditions([3_000])
    await build(later, { ...runSizes, fewestRows: 0 })
    const written = async (work: () => Promise<unknown>) => {
      const before = db.meter.rows_written
      await work()
      return db.meter.rows_written - before
    }
    expect(await written(() => build(later + 60_000, { ...runSizes, fewestRows: 0 }))).toBe(0)
    await write(sql`update orders set modified_at = ${later} where organization_id = ${organization} and seq % 20 = 0`)
    expect(await written(() => build(later + 300_000, { ...runSizes, fewestRows: 0 }))).toBeLessThan(10)
    expect(await generations()).toEqual([1])
  })
})
