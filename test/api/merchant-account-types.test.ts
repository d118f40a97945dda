import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { act, askFor, oneTicket } from '../support/refunds.ts'
import { seedShopWithAccount, givenOrder } from '../support/seeding/sales/orders.ts'
import { db } from '../support/seeding/rows.ts'

describe('a merchant account whose type was written as free text', () => {
  it.each([
    ['Stripe ', 'stripe', false],
    ['QuickPay', 'manual', true],
    ['manual', 'manual', false],
  ])('%s is %s from the migration on', async (written, type, settle_manually) => {
    const shop = await seedShopWithAccount(written as 'manual')
    const migration = env.TEST_MIGRATIONS.find(({ name }) => name.startsWith('0039'))
    for (const query of migration?.queries.filter((one) => one.includes('update merchant_accounts')) ?? [])
      await env.DB.prepare(query).run()
    const { body } = await get(`/v1/merchant-accounts?organization_id=${shop.organization_id}`)
    expect(body.results).toMatchObject([{ type, settle_manually }])
  })

  it('is paid back by hand once a person confirms it', async () => {
    const shop = await seedShopWithAccount('QuickPay' as 'manual')
    await db.all(sql`update merchant_accounts set type = 'manual', settle_manually = 1 where type = 'QuickPay'`)
    const { purchases } = await givenOrder(shop, oneTicket)
    const { body } = await askFor(purchases[0] ?? '')
    expect((await act(body.id, 'approve')).body.status).toBe('processing')
    expect((await act(body.id, 'settle', { reference: 'QuickPay 7' })).status).toBe(200)
  })
})
