import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthsOfSpans } from '../../src/db/edition-counts.ts'
import { orderStatuses, orderTypes } from '../../src/domain/orders/orders.ts'
import { purchaseStatuses } from '../../src/domain/orders/purchases.ts'
import { recountOrders } from '../../src/modules/orders/jobs.ts'
import { rootToken } from '../support/api.ts'
import { idsOf, readAs } from '../support/lists.ts'
import { matching, queryOf, sorted, storedOrders } from '../support/many-orders.ts'
import { manyFrom, seedManyOrders } from '../support/seeding/many-orders.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { anOrder, givenOrders, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { many, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { runToEnd } from '../support/staged-imports.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const columns = orderStatuses.flatMap((status) =>
  orderTypes.map((type) => ({ status, type, name: `${status}_${type.replace('-', '_')}` })),
)

/** What the rows say, and what counting them says, of spans that have orders. */
async function bothCounts(bits: number) {
  const names = sql.raw(columns.map(({ name }) => name).join(', '))
  const counted = sql.raw(
    columns.map(({ status, type, name }) => `sum(status = '${status}' and type = '${type}') as ${name}`).join(', '),
  )
  const anything = sql.raw(columns.map(({ name }) => `${name} <> 0`).join(' or '))
  const stored = await db.all(sql`select edition_id, span, ${names} from order_counts
    where span_bits = ${bits} and (${anything}) order by edition_id, span`)
  const real = await db.all(sql`select edition_id, created_at >> ${bits} as span, ${counted} from orders
    group by 1, 2 order by 1, 2`)
  return { stored, real }
}

/** The same of purchases and customers, which the sum of an edition's long spans counts, and of organisations. */
async function otherCounts() {
  const names = purchaseStatuses.map((status) => `purchases_${status}`)
  const [sums, counted] = [
    sql.raw(names.map((name) => `${name} as ${name}`).join(', ')),
    sql.raw(purchaseStatuses.map((status) => `sum(status = '${status}') as purchases_${status}`).join(', ')),
  ]
  const anything = sql.raw(names.map((name) => `${name} <> 0`).join(' or '))
  return [
    ...(await Promise.all(
      lengthsOfSpans.map(async (bits) => [
        await db.all(
          sql`select edition_id, span, ${sums} from order_counts where span_bits = ${bits} and (${anything}) order by 1, 2`,
        ),
        await db.all(
          sql`select edition_id, created_at >> ${bits} as span, ${counted} from purchases group by 1, 2 order by 1, 2`,
        ),
      ]),
    )),
    ...(await Promise.all(
      lengthsOfSpans.map(async (bits) => [
        await db.all(
          sql`select edition_id, span, purchases from order_counts where span_bits = ${bits} and purchases <> 0 order by 1, 2`,
        ),
        await db.all(
          sql`select edition_id, created_at >> ${bits} as span, count(*) as purchases from purchases group by 1, 2 order by 1, 2`,
        ),
      ]),
    )),
    ...(await Promise.all(
      [29, 33].map(async (bits) => [
        await db.all(sql`select edition_id, sum(customers) as n from order_counts
          where span_bits = ${bits} group by 1 having n <> 0 order by 1`),
        await db.all(sql`select id as edition_id, count(*) as n from edition_customers
          join editions on short_id = edition_short_id group by 1 order by 1`),
      ]),
    )),
    [
      await db.all(sql`select organization_id, customers from list_sizes where customers <> 0 order by 1`),
      await db.all(sql`select organization_id, count(*) as customers from users group by 1 order by 1`),
    ],
  ] as const
}

async function expectCountsToHold(): Promise<void> {
  for (const [stored, real] of await otherCounts()) expect(stored).toEqual(real)
  for (const bits of lengthsOfSpans) {
    const { stored, real } = await bothCounts(bits)
    expect(stored).toEqual(real)
  }
}

/** Changes of the longest spans and of those that they are made of. A repair is a change, too. */
const changesOf = async () => [
  await db.all(sql`select edition_id, span, changes from order_counts where span_bits = 33 order by 1, 2`),
  await db.all(sql`select edition_id, span >> 4 as span, sum(changes) as changes from order_counts where span_bits = 29
    group by 1, 2 order by 1, 2`),
]

