import { describe, expect, it } from 'vitest'
import { get, patch, type Reply } from '../../support/api.ts'
import { serveStripeToEachTest } from '../../support/each-stripe.ts'
import type { FakeStripe } from '../../support/fake-stripe.ts'
import {
  givenEditionMember,
  importPaidOrder,
  payDue,
  payWith,
  refundOrder,
  seedSibling,
  seedStripeShop,
  type StripeShop,
} from '../../support/payment-references.ts'
import { loadRefundRow } from '../../support/refund-payments.ts'
import { actOnRefund, requestRefund } from '../../support/refunds.ts'
import { givenMember } from '../../support/seeding/members.ts'

let fake: FakeStripe
serveStripeToEachTest((stripe) => {
  fake = stripe
})

const oneAnswer = 'The provider does not know this payment, or a role of the organisation has to approve it.'

const readFailure = async (id: string, token?: string) => {
  const { body } = await get(`/v1/refund-requests/${id}`, token)
  return { status: body.status, code: body.failure_code, message: body.failure_message }
}

describe('a payment of which several editions have an order', () => {
  it('is paid back only after a role of the organisation approved it, to whichever edition', async () => {
    const shop = await seedStripeShop()
    const owner = await seedSibling(shop)
    const payment = payWith(fake, 10_000)
    const early = await importPaidOrder(shop, payment.id)
    const owned = await importPaidOrder(owner, payment.id)
    const intruder = await givenEditionMember(shop, 'admin')
    const manager = await givenEditionMember(owner)
    expect((await refundOrder(early.order, {}, intruder.token)).row.status).toBe('failed')
    const { row } = await refundOrder(owned.order, {}, manager.token)
    expect(await readFailure(row.id, manager.token)).toEqual({
      status: 'failed',
      code: 'payment_not_found',
      message: oneAnswer,
    })
    expect(fake.store.paidBack(payment.id)).toBe(0)
    const admin = await givenMember({ id: shop.organization_id }, 'manager')
    expect((await readFailure(row.id, admin.token)).message).toContain('Another edition of the organisation')
    expect((await actOnRefund(row.id, 'retry', {}, admin.token)).status).toBe(200)
    await payDue()
    expect((await loadRefundRow(row.id)).status).toBe('completed')
    expect(fake.store.paidBack(payment.id)).toBe(10_000)
    // The approval of one refund is none of the next.
    expect((await refundOrder(early.order, {}, intruder.token)).row.status).toBe('failed')
  })

  it('is not approved at once for a role of the organisation either', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    const { order } = await importPaidOrder(shop, payment.id)
    await importPaidOrder(await seedSibling(shop), payment.id)
    await patch(`/v1/organizations/${shop.organization_id}`, { refund_policy: { auto_approve_below: 1000 } })
    const { body } = await requestRefund({ order_id: order })
    expect(body.status).toBe('pending')
    await actOnRefund(body.id, 'approve')
    await payDue()
    expect((await loadRefundRow(body.id)).status).toBe('completed')
  })

  it('has the same answer in lists, for viewers, and by every role of the edition', async () => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    await importPaidOrder(shop, payment.id)
    const other = await seedSibling(shop)
    const foreign = await importPaidOrder(other, payment.id)
    const manager = await givenEditionMember(other)
    await refundOrder(foreign.order, {}, manager.token)
    for (const role of ['admin', 'manager', 'viewer'] as const) {
      const { token } = await givenEditionMember(other, role)
      const { body } = await get(`/v1/refund-requests?edition_id=${other.edition_id}`, token)
      expect(body.results).toMatchObject([{ failure_code: 'payment_not_found', failure_message: oneAnswer }])
    }
  })

  it('keeps the message about a reference that no payment can have', async () => {
    const shop = await seedStripeShop()
    const { order } = await importPaidOrder(shop, 'order-17')
    const { token } = await givenEditionMember(shop)
    const { row } = await refundOrder(order, {}, token)
    expect((await readFailure(row.id, token)).message).toContain('is not a Stripe payment id')
  })
})

