import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { deleteOldHits, mostParts } from '../../src/db/lists/list-hits.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { givenMember } from '../support/seeding/members.ts'
import { matching, type OrderFilter, orderFields, queryOf, sorted, storedOrders } from '../support/many-orders.ts'
import { seedManyOrders } from '../support/seeding/many-orders.ts'
import { givenOrder, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'

const most = 600
/** A page by its number, where spans lead to it. */
const mostByNumber = 480
const orderings = ['', ...orderFields.flatMap((field) => [field, `-${field}`])]

const filters: OrderFilter[] = [
  {},
  { status: 'completed' },
  { status: 'confirmed' },
  { type: 'imported' },
  { type: 'online', status: 'pending' },
  { created_after: '2026-04-01T10:11:12.345Z' },
  { created_before: '2026-08-30T23:59:59.999+02:00' },
  { created_after: '2026-03-02T00:00:00Z', created_before: '2026-09-01T00:00:00Z' },
  { created_after: '2026-02-03T00:00:00Z', status: 'cancelled' },
  { created_before: '2026-09-03T00:00:00Z', type: 'in-person' },
  { created_after: '2026-07-01T00:00:00Z', created_before: '2026-06-01T00:00:00Z' },
]
const named = filters.map((filter) => [queryOf({ ...filter }) || 'no filter', filter] as const)

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
  await seedManyOrders(shop, 2_000)
})

const address = (filter: OrderFilter, rest: Record<string, string>) =>
  `/v1/orders?${queryOf({ edition_id: shop.edition_id, page_size: '50', ...filter, ...rest })}`
const read = (filter: OrderFilter, rest: Record<string, string> = {}) => readAs(rootToken, address(filter, rest))

async function costs(filter: OrderFilter): Promise<Record<string, number>> {
  const stored = matching(await storedOrders(shop.organization_id), filter)
  const found: Record<string, number> = {}
  for (const ordering of orderings) {
    const reply = await read(filter, { ordering })
    expect([ordering, reply.body.count]).toEqual([ordering, stored.length])
    const ids = sorted(stored, ordering || '-created').map(({ id }) => id)
    expect([ordering, idsOf(reply)]).toEqual([ordering, ids.slice(0, 50)])
    found[ordering] = costOf(reply).rows_read
  }
  return found
}

describe('the first page of listOrders, with its exact count', () => {
  const small: Record<string, Record<string, number>> = {}

  it.each(named)('reads few of 2,000 orders: %s', async (name, filter) => {
    small[name] = await costs(filter)
    expect(Object.keys(small[name])).toEqual(orderings)
  })

  it.each(named)('reads no more of 10,000 orders: %s', async (name, filter) => {
    if (name === named[0]?.[0]) await seedManyOrders(shop, 8_000)
    const large = await costs(filter)
    for (const ordering of orderings) {
      const rows = large[ordering] ?? Infinity
      expect([ordering, Math.max(rows, most)]).toEqual([ordering, most])
      // The spans of 300 days are there before.
      const grown = rows - (small[name]?.[ordering] ?? 0)
      expect([ordering, Math.max(grown, 400)]).toEqual([ordering, 400])
    }
  })
})

describe('a status or a type that goes together with the order of a list', () => {
  const kinds: OrderFilter[] = [{ status: 'pending' }, { type: 'online' }, { status: 'pending', type: 'online' }]
  const place = { organization_id: '', edition_id: '' }

  beforeAll(async () => {
    const made = await seedShop()
    Object.assign(place, { organization_id: made.organization_id, edition_id: made.edition_id })
    await seedManyOrders(made, 3000)
    // Behind all others in each order.
    await write(sql`update orders set amount_minor = amount_minor + 1000000, modified_at = modified_at + 100000000000,
      number_key = '~' || number_key where organization_id = ${made.organization_id} and status = 'pending' and type = 'online'`)
  })

  it.each(
    kinds.flatMap((filter) =>
      ['amount', 'modified', 'order_number', 'status,-created', 'type,-amount', '-status,modified'].map(
        (ordering) => [`${queryOf({ ...filter })} by ${ordering}`, filter, ordering] as const,
      ),
    ),
  )('reads no other orders: %s', async (_, filter, ordering) => {
    for (const scope of ['organization_id', 'edition_id'] as const) {
      const stored = matching(await storedOrders(place.organization_id), filter)
      const list = `/v1/orders?${queryOf({ [scope]: place[scope], page_size: '50', ordering, ...filter })}`
      const first = await readAs(rootToken, list)
      const second = await readAs(rootToken, String(first.body.next))
      expect([first.body.count, ...idsOf(first), ...idsOf(second)]).toEqual([
        stored.length,
        ...sorted(stored, ordering)
          .slice(0, 100)
          .map(({ id }) => id),
      ])
      for (const reply of [first, second]) expect(costOf(reply).rows_read).toBeLessThanOrEqual(most)
    }
  })
})

