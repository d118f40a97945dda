import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { callWith, get, post } from '../../support/api.ts'
import { crashAt } from '../../support/crashes.ts'
import { revert, scan } from '../../support/purchases.ts'
import { actOnRefund, expectCountersToBeSums, loadTransaction, requestRefund } from '../../support/refunds.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { db } from '../../support/seeding/rows.ts'
import { givenOrder, seedShopWithAccount } from '../../support/seeding/sales/orders.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

checkSalesCounts()

type Step =
  | { do: 'scan' | 'revert'; purchase: number }
  | { do: 'refund'; amount: number | undefined; cancels: boolean }
  | { do: 'approve' | 'reject' }
  | { do: 'import'; status: 'completed' | 'cancelled'; units: number }
  | { do: 'cancel'; refund: boolean; accepts: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('scan' as const, 'revert' as const), purchase: fc.nat({ max: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      amount: fc.constantFrom(undefined, 0, 10, 100),
      cancels: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('approve' as const, 'reject' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('import' as const),
      status: fc.constantFrom('completed' as const, 'completed' as const, 'cancelled' as const),
      units: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('cancel' as const), refund: fc.boolean(), accepts: fc.boolean() }),
  },
)

interface World {
  bought: Awaited<ReturnType<typeof givenOrder>>
  uses: { purchase: string; use: string }[]
}

async function run({ bought, uses }: World, one: Step): Promise<number> {
  const { order, purchases } = bought
  switch (one.do) {
    case 'scan': {
      const purchase = purchases[one.purchase] ?? ''
      const { status, body } = await scan(purchase)
      if (status === 201) uses.push({ purchase, use: body.id })
      return status
    }
    case 'revert': {
      const use = uses[one.purchase]
      return use ? (await revert(use.purchase, use.use)).status : 0
    }
    case 'refund':
      return (
        await requestRefund({
          order_id: order,
          cancel_purchase: one.cancels,
          ...(one.amount === undefined ? {} : { amount: one.amount }),
        })
      ).status
    case 'approve':
    case 'reject': {
      const open = await get(`/v1/refund-requests?order_id=${order}&status=pending`)
      const id = open.body.results[0]?.id
      return id ? (await actOnRefund(id, one.do)).status : 0
    }
    case 'import':
      return (
        await bought.again({
          status: one.status,
          items: [{ product: 'Day ticket', quantity: one.units, unit_price: 225 }],
        })
      ).status
    case 'cancel':
      return (
        await post(`/v1/orders/${order}/cancel`, {
          refund: one.refund,
          ...(one.accepts ? { accept: ['used'] } : {}),
        })
      ).status
  }
}

async function expectConsistent({ bought }: World, wasCancelled: boolean): Promise<boolean> {
  const { body } = await get(`/v1/orders/${bought.order}`)
  const statuses: string[] = body.purchases.map(({ status }: { status: string }) => status)
  const isCancelled = body.status === 'cancelled'
  expect(isCancelled || !wasCancelled).toBe(true)
  if (isCancelled) expect(statuses.filter((status) => status === 'active' || status === 'pending')).toEqual([])
  const { refunded_minor, reserved_minor, amount_minor } = await loadTransaction(bought.payment)
  expect(refunded_minor + reserved_minor).toBeLessThanOrEqual(amount_minor)
  await expectCountersToBeSums(bought.shop)
  return isCancelled
}

describe('an order that is cancelled among uses, refunds and imports', () => {
  it('never comes back, has no live purchase, and is never refunded twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.option(step, { nil: null })), { minLength: 2, maxLength: 7 }),
        async (steps) => {
          const shop = await seedShopWithAccount('manual')
          const bought = await givenOrder(shop, { items: [{ product: 'Day ticket', quantity: 2, unit_price: 225 }] })
          const world: World = { bought, uses: [] }
          let wasCancelled = false
          for (const [first, second] of steps) {
            const statuses = await Promise.all([run(world, first), ...(second ? [run(world, second)] : [])])
            expect(Math.max(...statuses)).toBeLessThan(500)
            wasCancelled = await expectConsistent(world, wasCancelled)
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('is cancelled with its refund or not at all when the machine dies at any call', async () => {
    const shop = await seedShopWithAccount('test')
    await db.all(
      sql`update organizations set refund_policy = '{"auto_approve_below":1000000}' where id = ${shop.organization_id}`,
    )
    for (let call = 1; ; call++) {
      const bought = await givenOrder(shop)
      const { bindings, hasCrashed } = crashAt(call)
      await callWith(bindings, `/v1/orders/${bought.order}/cancel`, { method: 'POST', body: { refund: true } }).catch(
        () => undefined,
      )
      const { body } = await get(`/v1/orders/${bought.order}`)
      const statuses = body.purchases.map(({ status }: { status: string }) => status)
      const refunds = (await get(`/v1/refund-requests?order_id=${bought.order}`)).body.results
      const isCancelled = body.status === 'cancelled'
      expect([call, statuses, refunds.length]).toEqual([
        call,
        isCancelled ? ['cancelled', 'cancelled'] : ['active', 'active'],
        isCancelled ? 1 : 0,
      ])
      await expectCountersToBeSums(shop)
      // The sweep finds a refund whose queue message was lost.
      if (isCancelled) expect(refunds[0].status).toMatch(/approved|processing|completed/)
      if (!hasCrashed()) return
    }
  })
})
