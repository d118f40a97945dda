import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { seedPeople, seedSibling } from '../support/seeding/customers.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

interface Named {
  seq: number
  only_edition_short_id: string | null
}

it('the migration to the only edition of customers names it of those who are there', async () => {
  const shop = await seedShop()
  const organization = shop.organization_id
  const [, shared] = await seedPeople({ organization, edition: shop.edition_id }, [{}, {}, {}])
  await seedPeople({ organization }, [{}])
  await seedSibling({ organization }, shared?.id ?? '')
  const named = () =>
    db.all(
      sql<Named>`select seq, only_edition_short_id from users where organization_id = ${organization} order by seq`,
    )
  const before = await named()
  expect(new Set(before.map((row) => row.only_edition_short_id))).toEqual(new Set([shop.edition_id.slice(-8), null]))
  await write(sql`update users set only_edition_short_id = null where organization_id = ${organization}`)
  const migration = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0400'))
  const fills =
    migration?.queries.filter((query) => query.includes('update users set only_edition_short_id = one')) ?? []
  expect(fills).toHaveLength(1)
  await env.DB.batch(fills.map((query) => env.DB.prepare(query)))
  expect(await named()).toEqual(before)
})