describe('a page of listOrders by its number', () => {
  it.each(named.slice(0, 8))('is found by the stored spans, in the order of creation: %s', async (_, filter) => {
    const stored = matching(await storedOrders(shop.organization_id), filter)
    for (const ordering of ['created', '-created']) {
      const ids = sorted(stored, ordering).map(({ id }) => id)
      for (const part of [0.3, 0.5, 0.77, 1]) {
        const page = Math.ceil((stored.length / 50) * part)
        const reply = await read(filter, { ordering, page: String(page) })
        expect([page, idsOf(reply)]).toEqual([page, ids.slice(50 * (page - 1), 50 * page)])
        expect([page, Math.max(mostByNumber, costOf(reply).rows_read)]).toEqual([page, mostByNumber])
      }
    }
    expect((await read(filter, { page: String(Math.ceil(stored.length / 50) + 1) })).status).toBe(404)
  })

  it.each(named.slice(0, 5))(
    'is found by the counts of its values, in the order of status or type: %s',
    async (_, filter) => {
      const stored = matching(await storedOrders(shop.organization_id), filter)
      for (const ordering of ['status', '-status', 'type', '-type']) {
        const ids = sorted(stored, ordering).map(({ id }) => id)
        for (const part of [0.07, 0.26, 0.5, 0.77, 1]) {
          const page = Math.ceil((stored.length / 50) * part)
          const reply = await read(filter, { ordering, page: String(page) })
          expect([ordering, page, idsOf(reply)]).toEqual([ordering, page, ids.slice(50 * (page - 1), 50 * page)])
          const { rows_read } = costOf(reply)
          expect([ordering, page, Math.max(mostByNumber, rows_read)]).toEqual([ordering, page, mostByNumber])
        }
        const behind = await read(filter, { ordering, page: String(Math.ceil(stored.length / 50) + 1) })
        expect(behind.status).toBe(404)
      }
    },
  )

  it.each(['amount', '-modified'])('is read from the nearer end in the order %s', async (ordering) => {
    const stored = await storedOrders(shop.organization_id)
    const ids = sorted(stored, ordering).map(({ id }) => id)
    for (const page of [61, 150, 199, 200]) {
      const reply = await read({}, { ordering, page: String(page) })
      expect([page, idsOf(reply)]).toEqual([page, ids.slice(50 * (page - 1), 50 * page)])
      expect(costOf(reply).rows_read).toBeLessThan(most + 2 * 50 * Math.min(page, 201 - page))
    }
  })

  it('has a next link at the cost of one page', async () => {
    const queries: Record<string, string>[] = [
      { ordering: 'status' },
      { ordering: '-type' },
      { ordering: '-amount', type: 'online' },
      { ordering: 'type', type: 'imported' },
      { status: 'completed' },
      { type: 'online' },
      { ordering: 'type', created_after: '2026-03-02T00:00:00Z', created_before: '2026-09-01T00:00:00Z' },
      {},
    ]
    for (const query of queries) {
      const stored = matching(await storedOrders(shop.organization_id), query)
      const ids = sorted(stored, query['ordering'] ?? '-created').map(({ id }) => id)
      const from = Math.floor(stored.length / 100)
      let next: string | null = address({}, { ...query, page: String(from) })
      for (let page = from; page < from + 4 && next; page++) {
        const reply = await readAs(rootToken, next)
        expect([page, idsOf(reply)]).toEqual([page, ids.slice(50 * (page - 1), 50 * page)])
        if (page > from) expect([query, page, Math.max(most, costOf(reply).rows_read)]).toEqual([query, page, most])
        next = reply.body.next
      }
    }
  })
})

