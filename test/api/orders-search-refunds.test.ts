import { expect, it } from 'vitest'
import { get, rootToken } from '../support/api.ts'
import { actOnRefund, payDueRefunds, requestPurchaseRefund, requestRefund } from '../support/refunds.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrder, seedShopWithAccount } from '../support/seeding/sales/orders.ts'

it('finds an order and its refund requests by the id of each transaction, for every caller and scope', async () => {
  const shop = await seedShopWithAccount('test')
  const members = await Promise.all([
    givenMember({ id: shop.organization_id }, 'viewer'),
    givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id),
  ])
  const bought = await givenOrder(shop)
  const other = await givenOrder(shop)
  const refund = async (refundReply: Awaited<ReturnType<typeof requestRefund>>) => {
    expect((await actOnRefund(refundReply.body.id, 'approve')).status).toBe(200)
    await payDueRefunds()
    return refundReply.body.id as string
  }
  const first = await refund(
    await requestPurchaseRefund(bought.purchases[0] ?? '', { amount: 10, cancel_purchase: true }),
  )
  await bought.again({ order_number: 'A-77' })
  const second = await refund(await requestRefund({ order_id: bought.order }))
  await refund(await requestRefund({ order_id: other.order }))
  const { transactions } = (await get(`/v1/orders/${bought.order}`)).body
  expect(transactions.map(({ type }: { type: string }) => type).toSorted()).toEqual(['payment', 'refund', 'refund'])
  for (const token of [rootToken, ...members.map((member) => member.token)])
    for (const scope of [{ edition_id: shop.edition_id }, { organization_id: shop.organization_id }])
      for (const { id } of transactions)
        for (const search of [id, id.toLowerCase(), id.slice(4)]) {
          const query = new URLSearchParams([...Object.entries(scope), ['search', search]]).toString()
          const list = async (path: string) =>
            (await get(`${path}?${query}`, token)).body.results.map((item: { id: string }) => item.id).toSorted()
          expect([search, await list('/v1/orders')]).toEqual([search, [bought.order]])
          expect([search, await list('/v1/refund-requests')]).toEqual([search, [first, second].toSorted()])
        }
})
