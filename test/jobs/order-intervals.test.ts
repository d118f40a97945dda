import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { costOf } from '../support/cost.ts'
import { rootToken } from '../support/api.ts'
import { readAs } from '../support/lists.ts'
import { type OrderFilter, orderFields, type StoredOrder, storedOrders } from '../support/many-orders.ts'
import { expectIntervalsToHold, expectPagesByNumber, settleAll } from '../support/order-intervals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { manyFrom, seedManyOrders } from '../support/seeding/many-orders.ts'
import { db, write } from '../support/seeding/rows.ts'

const now = manyFrom + 400 * 86_400_000
const filters: OrderFilter[] = [
  {},
  { status: 'completed' },
  { type: 'online' },
  { type: 'imported', status: 'pending' },
]
const orderings = orderFields.flatMap((field) => [field, `-${field}`])

/** An organisation whose editions have so many orders: with ties, and partly without a number. */
async function seedOrganization(sizes: readonly number[]) {
  const organization = await givenOrganization()
  const editions: string[] = []
  for (const size of sizes) {
    const { id } = await seedEdition(organization)
    editions.push(id)
    await seedManyOrders({ organization_id: organization.id, edition_id: id }, size)
  }
  await write(
    sql`update orders set number_key = null where organization_id = ${organization.id} and seq % 3 = 1`,
    sql`update orders set amount_minor = 7700 where organization_id = ${organization.id} and seq % 5 = 1`,
    sql`update orders set amount_minor = 7700, created_at = ${manyFrom} where organization_id = ${organization.id} and seq % 15 = 1`,
    sql`update orders set status = 'completed' where organization_id = ${organization.id} and seq % 4 = 2`,
    sql`update orders set modified_at = modified_at / 60000 * 60000 where organization_id = ${organization.id} and seq % 2`,
    sql`insert into list_sizes (organization_id, all_orders) values (${organization.id}, ${sizes.reduce((a, b) => a + b)})
      on conflict do update set all_orders = excluded.all_orders`,
  )
  return { organization: organization.id, editions }
}

describe('a page by number far from both ends', () => {
  let orders: StoredOrder[]
  let place: Awaited<ReturnType<typeof seedOrganization>>
  beforeAll(async () => {
    place = await seedOrganization([12_000, 3_000, 2_000])
    await settleAll(now)
    orders = await storedOrders(place.organization)
  })

  it('is led to by intervals of which none is long', async () => {
    const intervals = await expectIntervalsToHold(place.organization)
    expect(intervals).toBeGreaterThan(1000)
    expect(intervals).toBeLessThan(3000)
  })

  it.each(orderings)('is that of the list, in the order %s', async (ordering) => {
    for (const filter of filters) {
      const given = { orders, size: 50, numbers: Array.from({ length: 20 }, (_, index) => 38 + 17 * index) }
      await expectPagesByNumber({ scope: { organization_id: place.organization }, filter, ordering }, given)
      const edition_id = place.editions[0] ?? ''
      const own = orders.filter((order) => order.edition_id === edition_id)
      await expectPagesByNumber({ scope: { edition_id }, filter, ordering }, { ...given, orders: own })
    }
  })

  it.each(['amount', '-amount', 'modified', '-modified', 'order_number', '-order_number', 'status', '-type'])(
    'costs few rows in the order %s',
    async (ordering) => {
      for (const scope of [`edition_id=${place.editions[0]}`, `organization_id=${place.organization}`]) {
        const reply = await readAs(rootToken, `/v1/orders?${scope}&ordering=${ordering}&page=122&page_size=50`)
        if (ordering === 'amount')
          console.log(await db.all(sql`select scope, ordering, count(*) from order_intervals group by 1, 2`))
        console.log(ordering, scope.slice(0, 12), costOf(reply))
        expect(costOf(reply).rows_read).toBeLessThan(15000)
      }
    },
  )
})
