import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { get } from '../../support/api.ts'
import { describeRefusal } from '../../support/imported-orders.ts'
import { actOnBatch, workUntilDone } from '../../support/refund-batches.ts'
import { actOnRefund, requestRefund } from '../../support/refunds.ts'
import { db } from '../../support/seeding/rows.ts'
import { anOrder, givenOrder, importOrders, seedShop, seedShopWithAccount } from '../../support/seeding/sales/orders.ts'
import { makeBatch } from '../../support/seeding/sales/refund-batches.ts'

const toMinor = (amount: number) => Math.round(amount * 100)

const item = fc.record({
  product: fc.constantFrom('Day ticket', 'Parking', 'Camping'),
  quantity: fc.integer({ min: 1, max: 3 }),
  unit_price: fc.constantFrom(0, 0.01, 33.33, 100),
  deposit: fc.constantFrom(0, 0, 7.77),
  handling_fee: fc.constantFrom(0, 0, 2.5),
  status: fc.constantFrom(undefined, undefined, undefined, 'cancelled'),
})

const contents = fc.record({
  items: fc.array(item, { minLength: 1, maxLength: 3 }),
  service_fee: fc.constantFrom(0, 12.5),
  discountShare: fc.double({ min: 0, max: 1, noNaN: true }),
})
type Contents = ReturnType<typeof contents.generate>['value_']

/** The order that a source sends, with a part of its total as a discount. */
function buildContents({ items, service_fee, discountShare }: Contents) {
  const prices = items
    .filter(({ status }) => status !== 'cancelled')
    .map((one) => one.quantity * toMinor(one.unit_price + one.deposit + one.handling_fee))
  const total = prices.reduce((sum, price) => sum + price, toMinor(service_fee))
  return { items, service_fee, discount: Math.floor(total * discountShare) / 100 }
}

const options = { part: fc.constantFrom(1, 0.37), fees: fc.boolean(), cancel: fc.boolean() }
const step = fc.oneof(
  fc.record({ kind: fc.constant('update'), contents }),
  fc.record({ kind: fc.constant('purchase'), target: fc.nat({ max: 9 }), ...options }),
  fc.record({ kind: fc.constant('order'), ...options }),
  fc.record({ kind: fc.constant('batch'), ...options }),
)

describe('refunds of an order whose source changes it between them', () => {
  it('give back what was paid and no cent more', async () => {
    const run = fc.asyncProperty(contents, fc.array(step, { maxLength: 7 }), async (first, steps) => {
      const shop = await seedShopWithAccount('manual')
      const order = anOrder({ created: '2026-01-01T10:00:00Z' })
      const takeOver = async (changed: Contents) => {
        const sent = [{ ...order, ...buildContents(changed) }]
        return (await importOrders(shop, sent, { on_duplicate: 'update' })).body.results[0]
      }
      const { order_id } = await takeOver(first)
      const loadPayment = () =>
        db.first(
          sql<{ paid: number; refunded: number }>`select amount_minor as paid, refunded_minor as refunded
            from transactions where order_id = ${order_id} and type = 'payment'`,
        )
      const refund = async (target: object, path: string, { part, fees, cancel }: Record<string, unknown>) => {
        const { max_available_refund_amount: max } = (await get(path)).body
        const amount = part === 1 ? {} : { amount: Math.floor(toMinor(max) * Number(part)) / 100 }
        const reply = await requestRefund({ ...target, ...amount, include_fees: fees, cancel_purchase: cancel })
        if (reply.status === 201) expect((await actOnRefund(reply.body.id, 'approve')).status).toBe(200)
        else expect([400, 409]).toContain(reply.status)
      }
      for (const one of steps) {
        if ('contents' in one) await takeOver(one.contents)
        else if (one.kind === 'batch') {
          const amount = one.part === 1 ? {} : { amount: 'percent', percent: 37 }
          const { body } = await makeBatch(shop, { ...amount, include_fees: one.fees, cancel_purchases: one.cancel })
          await actOnBatch(body.id, 'start')
          await workUntilDone(body.id)
        } else if ('target' in one) {
          const { purchases } = (await get(`/v1/orders/${order_id}`)).body
          const { id } = purchases[one.target % purchases.length]
          await refund({ purchase_id: id }, `/v1/purchases/${id}`, one)
        } else await refund({ order_id }, `/v1/orders/${order_id}`, one)
        const { paid, refunded } = (await loadPayment()) ?? { paid: 0, refunded: 1 }
        expect(refunded).toBeLessThanOrEqual(paid)
      }
      await refund({ order_id }, `/v1/orders/${order_id}`, { part: 1, fees: true, cancel: true })
      const { paid, refunded } = (await loadPayment()) ?? { paid: 0, refunded: 1 }
      expect(refunded).toBe(paid)
    })
    await fc.assert(run, { numRuns: 15 })
  })
})

describe('an order with a discount', () => {
  it('costs nothing when the discount is its whole total, and neither do free tickets', async () => {
    const items = [
      { product: 'Child', quantity: 2, unit_price: 0 },
      { product: 'Adult', quantity: 3, unit_price: 3.33 },
    ]
    const { order } = await givenOrder(await seedShop(), { items, discount: 9.99 })
    const { body } = await get(`/v1/orders/${order}`)
    const listAmounts = (one: Record<string, number>) => [one.price_paid, one.max_available_refund_amount]
    expect([body.amount, ...body.purchases.map(listAmounts)]).toEqual([0, ...Array.from({ length: 5 }, () => [0, 0])])
    expect((await requestRefund({ order_id: order })).body.code).toBe('nothing_to_refund')
  })

  it('takes nothing off free and cancelled tickets', async () => {
    const items = [
      { product: 'Free', quantity: 2, unit_price: 0 },
      { product: 'Paid', quantity: 1, unit_price: 100 },
      { product: 'Back', quantity: 1, unit_price: 100, status: 'cancelled' },
    ]
    const { order } = await givenOrder(await seedShop(), { items, discount: 50 })
    const { purchases } = (await get(`/v1/orders/${order}`)).body
    const prices = purchases.map((one: { product: { name: string }; price_paid: number }) => [
      one.product.name,
      one.price_paid,
    ])
    expect(Object.fromEntries(prices)).toEqual({ Free: 0, Paid: 50, Back: 0 })
  })

  it.each([
    [{ discount: 100.01 }, 'negative_amount #/orders/0/discount'],
    [{ discount: -1 }, 'min_value #/orders/0/discount'],
    [{ currency: 'jpy' }, 'invalid_choice #/orders/0/currency'],
    [{ currency: 'kwd' }, 'invalid_choice #/orders/0/currency'],
    [{ discount: 0.001 }, 'max_decimal_places #/orders/0/discount'],
  ])('is refused with %o', async (change, fault) => {
    const items = [{ product: 'Day ticket', quantity: 1, unit_price: 100 }]
    expect(await describeRefusal(await seedShop(), { items, ...change })).toEqual([fault])
  })
})
