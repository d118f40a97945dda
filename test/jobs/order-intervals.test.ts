import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { settleOrders } from '../../src/modules/orders/jobs.ts'
import { costOf } from '../support/cost.ts'
import { rootToken } from '../support/api.ts'
import { readAs } from '../support/lists.ts'
import { type OrderFilter, orderFields, type StoredOrder, storedOrders } from '../support/many-orders.ts'
import { expectIntervalsToHold, expectPagesByNumber, settleAll, shortSizes } from '../support/order-intervals.ts'
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
        expect(reply.status).toBe(200)
        expect(costOf(reply).rows_read).toBeLessThan(2200)
      }
    },
  )
})

const some = fc.record({ part: fc.constantFrom(3, 40, 700), rest: fc.nat({ max: 700 }) })
const act = fc.oneof(
  fc.record({
    act: fc.constant('insert' as const),
    many: fc.constantFrom(1, 6, 120),
    /** Before now. */
    age: fc.constantFrom(0, 0, 60_000, 86_400_000),
    edition: fc.nat({ max: 2 }),
  }),
  fc.record({
    act: fc.constant('change' as const),
    some,
    set: fc.constantFrom('amount', 'status', 'type', 'number', 'no number', 'created', 'edition', 'nothing', 'search'),
    isLater: fc.boolean(),
  }),
  fc.record({ act: fc.constant('delete' as const), some }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(60_000, 700_000) }),
  fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000) }),
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

const isSome = ({ part, rest }: { part: number; rest: number }) => sql`seq % ${part} = ${rest % part}`

const changed = (editions: readonly string[], now: number) => ({
  amount: sql`amount_minor = amount_minor * 13 % 90000`,
  status: sql`status = iif(status = 'pending', 'completed', 'pending')`,
  type: sql`type = iif(type = 'online', 'in-person', 'online')`,
  number: sql`number_key = '02' || seq % 90`,
  'no number': sql`number_key = null`,
  created: sql`created_at = created_at * 3 % ${now}`,
  edition: sql`edition_id = iif(edition_id = ${editions[0]}, ${editions[1]}, ${editions[0]})`,
  nothing: sql`status = status`,
  search: sql`search = 'x'`,
})

async function perform(
  one: Act,
  place: { organization: string; editions: readonly string[] },
  now: number,
): Promise<void> {
  const ofPlace = sql`organization_id = ${place.organization}`
  if (one.act === 'insert') {
    const edition_id = place.editions[one.edition] ?? ''
    await seedManyOrders({ organization_id: place.organization, edition_id }, one.many)
    await write(
      sql`update orders set modified_at = ${now - one.age} where ${ofPlace} and seq > (select max(seq) - ${one.many} from orders)`,
    )
  }
  if (one.act === 'change')
    await write(sql`update orders set ${changed(place.editions, now)[one.set]} ${one.isLater ? sql`, modified_at = ${now}` : sql``}
      where ${ofPlace} and ${isSome(one.some)}`)
  if (one.act === 'delete') await write(sql`delete from orders where ${ofPlace} and ${isSome(one.some)}`)
  if (one.act === 'settle') await settleOrders({ db, now: () => now }, { ...shortSizes, stepsASweep: one.steps })
}

it('intervals are exact through every change, and lead to the pages', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 12 }), fc.nat({ max: 400 }), async (acts, number) => {
      const place = await seedOrganization([4_000, 800, 120])
      let now = manyFrom + 400 * 86_400_000
      await settleOrders({ db, now: () => now }, { ...shortSizes, stepsASweep: 60 })
      for (const one of acts) {
        if (one.act === 'wait') now += one.ms
        await perform(one, place, now)
        most = Math.max(most, await expectIntervalsToHold(place.organization))
      }
      const orders = await storedOrders(place.organization)
      for (const ordering of [
        'amount',
        '-amount',
        'modified',
        '-modified',
        'order_number',
        '-order_number',
        'status',
        '-type',
      ])
        for (const filter of filters) {
          const scope = { organization_id: place.organization }
          await expectPagesByNumber(
            { scope, filter, ordering },
            { orders, size: 11, numbers: [number, 190, 200, 215, 230] },
          )
        }
      await write(sql`delete from orders where organization_id = ${place.organization}`)
      await expectIntervalsToHold(place.organization)
    }),
    { numRuns: 12 },
  )
  expect(most).toBeGreaterThan(400)
})
