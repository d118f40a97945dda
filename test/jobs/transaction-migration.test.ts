import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { act, ask } from '../support/refunds.ts'
import { db } from '../support/seeding/rows.ts'
import { givenOrder, seedShop, seedShopWithAccount } from '../support/seeding/sales/orders.ts'
import { seedTrade } from '../support/seeding/sales/trades.ts'

const rows = () => db.all(sql<{ id: string }>`select * from transactions order by id`)
const schema = () =>
  db.all(sql`select type, name, sql from sqlite_master where tbl_name = 'transactions' order by type, name`)

it('the migration of payments keeps every payment and refund, and finds each by its id', async () => {
  const shop = await seedShopWithAccount('manual')
  const { order } = await givenOrder(shop)
  const refund = await ask({ order_id: order })
  await act(refund.body.id, 'approve')
  await seedTrade({ organization: shop.organization_id, edition: shop.edition_id })
  const [before, schemaBefore] = [await rows(), await schema()]
  const paid = before.filter(({ id }) => id === `trx_${order.slice(4)}`)
  expect([before.length > 1, paid.length]).toEqual([true, 1])

  const queries = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0101'))?.queries ?? []
  // A later migration changes the table after it.
  const later = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0410'))?.queries ?? []
  const added = later.filter((query) => query.includes('transactions'))
  await env.DB.batch([...queries, ...added].map((query) => env.DB.prepare(query)))

  expect(await rows()).toEqual(before)
  expect(await schema()).toEqual(schemaBefore)
  expect(await db.all(sql`pragma foreign_key_check`)).toEqual([])
  for (const { id } of before) {
    const { body } = await get(`/v1/orders?edition_id=${shop.edition_id}&transaction_id=${id}`)
    expect([id, body.count]).toEqual([id, 1])
  }
})

it('the index of ids has the payments whose id is not made of that of their order, and no others', async () => {
  const shop = await seedShop()
  const { order } = await givenOrder(shop)
  const seeded = await seedTrade({ organization: shop.organization_id, edition: shop.edition_id })
  const ofIndex = await db.all(sql`select id from transactions indexed by transactions_by_id
    where substr(id, 5) <> substr(order_id, 5)`)
  expect(ofIndex).toContainEqual({ id: seeded.transaction })
  const paid = (await get(`/v1/orders/${order}`)).body.transactions[0].id
  expect([paid, ofIndex]).toEqual([`trx_${order.slice(4)}`, expect.not.arrayContaining([{ id: paid }])])
})