const iso = (at: number) => new Date(at).toISOString()
const moment = fc.nat({ max: 40 * 86_400_000 }).map((ms) => manyFrom + ms)
const number = fc.nat({ max: 5 })
const act = fc.oneof(
  fc.record({
    act: fc.constant('import' as const),
    // Of one call, which commits them together.
    orders: fc.uniqueArray(fc.record({ number, status: fc.constantFrom(...orderStatuses), at: moment }), {
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
    at: moment,
  }),
  fc.record({
    act: fc.constant('purchases' as const),
    number,
    status: fc.constantFrom(...purchaseStatuses),
    at: fc.option(moment),
  }),
  fc.record({ act: fc.constant('customer' as const), number }),
  fc.record({ act: fc.constant('file' as const), at: moment }),
  fc.record({ act: fc.constant('undo' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

async function perform(shop: Shop, files: string[], one: Act): Promise<void> {
  const where = 'number' in one ? sql`edition_id = ${shop.edition_id} and external_id = ${`N-${one.number}`}` : sql`0`
  if (one.act === 'import') {
    const orders = one.orders.map((order) =>
      anOrder({ external_id: `N-${order.number}`, status: order.status, created: iso(order.at) }),
    )
    expect((await importOrders(shop, orders, { on_duplicate: 'update' })).status).toBe(201)
  }
  if (one.act === 'change')
    await write(
      sql`update orders set status = ${one.status}, type = ${one.type}, created_at = ${one.at} where ${where}`,
    )
  if (one.act === 'purchases')
    await write(sql`update purchases set status = ${one.status}, created_at = coalesce(${one.at}, created_at)
      where order_id in (select id from orders where ${where})`)
  // A customer without orders, who is deleted when the same act comes again.
  if (one.act === 'customer') {
    const isNobody = sql`organization_id = ${shop.organization_id} and first_name = ${`Nobody ${one.number}`}`
    const [known] = await db.all(sql<{ seq: number }>`select seq from users where ${isNobody}`)
    await write(
      sql`delete from edition_customers where user_seq = ${known?.seq ?? null}`,
      sql`delete from users where ${isNobody}`,
    )
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    if (!known) await seedPeople(place, [{ first_name: `Nobody ${one.number}` }])
  }
  if (one.act === 'delete') {
    const ofOrders = sql`order_id in (select id from orders where ${where})`
    await write(
      ...['purchases', 'transactions'].map((table) => sql`delete from ${sql.raw(table)} where ${ofOrders}`),
      sql`delete from orders where ${where}`,
    )
  }
  if (one.act === 'file') {
    const id = await seedStarted(shop, many(2, { created: iso(one.at) }))
    await runToEnd(id)
    files.push(id)
  }
  const id = one.act === 'undo' && files.pop()
  if (id) expect(await undoToEnd(id)).toMatchObject({ status: 'undone' })
}

const night = (hour: number, day = 1) => Date.UTC(2026, 5, day, hour)
const sweepAt = (at: number) => recountOrders({ db, now: () => at })

describe('stored counts of orders', () => {
  it('stay correct through imports, changes, deletions and undos', async () => {
    const shop = await seedShop()
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 7 }), async (acts) => {
        const files: string[] = []
        for (const one of acts) await perform(shop, files, one)
        await expectCountsToHold()
        const [sums, changes] = await changesOf()
        expect(sums).toEqual(changes)
      }),
      { numRuns: 6 },
    )
  })

  it('give the length of any list, and lead to its pages', async () => {
    const shop = await seedShop()
    await seedManyOrders(shop, 1_500)
    // Many orders of one moment, and of the edges of spans.
    await write(
      sql`update orders set created_at = ${manyFrom + 86_400_000} where edition_id = ${shop.edition_id} and seq % 5 = 0`,
      sql`update orders set created_at = (created_at >> 21) << 21 where edition_id = ${shop.edition_id} and seq % 7 = 1`,
      sql`update orders set created_at = ((created_at >> 29) << 29) - 1 where edition_id = ${shop.edition_id} and seq % 7 = 2`,
    )
    const stored = await storedOrders(shop.organization_id)
    const moments = fc.oneof(
      fc.nat({ max: 301 * 86_400_000 }).map((ms) => manyFrom + ms),
      fc.constantFrom(...stored.map(({ created }) => Number(created))),
      fc.constantFrom(...stored.map(({ created }) => Number(created) - 1)),
    )
    const asked = fc.record({
      status: fc.option(fc.constantFrom(...orderStatuses), { nil: undefined }),
      type: fc.option(fc.constantFrom(...orderTypes), { nil: undefined }),
      created_after: fc.option(moments.map(iso), { nil: undefined }),
      created_before: fc.option(moments.map(iso), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(
        asked,
        fc.constantFrom('created', '-created', 'status', '-amount'),
        fc.nat(),
        async (given, ordering, nat) => {
          const filter = JSON.parse(JSON.stringify(given)) as Record<string, string>
          const found = sorted(matching(stored, filter), ordering).map(({ id }) => id)
          const page = 1 + (nat % Math.max(1, Math.ceil(found.length / 7)))
          const query = queryOf({
            edition_id: shop.edition_id,
            ...filter,
            ordering,
            page: String(page),
            page_size: '7',
          })
          const reply = await readAs(rootToken, `/v1/orders?${query}`)
          expect(reply).toMatchObject({ status: 200, body: { count: found.length } })
          expect(idsOf(reply)).toEqual(found.slice(7 * (page - 1), 7 * page))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('are repaired at night, and differences are logged', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ created: iso(manyFrom) }),
      anOrder({ created: iso(manyFrom + 20 * 86_400_000) }),
    ])
    await sweepAt(night(3))
    await write(
      sql`update order_counts set completed_imported = completed_imported + 3
        where edition_id = ${shop.edition_id} and span_bits = 21 and span = ${manyFrom} >> 21`,
      sql`delete from order_counts where edition_id = ${shop.edition_id} and span > ${manyFrom} >> 29 and span_bits = 29`,
      sql`update order_counts set purchases_used = purchases_used + 1
        where edition_id = ${shop.edition_id} and span_bits <> 29`,
      sql`update order_counts set completed_imported = completed_imported - 1, purchases = purchases + 1
        where edition_id = ${shop.edition_id} and span_bits = 25`,
      sql`update order_counts set customers = customers + 1, cancelled_online = 2
        where edition_id = ${shop.edition_id} and span_bits = 33`,
      sql`update order_counts set purchases_active = purchases_active - 1, customers = customers + 5
        where edition_id = ${shop.edition_id} and span = ${manyFrom} >> 29 and span_bits = 29`,
      sql`update list_sizes set customers = customers + 1 where organization_id = ${shop.organization_id}`,
    )
    // Not by day, and once a night.
    await sweepAt(night(2, 2))
    await sweepAt(night(3) + 60_000)
    await expect(expectCountsToHold()).rejects.toThrow('to deeply equal')
    await expect(sweepAt(night(3, 2))).rejects.toThrow(
      `Counts of orders were wrong and are repaired: ${shop.edition_id}`,
    )
    await expectCountsToHold()
    await sweepAt(night(3, 3))
    await expectCountsToHold()
  })

  it('are repaired a few spans at a time', async () => {
    const shop = await seedShop()
    await seedManyOrders(shop, 120)
    await write(sql`update order_counts set pending_online = 7 where edition_id = ${shop.edition_id}`)
    let sweeps = 0
    for (let minute = 0; minute < 6; minute++)
      await sweepAt(night(3, 9) + minute * 60_000).catch((error: unknown) => {
        expect(String(error)).toContain('are repaired')
        sweeps++
      })
    expect(sweeps).toBeGreaterThan(1)
    await expectCountsToHold()
  })

  it('lead to pages of a range of time that begins and ends inside a short span', async () => {
    const shop = await seedShop()
    await seedManyOrders(shop, 1_500)
    const begin = Math.ceil(manyFrom / 2 ** 21) * 2 ** 21
    await write(
      sql`update orders set created_at = cast(${begin} as integer) + seq % 700 * 2000 where edition_id = ${shop.edition_id}`,
    )
    const filter = { created_after: iso(begin + 200_000), created_before: iso(begin + 1_300_000) }
    const stored = await storedOrders(shop.organization_id)
    for (const ordering of ['created', '-created']) {
      const found = sorted(matching(stored, filter), ordering).map(({ id }) => id)
      for (const page of [5, 6, 9]) {
        const query = queryOf({ edition_id: shop.edition_id, ...filter, ordering, page: String(page), page_size: '50' })
        const reply = await readAs(rootToken, `/v1/orders?${query}`)
        expect([page, idsOf(reply)]).toEqual([page, found.slice(50 * (page - 1), 50 * page)])
      }
    }
  })
})
