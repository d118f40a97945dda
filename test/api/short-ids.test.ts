import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { anOrder, givenOrders, seedShop } from '../support/seeding/sales/orders.ts'

/** Another id with the same last eight characters, which indexes begin with. */
const otherOf = (id: string): string => `${id.slice(0, 4)}${'0'.repeat(18)}${id.slice(-8)}`

it('an id with the end of that of an edition or an organisation finds nothing', async () => {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ order_number: '77' })])
  const [edition, organization] = [shop.edition_id, shop.organization_id]
  const lists: [path: string, id: string][] = [
    ['/v1/orders?edition_id=', edition],
    ['/v1/orders?ordering=amount&edition_id=', edition],
    ['/v1/orders?organization_id=', organization],
    ['/v1/purchases?edition_id=', edition],
    ['/v1/purchases?search=77&edition_id=', edition],
    ['/v1/user?edition_id=', edition],
    ['/v1/user?organization_id=', organization],
  ]
  for (const [path, id] of lists) {
    const counts = [(await get(path + id)).body, (await get(path + otherOf(id))).body]
    expect([path, ...counts.map(({ count, results }) => [count > 0, results.length > 0])]).toEqual([
      path,
      [true, true],
      [false, false],
    ])
  }
})
