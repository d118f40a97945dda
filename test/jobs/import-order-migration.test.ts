import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { db } from '../support/seeding/rows.ts'
import { aRow, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { expectExact, runToEnd } from '../support/staged-imports.ts'

const run = (queries: readonly string[]) => env.DB.batch(queries.map((query) => env.DB.prepare(query)))
const queriesOf = (number: string) => env.TEST_MIGRATIONS.find(({ name }) => name.startsWith(number))?.queries ?? []

const schema = () => db.all(sql`select type, name, sql from sqlite_master where name like 'import_%' order by name`)
const orders = () => db.all(sql`select * from import_orders order by import_id, number`)
const later = () => db.all(sql`select * from import_later_rows order by import_id, number, first_row`)

/** The orders by their numbers, as they were, with the index of rows by key. */
async function ordersByNumber(): Promise<void> {
  const old = queriesOf('0042').filter((query) =>
    /create (table import_orders|index import_rows_of_group|index import_orders_of_order) /.test(query),
  )
  expect(old).toHaveLength(3)
  const columns = 'outcome, order_id, order_version, before, undo_outcome, undo_reason, errors, warnings'
  await run([
    'create table kept_orders as select * from import_orders',
    'drop table import_orders',
    'drop table import_later_rows',
    ...old,
    `insert into import_orders (import_id, number, group_key, first_row, rows_count, ${columns})
      select import_id, number, group_key, number, rows_count, ${columns} from kept_orders`,
    'drop table kept_orders',
  ])
}

it('the migration of staged orders keeps every order, finds its rows, and a started import goes on', async () => {
  const shop = await seedShop()
  const keys = ['A', 'A', 'B', 'A', 'B', 'B', 'C', 'C', null, 'C', 'D']
  const rows = keys.map((key) =>
    key === null
      ? { values: {}, is_ignored: true }
      : aRow({ 'order.external_id': key, 'customer.email': `${key}@example.dk` }),
  )
  const id = await seedStarted(shop, rows)
  const ended = await seedStarted(await seedShop(), rows.slice(0, 6))
  await runToEnd(ended)
  const before = [await schema(), await orders(), await later()]
  expect(before.map(({ length }) => length)).toEqual([expect.any(Number), 6, 5])

  await ordersByNumber()
  await run(queriesOf('0090'))

  expect([await schema(), await orders(), await later()]).toEqual(before)
  await runToEnd(id)
  const { row } = await expectExact(shop, id)
  expect(row).toMatchObject({ status: 'completed', created_orders: 4 })
})
