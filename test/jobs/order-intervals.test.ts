import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { numberOf } from '../../src/db/lists/intervals/interval-columns.ts'
import { findStartInIntervals } from '../../src/db/lists/intervals/start-in-intervals.ts'
import { orderIntervals } from '../../src/modules/orders/intervals.ts'
import { recountIntervals, settleOrders } from '../../src/modules/orders/jobs.ts'
import { costOf } from '../support/cost.ts'
import { rootToken } from '../support/api.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseEndingAfter, databaseThatNotes, shortSizes } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { type OrderFilter, orderFields, type StoredOrder, storedOrders } from '../support/many-orders.ts'
import { act, changeOrders } from '../support/order-changes.ts'
import { expectIntervalsToHold, expectPagesByNumber, settleAll, seedLongEditions } from '../support/order-intervals.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { manyFrom } from '../support/seeding/many-orders.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'
import { seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db, write } from '../support/seeding/rows.ts'

/** Of a page, with 50 orders an interval. */
const mostRows = 2300
/** When orders are settled. */
const later = manyFrom + 400 * 86_400_000
const filters: OrderFilter[] = [
  {},
  { status: 'completed' },
  { type: 'online' },
  { type: 'imported', status: 'pending' },
]
const orderings = orderFields.flatMap((field) => [field, `-${field}`])

describe('a page by number far from both ends', () => {
  let orders: StoredOrder[]
  let place: Awaited<ReturnType<typeof seedLongEditions>>
  beforeAll(async () => {
    place = await seedLongEditions([6_000, 1_500, 1_000])
    await seedLongEditions([3_000])
    await settleAll(later)
    orders = await storedOrders(place.organization)
  })

  it('is led to by intervals of which none is long', async () => {
    const intervals = await expectIntervalsToHold(place.organization)
    expect(intervals).toBeGreaterThan(500)
    expect(intervals).toBeLessThan(1500)
  })

  it.each(orderings)('is that of the list, in the order %s', async (ordering) => {
    const edition_id = place.editions[0] ?? ''
    const own = orders.filter((order) => order.edition_id === edition_id)
    const numbers = Array.from({ length: 6 }, (_, index) => 19 + 31 * index)
    for (const [index, filter] of filters.entries()) {
      const isOfEdition = (index + orderings.indexOf(ordering)) % 2 === 1
      const scope: Record<string, string> = isOfEdition ? { edition_id } : { organization_id: place.organization }
      await expectPagesByNumber({ scope, filter, ordering }, { orders: isOfEdition ? own : orders, size: 50, numbers })
    }
  })

  it('is that of the editions that a caller sees', async () => {
    const [edition = ''] = place.editions
    const own = orders.filter((order) => order.edition_id === edition)
    const scope = { organization_id: place.organization }
    const numbers = [21, 45, 75, 99]
    for (const ordering of ['amount', '-modified', 'order_number', '-status']) {
      const { token } = await givenMember({ id: place.organization }, 'manager', edition)
      await expectPagesByNumber({ scope, filter: {}, ordering }, { orders: own, size: 50, numbers, token })
      const ofAll = await givenMember({ id: place.organization }, 'viewer')
      await expectPagesByNumber({ scope, filter: {}, ordering }, { orders, size: 50, numbers, token: ofAll.token })
      const stranger = await givenMember(await givenOrganization(), 'admin')
      const page = await readAs(stranger.token, `/v1/orders?edition_id=${edition}&ordering=${ordering}&page=100`)
      expect(page.status).toBe(404)
    }
  })

  it.each(['amount', '-amount', 'modified', '-modified', 'order_number', '-order_number', 'status', '-type'])(
    'costs few rows in the order %s',
    async (ordering) => {
      for (const scope of [`edition_id=${place.editions[0]}`, `organization_id=${place.organization}`]) {
        for (const page of [61, 100]) {
          const reply = await readAs(rootToken, `/v1/orders?${scope}&ordering=${ordering}&page=${page}&page_size=50`)
          expect(reply.status).toBe(200)
          expect([page, Math.max(mostRows, costOf(reply).rows_read)]).toEqual([page, mostRows])
        }
      }
    },
  )

  it('is found with more young orders the farther it is from both ends', async () => {
    const orderingsOfList = Object.values(orderIntervals.orderings).slice(0, 1)
    const rows = { scope: place.organization, facets: [], orderings: orderingsOfList, isDesc: false }
    const isFound = async (nearest: number) =>
      (await findStartInIntervals(db, orderIntervals, rows, { skipped: 3_000, nearest })) !== null
    expect(await isFound(2_000)).toBe(true)
    await write(
      sql`update orders set modified_at = ${later} + seq where edition_id = ${place.editions[0]} and seq % 12 = 0`,
    )
    expect(await isFound(12 * 490)).toBe(false)
    expect(await isFound(12 * 510)).toBe(true)
  })
})

