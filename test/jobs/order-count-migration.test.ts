import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { lengthsOfSpans } from '../../src/db/edition-counts.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedManyOrders } from '../support/seeding/many-orders.ts'
import { givenOrder, seedShop } from '../support/seeding/sales/orders.ts'

/** What is counted since the migration is of the changes that it makes itself. */
const counts = async () =>
  (
    await db.all(
      sql<{
        purchase_changes?: number
        sort_changes?: number
        orders?: number
      }>`select * from order_counts order by span_bits, edition_id, span`,
    )
  ).map(({ purchase_changes: _, sort_changes: __, orders: ___, ...row }) => row)
const schema = () =>
  db.all(
    sql`select type, name, sql from sqlite_master where tbl_name in ('order_counts', 'orders') order by type, name`,
  )

const queriesOf = (number: string) => env.TEST_MIGRATIONS.find(({ name }) => name.startsWith(number))?.queries ?? []
const declared = (number: string, begin: string) =>
  queriesOf(number).filter((query) => query.trimStart().startsWith(begin))

/** The table and the triggers of the version before, with its rows. */
const versionBefore = () => [
  ...['order_counts_added_up', 'order_counts_added_up_anew', 'orders_recounted', 'orders_moved'].map(
    (name) => `drop trigger ${name}`,
  ),
  'create table kept as select * from order_counts where span_bits in (21, 29)',
  'drop table order_counts',
  ...queriesOf('0060').filter((query) => query.includes('create table order_counts')),
  ...declared('0079', 'alter table order_counts'),
  ...queriesOf('0128').filter((query) => query.includes('alter table order_counts')),
  `insert into order_counts select span_bits, edition_id, span, pending_online, pending_in_person, pending_imported,
    confirmed_online, confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported,
    cancelled_online, cancelled_in_person, cancelled_imported, changes, customers, purchases_pending, purchases_active,
    purchases_used, purchases_refunded, purchases_expired, purchases_cancelled, purchases from kept`,
  'drop table kept',
  ...declared('0060', 'create trigger orders_recounted'),
]
const run = (queries: readonly string[]) => env.DB.batch(queries.map((query) => env.DB.prepare(query)))

it('the migration keeps all counts and adds them up to the new lengths of spans', async () => {
  const shop = await seedShop()
  await givenOrder(shop)
  await seedManyOrders(shop, 800)
  await write(sql`update orders set status = 'cancelled' where edition_id = ${shop.edition_id} and seq % 3 = 0`)
  const before = await Promise.all([counts(), schema()])
  for (const bits of lengthsOfSpans)
    expect(await db.all(sql`select 1 from order_counts where span_bits = ${bits}`)).not.toEqual([])

  await run(versionBefore())
  expect(await counts()).not.toEqual(before[0])
  // Those that follow count purchases by status in the new lengths, too, and their changes.
  const added = [...queriesOf('0331'), ...queriesOf('0332'), ...queriesOf('0360')].filter((query) =>
    ['order_counts_added_up', 'order_counts_dense', 'add column'].some((text) => query.includes(text)),
  )
  await run([...queriesOf('0170'), ...queriesOf('0200'), ...added])

  expect(await Promise.all([counts(), schema()])).toEqual(before)
})
