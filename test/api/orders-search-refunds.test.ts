import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get, rootToken } from '../support/api.ts'
import { actOnRefund, payDueRefunds, requestPurchaseRefund, requestRefund } from '../support/refunds.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { givenOrder, seedShopWithAccount } from '../support/seeding/sales/orders.ts'

it('finds an order and its refund requests by the transaction of every refund, for every caller and scope', async () => {
  const shop = await seedShopWithAccount('test')
  const tokens = [
    rootToken,
    (await givenMember({ id: shop.organization_id }, 'viewer')).token,
    (await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)).token,
  ]
  const bought = await givenOrder(shop)
  await givenOrder(shop)
  const first = await requestPurchaseRefund(bought.purchases[0] ?? '', { amount: 10, cancel_purchase: true })
  await actOnRefund(first.body.id, 'approve')
  await payDueRefunds()
  await bought.again({ order_number: 'A-77', refunded_amount: 20 })
  const second = await requestRefund({ order_id: bought.order })
  await actOnRefund(second.body.id, 'approve')
  await payDueRefunds()
  const { transactions } = (await get(`/v1/orders/${bought.order}`)).body
  const ids = transactions.map(({ id }: { id: string }) => id)
  expect(ids).toHaveLength(3)
  const rows: unknown[] = await db.all(sql`select id, search_text from orders where edition_id=${shop.edition_id}`)
  console.log(JSON.stringify(rows), ids)
  for (const token of tokens)
    for (const scope of [{ edition_id: shop.edition_id }, { organization_id: shop.organization_id }, {}])
      for (const search of ids) {
        const query = new URLSearchParams({ ...scope, search } as Record<string, string>).toString()
        const orders = await get(`/v1/orders?${query}`, token)
        const refunds = await get(`/v1/refund-requests?${query}`, token)
        console.log(token.slice(0, 8), JSON.stringify(scope), search, orders.status, orders.body.count, refunds.body.count, )
      }
})
