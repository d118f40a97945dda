import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { get, type Reply } from '../../support/api.ts'
import {
  actOnRefund,
  requestRefund,
  expectCountersToBeSums,
  payDueRefunds,
  loadRefundRows,
} from '../../support/refunds.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { seedShopWithAccount, type BoughtOrder, givenOrder } from '../../support/seeding/sales/orders.ts'

checkSalesCounts()

type Amount = 'all' | 'half' | 'a cent too much' | number

type Operation =
  | { do: 'ask'; target: number; amount: Amount; fees: boolean; cancel: boolean }
  | { do: 'approve'; which: number; part: number }
  | { do: 'reject' | 'cancel' | 'retry'; which: number }
  | { do: 'pay' }

/** The cents decide the result at the test provider: 1 and 4 fail, and others are paid. */
const amount = fc.constantFrom<Amount[]>('all', 'half', 'a cent too much', 0, 10, 20.01, 33.33, 50.04)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      target: fc.nat({ max: 4 }),
      amount,
      fees: fc.boolean(),
      cancel: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      which: fc.nat({ max: 5 }),
      part: fc.constantFrom(1, 1, 0.5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('reject', 'cancel', 'retry'), which: fc.nat({ max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pay' as const) }) },
)

const expectedStatuses = [200, 201, 400, 409]

async function askOne(bought: BoughtOrder, { target, amount: asked, fees, cancel }: Extract<Operation, { do: 'ask' }>) {
  const purchase = bought.purchases[target]
  const [path, named] = purchase
    ? [`/v1/purchases/${purchase}`, { purchase_id: purchase }]
    : [`/v1/orders/${bought.order}`, target === 3 ? { order_id: bought.order } : { transaction_id: bought.payment }]
  const max = (await get(path)).body.max_available_refund_amount
  const inCents = {
    all: Math.round(max * 100),
    half: Math.floor(max * 50),
    'a cent too much': Math.round(max * 100) + 1,
  }
  const sum = typeof asked === 'number' ? asked : inCents[asked] / 100
  const reply = await requestRefund({ ...named, amount: sum, include_fees: fees, cancel_purchase: cancel })
  return { reply, isShown: !fees && asked === 'all' && max > 0 }
}

async function run(bought: BoughtOrder, what: Operation): Promise<{ reply: Reply; isShown: boolean } | null> {
  if (what.do === 'ask') return askOne(bought, what)
  if (what.do === 'pay') {
    await payDueRefunds()
    return null
  }
  const refunds = await loadRefundRows(bought.shop)
  const refund = refunds[what.which % Math.max(1, refunds.length)]
  if (!refund) return null
  const body = what.do === 'approve' ? { amount: Math.floor(refund.requested_minor * what.part) / 100 } : {}
  return { reply: await actOnRefund(refund.id, what.do, body), isShown: false }
}

describe('simultaneous refunds of an order', () => {
  it('keep the counters equal to their sums and never exceed the payment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(operation, fc.option(operation)), { minLength: 4, maxLength: 9 }),
        fc.constantFrom(0, 40),
        async (steps, discount) => {
          const shop = await seedShopWithAccount('test')
          const bought = await givenOrder(shop, {
            discount,
            service_fee: 12.5,
            items: [
              { product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 20, handling_fee: 5 },
              { product: 'Camping', quantity: 1, unit_price: 33.33 },
            ],
          })
          for (const [first, and] of steps) {
            const replies = await Promise.all([run(bought, first), ...(and ? [run(bought, and)] : [])])
            for (const reply of replies) if (reply) expect(expectedStatuses).toContain(reply.reply.status)
            // Without a simultaneous request the shown amount is accepted.
            if (!and && replies[0]?.isShown) expect(replies[0].reply.status).toBe(201)
            await expectCountersToBeSums(shop)
          }
        },
      ),
      { numRuns: 6 },
    )
  })
})
