import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

async function seedShared() {
  const shop = await seedShop()
  await importOrders(shop, [anOrder({ customer: { email: 'kept@example.dk', first_name: 'Ægir' } }), anOrder()])
  const { body } = await get(`/v1/user?organization_id=${shop.organization_id}&search=kept`)
  const user = body.results[0].id as string
  const sibling = await seedSibling({ organization: shop.organization_id }, user)
  return { shop, user, sibling }
}

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
