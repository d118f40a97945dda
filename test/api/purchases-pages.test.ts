import { sql } from 'drizzle-orm'
import { beforeAll, expect, it } from 'vitest'
import type { purchases } from '../../src/db/schema/purchases.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../src/domain/orders/purchases.ts'
import { rootToken } from '../support/api.ts'
import { listIds, readAs } from '../support/lists.ts'
import { loadPurchase } from '../support/purchases.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db, write } from '../support/seeding/rows.ts'
import { givenTicket, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

type Purchase = Pick<typeof purchases.$inferSelect, 'id' | 'status' | 'created_at'>

const count = 2000
const dayMs = 86_400_000

let shop: Shop
let all: Purchase[]

const loadPurchases = () =>
  db.all(sql<Purchase>`select id, status, created_at from purchases where edition_id = ${shop.edition_id}`)

beforeAll(async () => {
  shop = await seedShop()
  const ticket = await givenTicket(shop, { vendor_code: 'SEED' })
  const { created_at } = await loadPurchase(ticket.id)
  // Most purchases fall within two days, many of them at the same time, and the others within the year before.
  const purchases = Array.from({ length: count }, (_, index) => ({
    id: `pur_${String((index * 7919) % 100_003).padStart(18, '0')}${shop.edition_id.slice(-8)}`,
    status: purchaseStatuses[index % 17 ? 1 : (index / 17) % purchaseStatuses.length],
    created_at:
      index % 4
        ? created_at - (index % 9 ? (index * 104_729) % (2 * dayMs) : dayMs)
        : created_at - ((index * 7_654_321) % 10) * 35 * dayMs - ((index * 15_485_863) % (3 * dayMs)),
  }))
  await write(sql`insert into purchases (id, edition_id, order_id, user_id, product_id, vendor_code, status,
      price_minor, deposit_minor, handling_fee_minor, created_at, modified_at)
    select its.value ->> 'id', edition_id, order_id, user_id, product_id, null, its.value ->> 'status', 0, 0,
      0, its.value ->> 'created_at', modified_at
    from json_each(${JSON.stringify(purchases)}) as its cross join purchases where purchases.id = ${ticket.id}`)
  all = await loadPurchases()
})

async function pageOf(query: Record<string, string>) {
  const reply = await readAs(
    rootToken,
    `/v1/purchases?${new URLSearchParams({ edition_id: shop.edition_id, page_size: '50', ...query }).toString()}`,
  )
  expect(reply.status).toBe(200)
  return { ids: listIds(reply), count: reply.body.count as number }
}

function sortPurchases(status: PurchaseStatus | undefined, ordering: string): string[] {
  const direction = ordering.startsWith('-') ? -1 : 1
  const listed = all.filter((purchase) => status === undefined || purchase.status === status)
  return listed
    .toSorted((one, other) => direction * (one.created_at - other.created_at || (one.id < other.id ? -1 : 1)))
    .map(({ id }) => id)
}

const cases = [undefined, ...purchaseStatuses].flatMap((status) =>
  ['created', '-created'].map((ordering) => ({ status, ordering })),
)

it.each(cases)(
  'listPurchases returns the page with the requested number: $status, $ordering',
  async ({ status, ordering }) => {
    const ids = sortPurchases(status, ordering)
    const size = 50
    const last = Math.ceil(ids.length / size)
    const pages = [...new Set(Array.from({ length: 6 }, (_, index) => 1 + Math.floor((index * (last - 1)) / 5)))]
    for (const page of pages) {
      const listedIds = await pageOf({ ...(status && { status }), ordering, page: String(page) })
      expect([page, listedIds.ids]).toEqual([page, ids.slice(size * (page - 1), size * page)])
      expect(listedIds.count).toBe(ids.length)
    }
  },
)

it('listPurchases returns 404 for a page after the last one', async () => {
  for (const { edition_id } of [shop, await seedShop()]) {
    const reply = await readAs(rootToken, `/v1/purchases?edition_id=${edition_id}&page=1000`)
    expect(describeRefusal(reply)).toBe('404 invalid_page')
  }
})