describe('a key that may not read payments', () => {
  /** Seeds a payment that one edition has by one name and another by the other name. */
  async function seedTwins(name: 'intent' | 'charge') {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 10_000)
    const names = name === 'intent' ? [payment.id, payment.charge] : [payment.charge, payment.id]
    const other = await seedSibling(shop)
    const foreign = await importPaidOrder(other, names[0] ?? '')
    await importPaidOrder(shop, names[1] ?? '')
    fake.allowReading(false)
    return { shop, other, payment, foreign }
  }

  const readShown = ({ body }: Reply) => [body.failure_code, body.failure_message]

  it.each([
    ['intent', 'rak_payment_intent_read'],
    ['charge', 'rak_charge_read'],
  ] as const)('pays nothing that another edition may have by the other name: %s', async (name, permission) => {
    const { other, payment, foreign } = await seedTwins(name)
    const { token } = await givenEditionMember(other)
    const { row } = await refundOrder(foreign.order, {}, token)
    const path = `/v1/refund-requests/${row.id}`
    expect(readShown(await get(path))).toEqual(['account_not_ready', expect.stringContaining(permission)])
    const shownToEdition = await get(path, token)
    expect(readShown(shownToEdition)).toEqual(['payment_not_found', oneAnswer])
    // A role of the organisation has to give the key the permission first.
    await actOnRefund(row.id, 'retry')
    await payDue()
    expect(readShown(await get(path))).toEqual(['account_not_ready', expect.stringContaining(permission)])
    expect([fake.store.paidBack(payment.id), fake.calls().map((call) => call.payment)]).toEqual([
      0,
      expect.not.arrayContaining([payment.id, payment.charge]),
    ])
    fake.allowReading(true)
    await actOnRefund(row.id, 'retry')
    await payDue()
    expect(await loadRefundRow(row.id)).toMatchObject({ status: 'completed', is_failure_hidden: false })
  })

  it('answers a role of the edition as for a payment that nobody knows', async () => {
    const { other, foreign } = await seedTwins('intent')
    const unknown = await importPaidOrder(other, 'pi_nobodyKnowsThisOne')
    const { token } = await givenEditionMember(other)
    const views = []
    for (const { order } of [foreign, unknown]) {
      const { row } = await refundOrder(order, {}, token)
      views.push(readShown(await get(`/v1/refund-requests/${row.id}`, token)))
    }
    expect(views[0]).toEqual(views[1])
  })

  it('pays where all references of the other editions have the same form', async () => {
    const shop = await seedStripeShop()
    const [payment, other] = [payWith(fake, 10_000), payWith(fake, 10_000)]
    const { order } = await importPaidOrder(shop, payment.id)
    await importPaidOrder(shop, other.charge)
    await importPaidOrder(await seedSibling(shop), other.id)
    fake.allowReading(false)
    expect((await refundOrder(order)).row.status).toBe('completed')
  })
})

describe('auto_approve_below of orders that share a payment', () => {
  const seedSharedOrders = async (): Promise<{ shop: StripeShop; orders: string[] }> => {
    const shop = await seedStripeShop()
    const payment = payWith(fake, 20_000)
    const orders = []
    for (let index = 0; index < 4; index++) orders.push((await importPaidOrder(shop, payment.id, 50)).order)
    await patch(`/v1/organizations/${shop.organization_id}`, { refund_policy: { auto_approve_below: 60 } })
    return { shop, orders }
  }

  it('counts them together', async () => {
    const { orders } = await seedSharedOrders()
    const statuses = []
    for (const order_id of orders) statuses.push((await requestRefund({ order_id, amount: 25 })).body.status)
    expect(statuses).toEqual(['approved', 'approved', 'pending', 'pending'])
  })

  it('counts requests that come at the same time', async () => {
    const { orders } = await seedSharedOrders()
    const replies = await Promise.all(orders.map((order_id) => requestRefund({ order_id, amount: 25 })))
    expect(replies.map(({ body }) => body.status).toSorted()).toEqual(['approved', 'approved', 'pending', 'pending'])
  })

  it('counts the purchases of one order that are refunded at the same time', async () => {
    const shop = await seedStripeShop()
    const { order, purchases } = await importPaidOrder(shop, payWith(fake, 20_000).id, 50, {
      items: [{ product: 'Day ticket', quantity: 4, unit_price: 50 }],
    })
    expect(order).toBeTruthy()
    await patch(`/v1/organizations/${shop.organization_id}`, { refund_policy: { auto_approve_below: 60 } })
    const replies = await Promise.all(purchases.map((purchase_id) => requestRefund({ purchase_id, amount: 25 })))
    expect(replies.map(({ body }) => body.status).toSorted()).toEqual(['approved', 'approved', 'pending', 'pending'])
  })
})
