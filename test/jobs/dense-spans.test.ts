import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { orderStatuses } from '../../src/domain/orders/orders.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { idsOf, readAs } from '../support/lists.ts'
import { matching, type OrderFilter, queryOf, sorted, storedOrders } from '../support/many-orders.ts'
import { manyFrom, seedManyOrders } from '../support/seeding/many-orders.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const dayMs = 86_400_000
const size = 50
/** So many orders of the edition: most of them have one of two moments, as of an import that knows dates alone. */
const count = 1200
const days = [manyFrom + 100 * dayMs, manyFrom + 200 * dayMs] as const

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
  const other = await seedEdition({ id: shop.organization_id })
  await seedManyOrders(shop, count)
  await seedManyOrders({ ...shop, edition_id: other.id }, count)
  await write(
    sql`update orders set created_at = ${days[0]} where organization_id = ${shop.organization_id} and seq % 3 = 0`,
    sql`update orders set created_at = ${days[1]} where organization_id = ${shop.organization_id} and seq % 3 = 1`,
  )
})

const isOf = (place: Record<string, string>, { edition_id }: { edition_id: string }): boolean =>
  place['edition_id'] === undefined || place['edition_id'] === edition_id

async function pageOf(filter: Record<string, string>) {
  const reply = await readAs(rootToken, `/v1/orders?${queryOf({ page_size: String(size), ...filter })}`)
  expect(reply.status).toBe(200)
  return { ids: idsOf(reply), count: reply.body.count, rows: costOf(reply).rows_read }
}

const iso = (at: number) => new Date(at).toISOString()
const places = (): Record<string, string>[] => [
  { edition_id: shop.edition_id },
  { organization_id: shop.organization_id },
]

describe('many orders of one moment', () => {
  it('are counted from either side of it by few rows', async () => {
    for (const place of places())
      for (const day of days)
        for (const range of [
          { created_after: iso(day) },
          { created_after: iso(day + 1) },
          { created_before: iso(day) },
          { created_before: iso(day - 1) },
          { created_after: iso(day), created_before: iso(day + 1) },
        ] as OrderFilter[]) {
          const stored = matching(await storedOrders(shop.organization_id), range)
          const found = await pageOf({ ...place, ...range })
          expect(found.count).toBe(stored.filter((one) => isOf(place, one)).length)
          expect(found.rows).toBeLessThanOrEqual(600)
        }
  })

  it('lead to pages by their number, which read few rows once the moment was read', async () => {
    for (const place of places())
      for (const filter of [{}, { status: 'completed' }, { created_before: iso(days[1]) }] as Record<string, string>[])
        for (const ordering of ['created', '-created']) {
          const { count: total } = await pageOf({ ...place, ...filter, ordering })
          const pages = Math.ceil(Number(total) / size)
          const chosen = [0.3, 0.7].map((part) => String(Math.ceil(pages * part)))
          for (const page of chosen) {
            await pageOf({ ...place, ...filter, ordering, page })
            const { rows } = await pageOf({ ...place, ...filter, ordering, page })
            expect([page, Math.max(rows, 600)]).toEqual([page, 600])
          }
        }
  })

  it('lead to the right page after any change', async () => {
    const act = fc.oneof(
      fc.record({ act: fc.constant('none' as const) }),
      fc.record({ act: fc.constant('status' as const), status: fc.constantFrom(...orderStatuses), part: fc.nat(50) }),
      fc.record({ act: fc.constant('move' as const), at: fc.constantFrom(...days, days[0] + 1), part: fc.nat(50) }),
      fc.record({ act: fc.constant('delete' as const), part: fc.nat(200) }),
      fc.record({ act: fc.constant('import' as const), at: fc.constantFrom(...days) }),
    )
    const ofPart = (part: number) =>
      sql`organization_id = ${shop.organization_id} and number_key is not null and seq % 53 = ${part}`
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(act, fc.constantFrom('created', '-created'), fc.nat(1000), fc.constantFrom(undefined, 'pending')),
          { minLength: 2, maxLength: 6 },
        ),
        async (acts) => {
          for (const [one, ordering, nat, status] of acts) {
            if (one.act === 'status')
              await write(sql`update orders set status = ${one.status} where ${ofPart(one.part)}`)
            if (one.act === 'move') await write(sql`update orders set created_at = ${one.at} where ${ofPart(one.part)}`)
            if (one.act === 'delete')
              await write(sql`delete from orders where ${ofPart(one.part)} and seq % 5 = 0 and external_id is null`)
            if (one.act === 'import')
              expect((await importOrders(shop, [anOrder({ created: iso(one.at) })])).status).toBe(201)
            const stored = await storedOrders(shop.organization_id)
            for (const place of places()) {
              const filter = { ...place, ...(status && { status }), ordering }
              const ids = sorted(matching(stored, { ...(status && { status }) }), ordering)
                .filter((order) => isOf(place, order))
                .map(({ id }) => id)
              const page = 1 + (nat % Math.ceil(ids.length / size))
              const found = await pageOf({ ...filter, page: String(page) })
              expect(found.count).toBe(ids.length)
              expect([page, found.ids]).toEqual([page, ids.slice(size * (page - 1), size * page)])
            }
          }
        },
      ),
      { numRuns: dearRuns(30, 8) },
    )
  })

  it('of another organisation lead nowhere', async () => {
    const others = await seedShop()
    await seedManyOrders(others, 500)
    await pageOf({ edition_id: shop.edition_id, page: '20' })
    const stored = await storedOrders(others.organization_id)
    const found = await pageOf({ edition_id: others.edition_id, page: '6', ordering: 'created' })
    expect(found.ids).toEqual(
      sorted(stored, 'created')
        .slice(250, 300)
        .map(({ id }) => id),
    )
    expect(
      await db.all(sql`select 1 from order_counts indexed by order_counts_dense where edition_id = ${others.edition_id}
      and span_bits = 21 and (orders > 256 or purchases > 256)`),
    ).toEqual([])
  })
})
