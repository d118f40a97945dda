import { beforeAll, describe, expect, it } from 'vitest'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { idsOf, readAs } from '../support/lists.ts'
import { matching, type OrderFilter, orderFields, queryOf, sorted, storedOrders } from '../support/many-orders.ts'
import { seedManyOrders } from '../support/seeding/many-orders.ts'
import { seedShop, type Shop } from '../support/seeding/orders.ts'

const most = 600
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
    console.log(name, JSON.stringify(small[name]))
  })

  it('and of 10,000', async () => {
    await seedManyOrders(shop, 8_000)
  })

  it.each(named)('reads no more of 10,000 orders: %s', async (name, filter) => {
    const large = await costs(filter)
    console.log(name, JSON.stringify(large))
    for (const ordering of orderings) {
      expect([ordering, Math.max(large[ordering] ?? Infinity, most)]).toEqual([ordering, most])
    }
  })
})
