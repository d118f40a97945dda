import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const rows = () => db.all(sql<{ user_id: string }>`select * from user_editions order by edition_id, user_id`)
const schema = () =>
  db.all(sql`select type, name, sql from sqlite_master where tbl_name in ('edition_customers', 'user_editions')
    or name = 'given_texts' order by type, name`)
const counts = () => db.all(sql`select * from order_counts order by span_bits, edition_id, span`)

async function seedShared() {
  const shop = await seedShop()
  await importOrders(shop, [anOrder({ customer: { email: 'kept@example.dk', first_name: 'Ægir' } }), anOrder()])
  const { body } = await get(`/v1/user?organization_id=${shop.organization_id}&search=kept`)
  const user = body.results[0].id as string
  const sibling = await seedSibling({ organization: shop.organization_id }, user)
  return { shop, user, sibling }
}

/** The table of the version before, with the rows of the view in its place. */
const tableBefore = [
  'create table user_editions_before as select * from user_editions',
  'drop view given_texts',
  'drop view user_editions',
  'drop table edition_customers',
  'create view given_texts as select id as user_id, search as text from users',
  'drop index editions_by_short_id',
  'alter table editions drop column short_id',
  `create table user_editions (
    edition_id text not null references editions (id),
    user_id text not null references users (id),
    created_at integer not null, email text, phone_number text, first_name text not null default '',
    last_name text not null default '', locale text, name_folded text not null default '',
    email_folded text not null default '', phone_digits text not null default '', counted_together integer not null default 0,
    primary key (edition_id, user_id)
  ) strict, without rowid`,
  'insert into user_editions select * from user_editions_before',
  'drop table user_editions_before',
]

it('the migration keeps every customer of every edition, and what counts and finds them', async () => {
  const { shop } = await seedShared()
  const before = await Promise.all([rows(), schema(), counts()])
  expect(before[0].length).toBeGreaterThan(2)
  const queries = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0100'))?.queries ?? []
  await env.DB.batch([...tableBefore, ...queries].map((query) => env.DB.prepare(query)))
  expect(await Promise.all([rows(), schema(), counts()])).toEqual(before)
  expect(await db.all(sql`pragma foreign_key_check`)).toEqual([])
  const { body } = await get(`/v1/user?edition_id=${shop.edition_id}&search=kept`)
  expect(body.count).toBe(1)
})

it('the version before reads, adds, changes and removes customers of editions', async () => {
  const { shop, user, sibling } = await seedShared()
  const place = sql`edition_id = ${shop.edition_id} and user_id = ${user}`
  const found = () => db.first(sql<{ email: string | null }>`select email from user_editions where ${place}`)
  expect(await found()).toEqual({ email: 'kept@example.dk' })
  await write(sql`update user_editions set email = null, email_folded = '' where ${place}`)
  expect(await found()).toEqual({ email: null })
  const countOf = () =>
    db.first(sql`select sum(customers) as n from order_counts where span_bits = 29 and edition_id = ${sibling}`)
  expect(await countOf()).toEqual({ n: 1 })
  await write(sql`delete from user_editions where edition_id = ${sibling} and user_id = ${user}`)
  expect(await countOf()).toEqual({ n: 0 })
  await write(sql`insert into user_editions (edition_id, user_id, created_at) values (${sibling}, ${user}, 1)`)
  expect(await countOf()).toEqual({ n: 1 })
})