it('intervals are exact through every change, and lead to the pages', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 12 }), fc.nat({ max: 400 }), async (acts, number) => {
      await write(sql`delete from list_sizes`)
      const place = await seedLongEditions([4_000, 800, 120])
      let now = later
      await settleOrders({ db, now: () => now }, shortSizes)
      for (const one of acts) {
        if (one.act === 'wait') now += one.ms
        await changeOrders(one, place, now)
        if (one.act === 'settle') await settleOrders({ db, now: () => now }, { ...shortSizes, stepsASweep: one.steps })
        most = Math.max(most, await expectIntervalsToHold(place.organization))
      }
      const orders = await storedOrders(place.organization)
      for (const [index, ordering] of [
        'amount',
        '-amount',
        'modified',
        '-modified',
        'order_number',
        '-order_number',
        'status',
        '-type',
      ].entries())
        for (const filter of filters.filter((_, at) => (at + index + number) % 2)) {
          const scope = { organization_id: place.organization }
          await expectPagesByNumber({ scope, filter, ordering }, { orders, size: 11, numbers: [number, 190, 220] })
        }
      await write(sql`delete from orders where organization_id = ${place.organization}`)
      await expectIntervalsToHold(place.organization)
    }),
    { numRuns: dearRuns(3) },
  )
  expect(most).toBeGreaterThan(400)
})

