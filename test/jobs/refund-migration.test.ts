import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { actOn, expectTotalsToBeSums, sell, worked } from '../support/refund-batches.ts'
import { makeBatch } from '../support/seeding/sales/refund-batches.ts'
import { ask, expectCountersToBeSums, pay, refundsOf } from '../support/refunds.ts'
import { seedShopWithAccount, givenOrder } from '../support/seeding/sales/orders.ts'
import { db } from '../support/seeding/rows.ts'

it('the migration of refund requests keeps every request and all references to them', async () => {
  const shop = await seedShopWithAccount('test')
  await sell(shop, 12)
  const { body } = await makeBatch(shop)
  await actOn(body.id, 'start')
  await worked(body.id)
  await pay()
  const { order } = await givenOrder(shop)
  expect((await ask({ order_id: order })).status).toBe(201)
  const before = await refundsOf(shop)
  const schema = () =>
    db.all(sql`select type, name, sql from sqlite_master where tbl_name = 'refund_requests' or name like '%kept'
      order by type, name`)
  const schemaBefore = await schema()

  const migration = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0046'))
  // Those that change the table after it follow.
  const names = ['0066', '0085', '0127', '0130', '0145', '0175', '0190', '0210', '0250', '0340', '0410']
  const later = env.TEST_MIGRATIONS.filter(({ name }) => names.includes(name.slice(0, 4)))
  const added = later.flatMap((one) =>
    one.queries.filter((query) =>
      / on refund_requests|drop index refund_requests_by|alter table refund_requests add column is_payable/.test(query),
    ),
  )
  const newer = 'alter table refund_requests drop column is_payable'
  const older = ['drop trigger transactions_of_refunds_kept', newer, ...(migration?.queries ?? [])]
  const queries = [...older, 'drop index refund_requests_of_organization', ...added]
  await env.DB.batch(queries.map((query) => env.DB.prepare(query)))

  expect(before).toHaveLength(13)
  expect(await refundsOf(shop)).toEqual(before)
  expect(await schema()).toEqual(schemaBefore)
  expect(await db.all(sql`pragma foreign_key_check`)).toEqual([])
  await expectTotalsToBeSums(body.id)
  await expectCountersToBeSums(shop)
  await expect(db.all(sql`delete from refund_requests where id = ${before[0]?.id}`)).rejects.toThrow('FOREIGN KEY')
})

it('the migration to spans of organisations counts the requests that are there', async () => {
  const [shop, other] = [await seedShopWithAccount('test'), await seedShopWithAccount('test')]
  for (const one of [shop, shop, other]) {
    const { order } = await givenOrder(one)
    expect((await ask({ order_id: order })).status).toBe(201)
  }
  const isTheirs = sql`list = 'organization_refund_requests'`
  const stored = () =>
    db.all(sql`select bits, scope, span, total, key, value from (
        select 28 as bits, scope, span, total, counts from list_spans where ${isTheirs}
        union all select bits, scope, span, total, counts from list_span_parts where ${isTheirs}) as span
      cross join json_each(span.counts) where value <> 0 order by 1, 2, 3, key`)
  const before = await stored()
  expect(before.length).toBeGreaterThan(3)

  // The later one adds up what the other has added up.
  const migrations = env.TEST_MIGRATIONS.filter(({ name }) => /^0340|^0395/.test(name))
  const made = await db.all(sql<{ type: string; name: string }>`select type, name from sqlite_master
    where name like 'organization_refunds_%' or name like 'refund_requests_of_organization%'`)
  expect(made).toHaveLength(11)
  await db.all(sql`delete from list_spans where ${isTheirs}`)
  await db.all(sql`delete from list_span_parts where bits = 34`)
  const queries = [
    ...made.map(({ type, name }) => `drop ${type} ${name}`),
    ...migrations.flatMap((migration) => migration.queries),
  ]
  await env.DB.batch(queries.map((query) => env.DB.prepare(query)))
  expect(await stored()).toEqual(before)
})
