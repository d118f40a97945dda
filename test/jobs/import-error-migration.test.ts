import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { aBadRow, aRow, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { runToEnd } from '../support/staged-imports.ts'

it('the migration of rows with errors counts those of imports that are staged, run and ended', async () => {
  const shop = await seedShop()
  const refused = { 'order.external_id': 'REFUSED', 'customer.email': 'refused@example.dk' }
  const rows = [aRow(), aBadRow(refused), aRow(refused), aBadRow()]
  const [staged, ended] = [await seedStarted(shop, rows), await seedStarted(await seedShop(), rows)]
  await runToEnd(ended)
  const counts = () => db.all(sql`select * from import_row_errors order by import_id`)
  const before = await counts()
  expect(before).toEqual([{ import_id: ended, rows_count: 1 }])

  const { queries = [] } = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0122')) ?? {}
  const triggers = ['import_rows_with_errors_changed', 'import_rows_deleted']
  await env.DB.batch(
    [...triggers.map((name) => `drop trigger ${name}`), 'drop table import_row_errors', ...queries].map((query) =>
      env.DB.prepare(query),
    ),
  )

  expect(await counts()).toEqual(before)
  for (const [id, count] of [
    [staged, 2],
    [ended, 3],
  ] as const)
    expect((await get(`/v1/data-imports/${id}/rows?has_errors=true`)).body).toMatchObject({ count })
})