describe('the sweeps of intervals', () => {
  beforeEach(() =>
    write(
      ...['list_sizes', 'order_intervals', 'settled_lists', 'storage_sweeps'].map(
        (name) => sql`delete from ${sql.raw(name)}`,
      ),
    ),
  )
  const place = () => seedLongEditions([1_500, 300])
  const night = (day: number, minute: number) => Date.UTC(2027, 5, day, 3, minute)
  async function nights(day: number): Promise<string[]> {
    const wrong: string[] = []
    for (let minute = 0; minute < 30; minute++)
      await recountIntervals({ db, now: () => night(day, minute) }).catch((error: unknown) => wrong.push(String(error)))
    return wrong
  }

  it('leave exact counts wherever they end, and go on', async () => {
    const { organization } = await place()
    for (let steps = 0; steps < 8; steps++) {
      const ended = databaseEndingAfter(steps)
      await settleOrders({ db: ended, now: () => later }, shortSizes).catch(() => null)
      await expectIntervalsToHold(organization)
    }
    await settleAll(later)
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(90)
  })

  it('read about what they count, however many orders are due, and end when all intervals are short', async () => {
    const { organization } = await seedLongEditions([16_000, 4_000])
    const sizes = { ...shortSizes, rowsAStep: 500, stepsASweep: 60, rows: 100 }
    const { database, read } = databaseThatNotes()
    const isUndivided = sql`select 1 from order_intervals where ${numberOf(orderIntervals)} > ${2 * sizes.rows} limit 1`
    let sweeps = 0
    do {
      await settleOrders({ db: database, now: () => later }, sizes)
      sweeps++
    } while (sweeps < 20 && (await db.first(isUndivided)))
    expect(sweeps).toBeLessThan(8)
    expect(Math.max(...read)).toBeLessThan(17_000)
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(800)
  })

  it('count nothing twice when two run at once', async () => {
    const { organization } = await place()
    const both = await Promise.allSettled([1, 2, 3].map(() => settleOrders({ db, now: () => later }, shortSizes)))
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(90)
  })

  it('join intervals that have become short', async () => {
    const { organization } = await place()
    await settleAll(later)
    const before = await expectIntervalsToHold(organization)
    await write(sql`delete from orders where organization_id = ${organization} and seq % 10`)
    await write(sql`update orders set modified_at = ${later} where organization_id = ${organization} and seq % 100 = 0`)
    await settleAll(later + 86_400_000)
    expect(await expectIntervalsToHold(organization)).toBeLessThan(before / 2)
  })

  it('change few rows with an order, however many intervals there are', async () => {
    const { organization } = await seedLongEditions([6_000])
    await settleAll(later)
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(500)
    const { rows_read: read, rows_written: written } = db.meter
    await write(sql`update orders set amount_minor = 1, number_key = null
      where seq = (select max(seq) from orders where organization_id = ${organization} and number_key is not null)`)
    // The order in its table and three indexes. It leaves three intervals of both scopes, and joins three. A search sorts it anew.
    expect(db.meter.rows_written - written).toBe(1 + 3 + 12 + 1)
    expect(db.meter.rows_read - read).toBeLessThan(120)
    await expectIntervalsToHold(organization)
  })

  it('repair intervals at night, and divide those that are long', async () => {
    const { organization, editions } = await seedLongEditions([6_000])
    await settleAll(later, { ...shortSizes, rows: 1_000_000 })
    const before = await expectIntervalsToHold(organization)
    expect(await nights(1)).toEqual([])
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(before)
    await write(
      sql`update order_intervals set pending_online = pending_online + 3 where scope = ${organization} and ordering = 'amount'`,
      sql`delete from order_intervals where scope = ${editions[0]} and ordering = 'number' and value <> ''`,
    )
    await expect(expectIntervalsToHold(organization)).rejects.toThrow('to deeply equal')
    const wrong = await nights(2)
    expect(wrong.join()).toContain('Counts of intervals were wrong')
    expect(wrong.join()).toContain(organization)
    expect(wrong.join()).toContain(editions[0])
    await expectIntervalsToHold(organization)
    expect(await nights(3)).toEqual([])
  })
})

it('the orders of an import wait until it has ended', async () => {
  const shop = await seedShop()
  await importOrders(shop, [anOrder()])
  const id = await seedStarted(shop, [])
  await settleAll(later)
  expect(await expectIntervalsToHold(shop.organization_id)).toBe(0)
  await write(sql`update data_imports set phase = null, status = 'completed' where id = ${id}`)
  await settleAll(later)
  expect(await expectIntervalsToHold(shop.organization_id)).toBe(8)
})

it('a new order writes nothing for intervals, and one that is changed later six rows', async () => {
  const shop = await seedShop()
  const written = async (external_id: string, unit_price: number) => {
    const items = [{ product: 'Day ticket', quantity: 1, unit_price }]
    const reply = await importOrders(shop, [anOrder({ external_id, items })], { on_duplicate: 'update' })
    expect(reply.status).toBe(201)
    return costOf(reply).rows_written
  }
  /** The search index merges its segments now and then, in the transaction of any new text, which writes a row more. */
  const fewestWritten = async (ids: readonly string[], unit_price: number) => {
    let fewest = Infinity
    for (const id of ids) fewest = Math.min(fewest, await written(id, unit_price))
    return fewest
  }
  const [young, settled] = [
    ['A', 'B'],
    ['C', 'D'],
  ] as const
  for (const id of [...young, ...settled]) await written(id, 200)
  const before = [await fewestWritten(['E', 'F', 'G'], 200), await fewestWritten(young, 300)]
  await write(sql`update orders set modified_at = modified_at - 86400000 where external_id in ('C', 'D')`)
  await settleAll(Date.now())
  expect(await expectIntervalsToHold(shop.organization_id)).toBe(8)
  const after = [await fewestWritten(['H', 'I', 'J'], 200), await fewestWritten(settled, 300)]
  expect(after).toEqual([before[0], (before[1] ?? 0) + 6])
  expect(await expectIntervalsToHold(shop.organization_id)).toBe(8)
})
