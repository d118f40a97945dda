import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { rootToken } from '../../support/api.ts'
import { listIds, readAs } from '../../support/lists.ts'
import {
  filterOrders,
  type OrderFilter,
  orderFields,
  buildQuery,
  sortOrders,
  loadOrders,
} from '../../support/many-orders.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedManyOrders } from '../../support/seeding/many-orders.ts'
import { seedAccount, seedMember, seedToken } from '../../support/seeding/members.ts'
import { db } from '../../support/seeding/rows.ts'
import { givenOrder, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

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
const named = filters.map((filter) => [buildQuery({ ...filter }) || 'no filter', filter] as const)

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
  await seedManyOrders(shop, 600)
})

const address = (filter: OrderFilter, rest: Record<string, string>) =>
  `/v1/orders?${buildQuery({ edition_id: shop.edition_id, page_size: '50', ...filter, ...rest })}`
const read = (filter: OrderFilter, rest: Record<string, string> = {}) => readAs(rootToken, address(filter, rest))

describe('listOrders of an edition', () => {
  it.each(named)('returns the count and pages that a plain filter and sort would: %s', async (_, filter) => {
    const stored = filterOrders(await loadOrders(shop.organization_id), filter)
    const pages = Math.max(1, Math.ceil(stored.length / 50))
    for (const ordering of orderings) {
      const ids = sortOrders(stored, ordering || '-created').map(({ id }) => id)
      for (const page of new Set([1, Math.ceil(pages / 2), pages])) {
        const reply = await read(filter, { ordering, page: String(page) })
        expect([ordering, page, reply.body.count]).toEqual([ordering, page, stored.length])
        expect([ordering, page, listIds(reply)]).toEqual([ordering, page, ids.slice(50 * (page - 1), 50 * page)])
      }
      expect((await read(filter, { ordering, page: String(pages + 1) })).status).toBe(404)
    }
  })
})

it('returns 404 for a page past the end of a time range to roles of two editions', async () => {
  const second = await seedEdition({ id: shop.organization_id })
  const account = await seedAccount()
  for (const edition of [shop.edition_id, second.id])
    await seedMember(account, { organization: shop.organization_id, edition, role: 'viewer' })
  const { token } = await seedToken(account)
  const reply = await readAs(
    token,
    `/v1/orders?${buildQuery({ organization_id: shop.organization_id, created_after: '2026-04-01T00:00:00Z', page: '20' })}`,
  )
  expect(describeRefusal(reply)).toBe('404 invalid_page')
})

describe('orders of one customer', () => {
  let customer_id = ''
  let order_id = ''
  beforeAll(async () => {
    const { order } = await givenOrder(shop, { customer: { email: 'alone@example.dk' } })
    order_id = order
    const rows = await db.all(sql<{ user_id: string }>`select user_id from orders where id = ${order}`)
    customer_id = rows[0]?.user_id ?? ''
  })

  it.each(orderings)('are listed for an edition by the ordering "%s"', async (ordering) => {
    const place = { edition_id: shop.edition_id, customer_id, ordering }
    for (const filter of ['', '&type=imported', '&created_after=2020-01-01T00:00:00Z']) {
      const reply = await readAs(rootToken, `/v1/orders?${buildQuery(place)}${filter}`)
      expect([filter, reply.body.count, listIds(reply)]).toEqual([filter, 1, [order_id]])
    }
  })
})
