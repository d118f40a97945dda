import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { orderStatuses, orderTypes } from '../../src/domain/orders/orders.ts'
import { settleOrders } from '../../src/modules/orders/jobs.ts'
import { rootToken } from './api.ts'
import { countedAnew, type Key, shortSizes, type StoredInterval } from './intervals.ts'
import { idsOf, readAs } from './lists.ts'
import { matching, type OrderFilter, queryOf, sorted, type StoredOrder, storedOrders } from './many-orders.ts'
import { seedEdition } from './seeding/editions.ts'
import { manyFrom, seedManyOrders } from './seeding/many-orders.ts'
import { givenOrganization } from './seeding/organizations.ts'
import { db, write } from './seeding/rows.ts'

/** An organisation whose editions have so many orders: with ties, and partly without a number. */
export async function seedLongEditions(sizes: readonly number[]) {
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

/** Settles all orders that are old enough. */
export async function settleAll(now: number, sizes = shortSizes): Promise<void> {
  for (let minutes = 0; minutes < 4; minutes++) await settleOrders({ db, now: () => now }, sizes)
}

const keysOf = ({ amount, modified, order_number: number, created, seq }: StoredOrder): Record<string, Key> => {
  const rest = [Number(created), seq] as const
  return {
    amount: [Number(amount), ...rest],
    modified: [Number(modified), ...rest],
    ...(number === null ? { unnumbered: [0, ...rest] } : { number: [number, ...rest] }),
  }
}

const kinds = orderStatuses.flatMap((status) => orderTypes.map((type) => `${status}_${type.replace('-', '_')}`))

/** Compares the intervals of an organisation with its orders. Answers how many there are. */
export async function expectIntervalsToHold(organization: string): Promise<number> {
  const orders = await storedOrders(organization)
  const settled = await db.all(
    sql<{ scope: string; until: number }>`select scope, until from settled_lists where list = 'orders'`,
  )
  const untilOf = new Map(settled.map(({ scope, until }) => [scope, until]))
  const stored = await db.all(sql<StoredInterval>`select * from order_intervals
    where scope = ${organization} or scope in (select id from editions where organization_id = ${organization})
    order by scope, ordering, value, created_at, seq`)
  const settledOrders = orders.filter((order) => Number(order.modified) < (untilOf.get(order.edition_id) ?? 0))
  const counted = settledOrders.flatMap((order) =>
    [order.edition_id, organization].map((scope) => ({
      scope,
      keys: keysOf(order),
      kind: `${order.status}_${String(order.type).replace('-', '_')}`,
    })),
  )
  expect(stored).toEqual(countedAnew(stored, kinds, counted))
  return stored.length
}

/** The pages in which a value of few, or the orders with a value, end and others begin. */
function edgesOf(listed: readonly StoredOrder[], ordering: string, size: number): number[] {
  const field = ordering.replace('-', '')
  const groupOf = ({ status, type, order_number: number }: StoredOrder) =>
    ({ status, type, order_number: number === null })[field] ?? null
  return listed.flatMap((order, index) => {
    const former = listed[index - 1]
    return former && groupOf(former) !== groupOf(order) ? [1 + Math.floor(index / size)] : []
  })
}

/** The pages of a list by their numbers are those of all its orders in the order. */
export async function expectPagesByNumber(
  { scope, filter, ordering }: { scope: Record<string, string>; filter: OrderFilter; ordering: string },
  {
    orders,
    size,
    numbers,
    token = rootToken,
  }: { orders: readonly StoredOrder[]; size: number; numbers: readonly number[]; token?: string },
): Promise<void> {
  const listed = sorted(matching(orders, filter), ordering)
  const ids = listed.map(({ id }) => id)
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const number of new Set([...numbers.map((one) => 1 + (one % last)), ...edgesOf(listed, ordering, size)])) {
    const query = queryOf({ ...scope, ...filter, ordering, page_size: String(size), page: String(number) })
    const reply = await readAs(token, `/v1/orders?${query}`)
    expect([query, reply.status, reply.body.count]).toEqual([query, 200, ids.length])
    expect([query, idsOf(reply)]).toEqual([query, ids.slice((number - 1) * size, number * size)])
  }
}