describe('orders of one customer', () => {
  let customer_id = ''
  beforeAll(async () => {
    const { order } = await givenOrder(shop, { customer: { email: 'alone@example.dk' } })
    const rows = await db.all(sql<{ user_id: string }>`select user_id from orders where id = ${order}`)
    customer_id = rows[0]?.user_id ?? ''
  })

  it.each(orderings)('are found by few rows among those of an edition, ordered by "%s"', async (ordering) => {
    const place = { edition_id: shop.edition_id, customer_id, ordering }
    for (const filter of ['', '&type=imported', '&created_after=2020-01-01T00:00:00Z']) {
      const reply = await readAs(rootToken, `/v1/orders?${queryOf(place)}${filter}`)
      expect([filter, reply.body.count]).toEqual([filter, 1])
      expect(costOf(reply).rows_read).toBeLessThan(30)
    }
  })
})

it('pages of a member in the order of types, with a range of time, are those of the list', async () => {
  const { token } = await givenMember({ id: shop.organization_id }, 'admin')
  const filter = { created_after: '2026-03-02T00:00:00Z', created_before: '2026-09-01T00:00:00Z' }
  const ids = sorted(matching(await storedOrders(shop.organization_id), filter), 'type').map(({ id }) => id)
  const walked = await walkAs(token, address(filter, { ordering: 'type', page_size: '1000' }))
  expect(walked.ids).toEqual(ids)
})

describe('a count of a search', () => {
  const search = { search: 'nr 1', ordering: 'created' }
  const counted = async (query: Record<string, string> = search) => {
    const reply = await read({}, query)
    const expected = (await storedOrders(shop.organization_id)).filter(({ order_number }) =>
      String(order_number).slice(2).startsWith('1'),
    )
    return { count: reply.body.count, expected: expected.length, rows: costOf(reply).rows_read }
  }

  it('is computed once for each state of the orders', async () => {
    const first = await counted()
    expect(first.count).toBe(first.expected)
    // More than the index gives out at once, so that all that match are counted.
    expect(first.count).toBeGreaterThan(1000)
    const isRemembered = (rows: number) => rows < first.rows - first.count
    await vi.waitUntil(async () => isRemembered((await counted()).rows))
    expect((await counted()).count).toBe(first.count)
    // Another list has a count of its own.
    const { body } = await read({ status: 'pending' }, search)
    expect(body.count).toBeLessThan(first.count)
  })

  it('is computed again after an order has come, changed, or gone, or its customer has changed', async () => {
    const by = { customer_email: 'someone-new' }
    const count = async (query: Record<string, string>) => {
      await read({}, query)
      return (await read({}, query)).body.count
    }
    const found = await count(search)
    await seedManyOrders(shop, 12)
    // Of the numbers 1 to 12 four begin with 1.
    expect(await count(search)).toBe(found + 4)
    const twelfth = sql`edition_id = ${shop.edition_id} and order_number = '12'`
    await write(
      sql`update orders set search = 'other', search_own = 'other' where seq = (select max(seq) from orders where ${twelfth})`,
    )
    expect(await count(search)).toBe(found + 3)
    await write(
      sql`delete from orders where seq = (select max(seq) from orders where edition_id = ${shop.edition_id} and search like 'nr 1%')`,
    )
    expect(await count(search)).toBe(found + 2)
    expect(await count(by)).toBe(0)
    await write(sql`update users set email = 'someone-new@example.test'
      where id = (select user_id from orders where ${twelfth} order by seq desc limit 1)`)
    // Their customer had the twelve new orders, of which one is gone.
    expect(await count(by)).toBe(11)
  })

  it('is stored for a day', async () => {
    const kept = () => db.all(sql<{ slot: number; counted_at: number }>`select slot, counted_at from list_counts`)
    expect((await kept()).length).toBeGreaterThan(0)
    const [{ slot, counted_at } = { slot: 0, counted_at: 0 }] = await kept()
    // The minute in which the sweep looks at that place.
    const round = 64 * mostParts
    const minute = round * Math.ceil((counted_at + 86_400_000) / 60_000 / round) + slot
    await deleteOldHits(db, (minute - 2 * round) * 60_000)
    expect((await kept()).map((one) => one.slot)).toContain(slot)
    await deleteOldHits(db, minute * 60_000)
    expect((await kept()).map((one) => one.slot)).not.toContain(slot)
  })
})
