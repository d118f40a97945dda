import { describe, expect, it } from 'vitest'
import { get, rootToken } from '../support/api.ts'
import { actOnRefund, requestRefund, requestPurchaseRefund, threePurchases } from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedShop, givenOrder } from '../support/seeding/sales/orders.ts'

describe('listRefundRequests', () => {
  it('filters by each parameter', async () => {
    const listShop = await seedShop()
    const bought = await givenOrder(listShop, { order_number: 'A-77', external_id: 'shop-77', ...threePurchases })
    const { body: orderRefund } = await requestRefund({ order_id: bought.order, amount: 10 })
    const { body: single } = await requestPurchaseRefund(bought.purchases[0] ?? '', { reason: 'duplicate', amount: 20 })
    await actOnRefund(single.id, 'reject')
    const findRequests = async (query: string) =>
      (await get(`/v1/refund-requests?edition_id=${listShop.edition_id}&${query}`)).body.results.map(
        ({ id }: { id: string }) => id,
      )
    const order = { id: bought.order, order_number: 'A-77', external_id: 'shop-77' }
    expect([orderRefund.order, single.order]).toEqual([order, order])
    const user = orderRefund.customer.api_id
    for (const query of [
      'search=a-77',
      `order_id=${bought.order}`,
      `customer_id=${user}`,
      `purchase_id=${bought.purchases[0]}`,
    ])
      expect([query, await findRequests(query)]).toEqual([query, [single.id, orderRefund.id]])
    expect(await findRequests('status=rejected')).toEqual([single.id])
    expect(await findRequests('reason=customer_request')).toEqual([orderRefund.id])
    expect(await findRequests(`search=${single.id}`)).toEqual([single.id])
    expect(await findRequests(`purchase_id=${bought.purchases[1]}`)).toEqual([orderRefund.id])
    expect(await findRequests('ordering=requested_amount')).toEqual([orderRefund.id, single.id])
    expect(await findRequests('source=provider')).toEqual([])
  })

  it('finds the requests of an order, a purchase or a customer, and no others of their edition', async () => {
    const shop = await seedShop()
    const one = await givenOrder(shop, threePurchases)
    const { body } = await requestPurchaseRefund(one.purchases[0] ?? '', { amount: 1 })
    const other = await givenOrder(shop, { customer: { email: 'other@example.dk' } })
    await requestPurchaseRefund(other.purchases[0] ?? '', { amount: 1 })
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const filters = [
      `order_id=${one.order}`,
      `purchase_id=${one.purchases[0]}`,
      `customer_id=${body.customer.api_id}`,
      `order_id=${one.order}&status=pending`,
      `purchase_id=${one.purchases[0]}&search=${body.id}`,
    ]
    for (const ordering of ['created', 'modified', '-requested_amount', 'status'])
      for (const filter of filters)
        for (const scope of ['', `edition_id=${shop.edition_id}&`, `organization_id=${shop.organization_id}&`])
          for (const as of [rootToken, token]) {
            const path = `/v1/refund-requests?${scope}${filter}&ordering=${ordering}`
            const reply = await get(path, as)
            expect([path, reply.body.count, reply.body.results[0]?.id]).toEqual([path, 1, body.id])
          }
  })

  it('returns an empty list for an edition of another organization', async () => {
    const shop = await seedShop()
    const { purchases } = await givenOrder(shop)
    await requestPurchaseRefund(purchases[0] ?? '', { amount: 1 })
    const { organization_id } = await seedShop()
    const path = `/v1/refund-requests?edition_id=${shop.edition_id}`
    expect((await get(path)).body.count).toBe(1)
    expect((await get(`${path}&organization_id=${organization_id}`)).body.count).toBe(0)
  })

  it('returns 404 for a page after the last one of a search for two letters', async () => {
    const shop = await seedShop()
    const { purchases } = await givenOrder(shop, { order_number: 'AB-1' })
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 1 })
    const path = `/v1/refund-requests?organization_id=${shop.organization_id}&search=ab`
    expect((await get(path)).body.results.map(({ id }: { id: string }) => id)).toEqual([body.id])
    const past = await get(`${path}&page=3`)
    expect(describeRefusal(past)).toBe('404 invalid_page')
  })
})

describe('getRefundRequest', () => {
  it('returns amounts and allowed actions, and 404 to roles of another edition', async () => {
    const shop = await seedShop()
    const { purchases, order } = await givenOrder(shop)
    const { body: refund } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 100, comment: 'Ill' })
    const path = `/v1/refund-requests/${refund.id}`
    expect((await get(path)).body).toMatchObject({
      status: 'pending',
      order: { id: order },
      purchase: { id: purchases[0] },
      requested_amount: 100,
      approved_amount: null,
      comment: 'Ill',
      allowed_actions: ['approve', 'reject', 'cancel'],
    })
    await actOnRefund(refund.id, 'reject')
    expect((await get(path)).body).toMatchObject({ status: 'rejected', rejection_reason: 'No', allowed_actions: [] })
    const sibling = await seedEdition({ id: shop.organization_id })
    const { token } = await givenMember({ id: shop.organization_id }, 'admin', sibling.id)
    expect((await get(path, token)).status).toBe(404)
  })
})
