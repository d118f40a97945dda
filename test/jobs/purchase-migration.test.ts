import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, givenOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'
import { seedTrade } from '../support/seeding/sales/trades.ts'

const rows = () => db.all(sql<{ id: string; order_id: string }>`select * from purchases order by id`)
const schema = () =>
  db.all(sql`select type, name, sql from sqlite_master where tbl_name = 'purchases' or name like 'purchases%'
    order by type, name`)
const counts = () => db.all(sql`select * from order_counts order by span_bits, edition_id, span`)
const apart = () =>
  db.all(sql<{ id: string }>`select id from purchases indexed by purchases_of_order where substr(id, 1, length(id) - 4)
    <> 'pur_' || substr(order_id, 5, length(order_id) - 20) || substr(order_id, -12) order by id`)

/** The part that ids of purchases have of that of their order. */
const stemOf = (order: string) => `pur_${order.slice(4, -16)}${order.slice(-12)}`

it('the migration of purchases keeps each of them, what refers to them, and their counts', async () => {
  const shop = await seedShop()
  const { order } = await givenOrder(shop)
  await seedTrade({ organization: shop.organization_id, edition: shop.edition_id })
  const before = await Promise.all([rows(), schema(), counts()])
  expect(before[0].length).toBeGreaterThan(1)

  const queriesOf = (number: string) => env.TEST_MIGRATIONS.find(({ name }) => name.startsWith(number))?.queries ?? []
  // What a later migration adds is added again.
  const queries = [
    ...queriesOf('0101'),
    ...queriesOf('0116').filter((query) => query.includes('purchases')),
    ...queriesOf('0200').filter((query) => query.includes(' trigger purchases_')),
    ...queriesOf('0331').filter((query) => query.includes(' trigger purchases_')),
  ]
  await env.DB.batch(queries.map((query) => env.DB.prepare(query)))

  expect(await Promise.all([rows(), schema(), counts()])).toEqual(before)
  expect(await db.all(sql`pragma foreign_key_check`)).toEqual([])
  const { body } = await get(`/v1/orders/${order}`)
  expect(body.purchases.map(({ id }: { id: string }) => id)).toEqual(
    before[0].flatMap(({ id, order_id }) => (order_id === order ? [id] : [])),
  )
})

it('the index of orders has the purchases whose ids are not made of that of their order, and no others', async () => {
  const shop = await seedShop()
  const seeded = await seedTrade({ organization: shop.organization_id, edition: shop.edition_id })
  const item = (quantity: number) => [{ product: 'Day ticket', quantity, unit_price: 225 }]
  const made = anOrder({ items: item(2) })
  await importOrders(shop, [made])
  const order = (await get(`/v1/orders?edition_id=${shop.edition_id}&external_id=${made.external_id}`)).body.results[0]
    .id
  const purchasesNow = async () =>
    (await get(`/v1/orders/${order}`)).body.purchases.map(({ id }: { id: string }) => id) as string[]
  const first = await purchasesNow()
  expect(first.map((id) => id.slice(0, -4))).toEqual([stemOf(order), stemOf(order)])
  expect(first.map(({ length }) => length)).toEqual([30, 30])
  const again = await importOrders(shop, [{ ...made, items: item(3) }], { on_duplicate: 'update' })
  expect(again.body).toMatchObject({ updated_orders: 1 })
  const all = await purchasesNow()
  expect(all).toEqual(expect.arrayContaining(first))
  const added = all.filter((id) => !first.includes(id))
  expect(added.length).toBe(1)
  const ofIndex = (await apart()).map((row) => row.id)
  expect(ofIndex).toEqual(expect.arrayContaining([seeded.purchase, ...added]))
  expect(ofIndex.filter((id) => first.includes(id))).toEqual([])
})

it('an order that has purchases is not deleted', async () => {
  const shop = await seedShop()
  const { order } = await givenOrder(shop)
  const seeded = await seedTrade({ organization: shop.organization_id, edition: shop.edition_id })
  await db.batch([sql`delete from transactions where order_id in (${order}, ${seeded.order})`])
  for (const id of [order, seeded.order])
    await expect(db.batch([sql`delete from orders where id = ${id}`])).rejects.toThrow('FOREIGN KEY')
  await db.batch([sql`delete from purchases where order_id = ${order}`, sql`delete from orders where id = ${order}`])
})
