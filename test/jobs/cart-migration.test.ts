import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { cartOf } from '../../src/domain/orders/carts.ts'
import { get } from '../support/api.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const run = (queries: readonly string[]) => env.DB.batch(queries.map((query) => env.DB.prepare(query)))
const queriesOf = (number: string) => env.TEST_MIGRATIONS.find(({ name }) => name.startsWith(number))?.queries ?? []

const schema = () => db.all(sql`select type, name, sql from sqlite_master where name like 'cart%' order by name`)
const carts = () => db.all(sql`select * from carts order by order_id`)
const items = () => db.all(sql`select * from cart_items order by order_id, position`)

/** The tables of carts as they were, with the carts that orders have now. */
async function separateCarts(): Promise<void> {
  const created = queriesOf('0003').filter((query) => query.includes('create table cart_items'))
  const rebuilt = queriesOf('0051').filter((query) => query.includes('create table carts_by_order'))
  expect([created.length, rebuilt.length]).toEqual([1, 1])
  await run([
    'create table old_carts as select * from carts',
    'create table old_items as select * from cart_items',
    'drop view carts',
    'drop view cart_items',
    'alter table orders drop column cart',
    ...created,
    ...rebuilt,
    'alter table carts_by_order rename to carts',
    'insert into carts select * from old_carts',
    'insert into cart_items select * from old_items',
    'drop table old_carts',
    'drop table old_items',
  ])
}

let shop: Shop
let order: string
beforeEach(async () => {
  shop = await seedShop()
  const bought = [
    { product: 'Day ticket', variant: 'Child', location: 'North', options: ['Vegan'], quantity: 2, unit_price: 225 },
    { product: 'Parking', quantity: 1, unit_price: 0 },
  ]
  ;[order = ''] = await givenOrders(shop, [anOrder({ coupon_code: 'SUMMER', discount: 5, items: bought }), anOrder()])
})

it('the migration of carts keeps every cart and every line', async () => {
  // Carts and lines of earlier versions have ids of their own, and name each quantity.
  await write(sql`update orders set cart = json_set(cart, '$.items', (
    select json_group_array(json_patch(json_object('id', 'itm_' || substr(orders.id, 5) || line.key, 'quantity', 1), line.value))
      from json_each(orders.cart, '$.items') as line))`)
  await write(sql`update orders set cart = json_set(cart, '$.id', 'crt_' || substr(id, 5)) where id = ${order}`)
  await write(
    sql`update orders set cart = json_set(cart, '$.id', 'crt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8') where id <> ${order}`,
  )
  const [shown, cartsBefore, itemsBefore, schemaBefore] = [
    (await get(`/v1/orders/${order}`)).body,
    await carts(),
    await items(),
    await schema(),
  ]
  expect(cartsBefore).toHaveLength(2)
  expect(itemsBefore).toHaveLength(3)

  await separateCarts()
  await run(queriesOf('0075'))

  expect(await carts()).toEqual(cartsBefore)
  expect(await items()).toEqual(itemsBefore)
  expect(await schema()).toEqual(schemaBefore)
  expect((await get(`/v1/orders/${order}`)).body).toEqual(shown)
  expect(shown.cart).toMatchObject({ coupon_code: 'SUMMER', subtotal: 450, discount: 5, total: 445 })
  expect(shown.cart.items[0]).toMatchObject({ variant: { name: 'Child' }, options: [{ name: 'Vegan' }], quantity: 2 })
})

it('the version before can write carts as tables, and the order shows them', async () => {
  const { cart: before } = (await get(`/v1/orders/${order}`)).body
  const [row] = await db.all(sql<object>`select * from carts where order_id = ${order}`)
  const lines = await db.all(sql<object>`select * from cart_items where order_id = ${order} order by position`)
  await write(
    sql`delete from cart_items where order_id = ${order}`,
    sql`delete from carts where order_id = ${order}`,
    sql`update orders set cart = '{}' where id = ${order}`,
  )
  const columns = (of: object | undefined) => sql.raw(Object.keys(of ?? {}).join(', '))
  const values = (of: object | undefined) =>
    sql.join(
      Object.values({ ...of }).map((value) => sql`${value}`),
      sql`, `,
    )
  const id = 'crt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
  await write(
    sql`insert into carts (${columns(row)}) values (${values({ ...row, id })})`,
    ...lines.map((line) => sql`insert into cart_items (${columns(line)}) values (${values(line)})`),
  )
  expect((await get(`/v1/orders/${order}`)).body.cart).toEqual({ ...before, id })

  await write(
    sql`update carts set coupon_code = null, subtotal_minor = 7 where order_id = ${order}`,
    sql`delete from cart_items where order_id = ${order}`,
  )
  const { cart: after } = (await get(`/v1/orders/${order}`)).body
  expect(after).toMatchObject({ id, coupon_code: null, subtotal: 0.07, discount: before.discount, items: [] })
})

it('a cart that states nothing is empty, and has the id of its order', () => {
  expect(cartOf({ id: 'ord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', amount_minor: 5, cart: {} })).toMatchObject({
    id: 'crt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    coupon_code: null,
    tax_minor: 0,
    total_minor: 5,
  })
})
