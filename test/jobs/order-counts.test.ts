import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderStatuses, orderTypes } from '../../src/domain/orders/orders.ts'
import { recountOrders } from '../../src/modules/orders/jobs.ts'
import { get } from '../support/api.ts'
import { dearRuns } from '../support/property-runs.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { buildRows, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { seedManyOrders } from '../support/seeding/many-orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { runToEnd } from '../support/staged-imports.ts'
import { undoToEnd } from '../support/undone-imports.ts'

async function expectCountsToHold(): Promise<void> {
  expect(
    await db.all(
      sql`select edition_id, status, type, orders_count as n from order_counts where orders_count <> 0 order by 1, 2, 3`,
    ),
  ).toEqual(
    await db.all(sql`select edition_id, status, type, count(*) as n from orders group by 1, 2, 3 order by 1, 2, 3`),
  )
}

const number = fc.nat({ max: 5 })
const act = fc.oneof(
  fc.record({
    act: fc.constant('import' as const),
    orders: fc.uniqueArray(fc.record({ number, status: fc.constantFrom(...orderStatuses) }), {
      selector: (order) => order.number,
      minLength: 1,
      maxLength: 4,
    }),
  }),
  fc.record({ act: fc.constant('delete' as const), number }),
  fc.record({
    act: fc.constant('change' as const),
    number,
    status: fc.constantFrom(...orderStatuses),
    type: fc.constantFrom(...orderTypes),
    isMoved: fc.boolean(),
  }),
  fc.record({ act: fc.constant('file' as const) }),
  fc.record({ act: fc.constant('undo' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

async function perform(shop: Shop, other: string, files: string[], one: Act): Promise<void> {
  const where = 'number' in one ? sql`edition_id = ${shop.edition_id} and external_id = ${`N-${one.number}`}` : sql`0`
  if (one.act === 'import') {
    const orders = one.orders.map((order) => anOrder({ external_id: `N-${order.number}`, status: order.status }))
    // 422: all orders of the call were refused.
    expect([201, 422]).toContain((await importOrders(shop, orders, { on_duplicate: 'update' })).status)
  }
  if (one.act === 'change')
    await write(sql`update or ignore orders set status = ${one.status}, type = ${one.type},
      edition_id = iif(${one.isMoved ? 1 : 0}, ${other}, edition_id) where ${where}`)
  if (one.act === 'file') {
    const id = await seedStarted(shop, buildRows(3))
    files.push(id)
    await runToEnd(id)
  }
  if (one.act === 'undo') {
    const id = files.pop()
    if (id) await undoToEnd(id)
  }
  if (one.act === 'delete') {
    const ofOrders = sql`order_id in (select id from orders where ${where})`
    await write(
      ...['purchases', 'transactions'].map((table) => sql`delete from ${sql.raw(table)} where ${ofOrders}`),
      sql`delete from orders where ${where}`,
    )
  }
}

const night = (day: number, minute = 0) => Date.UTC(2026, 5, day, 3, minute)

/** Runs all sweeps of a night, and returns the errors that they log. */
async function recountAtNight(day: number): Promise<string[]> {
  const errors: string[] = []
  for (let minute = 0; minute < 60; minute++)
    await recountOrders({ db, now: () => night(day, minute) }).catch((error: unknown) => errors.push(String(error)))
  return errors
}

describe('the stored counts of orders', () => {
  it('equal the number of orders after imports, changes, deletions and undos', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 8 }), async (acts) => {
        const shop = await seedShop()
        const other = await seedEdition({ id: shop.organization_id })
        const files: string[] = []
        for (const nextAct of acts) {
          await perform(shop, other.id, files, nextAct)
          await expectCountsToHold()
        }
      }),
      { numRuns: dearRuns(15), endOnFailure: true },
    )
  })

  it('are corrected at night, and the error lists the corrections', async () => {
    const shop = await seedShop()
    await seedManyOrders(shop, 40)
    await recountAtNight(1)
    const ofShop = sql`edition_id = ${shop.edition_id}`
    const { status, n } = (await db.first(
      sql<{ status: string; n: number }>`select status, orders_count as n from order_counts
        where ${ofShop} and orders_count > 1 limit 1`,
    )) ?? { status: '', n: 0 }
    await write(
      sql`update order_counts set orders_count = orders_count + 3 where ${ofShop} and status = ${status}`,
      sql`delete from order_counts where ${ofShop} and status <> ${status}`,
      sql`insert into order_counts (edition_id, status, type, orders_count)
        values (${shop.edition_id}, 'gone', 'online', 2)`,
    )
    const countListed = async () =>
      (await get(`/v1/orders?edition_id=${shop.edition_id}&status=${status}`)).body.count as number
    expect(await countListed()).toBeGreaterThan(n)
    await recountOrders({ db, now: () => Date.UTC(2026, 5, 2, 4, 0) })
    await expect(expectCountsToHold()).rejects.toThrow('to deeply equal')
    const errors = await recountAtNight(2)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain('Counts of orders were wrong and are repaired')
    expect(errors[0]).toContain(shop.edition_id)
    await expectCountsToHold()
    expect(await recountAtNight(3)).toEqual([])
  })
})
