import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { actOnRefund, requestPurchaseRefund, oneTicket } from '../support/refunds.ts'
import { seedShopWithAccount, givenOrder } from '../support/seeding/sales/orders.ts'
import { db } from '../support/seeding/rows.ts'

describe('a refund at a payment service that the API does not call', () => {
  it('completes once a person confirms that it was paid', async () => {
    const shop = await seedShopWithAccount('QuickPay' as 'manual')
    await db.all(sql`update merchant_accounts set type = 'manual', settle_manually = 1 where type = 'QuickPay'`)
    const { purchases } = await givenOrder(shop, oneTicket)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '')
    expect((await actOnRefund(body.id, 'approve')).body.status).toBe('processing')
    expect((await actOnRefund(body.id, 'settle', { reference: 'QuickPay 7' })).status).toBe(200)
  })
})
