import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { merchantAccounts } from '../../src/db/schema/merchant-accounts.ts'
import { update } from '../../src/db/write.ts'
import { refundLifecycle, type RefundStatus } from '../../src/domain/refunds/refunds.ts'
import { sealSecrets } from '../../src/modules/merchant-accounts/secrets.ts'
import { get, type Reply } from './api.ts'
import { createContextAt, testConfig } from './context.ts'
import { type Conduct, createFakeStripe, type FakePayment, type FakeStripe } from './fake-stripe.ts'
import { scan } from './purchases.ts'
import { createRefundEngine } from './refund-payments.ts'
import { actOnRefund, requestRefund, loadRefundRows } from './refunds.ts'
import { randomBytes, write, db } from './seeding/rows.ts'
import { type Shop, type BoughtOrder, givenOrder, seedShopWithAccount } from './seeding/sales/orders.ts'
import { deliverEvent, webhookSecret } from './stripe-refunds.ts'
import { listEvents } from './webhook-rows.ts'

const minute = 60_000
const hour = 60 * minute

type Amount = 'all' | 'half' | 'a cent too much' | number

export type Step =
  | { do: 'ask'; target: number; amount: Amount; fees: boolean; cancel: boolean }
  | { do: 'approve'; which: number; part: number }
  | { do: 'reject' | 'cancel' | 'retry' | 'settle'; which: number }
  | { do: 'consume'; calls: Conduct[]; trips: number }
  | { do: 'wait'; ms: number }
  | { do: 'deliver'; which: number[] }
  | { do: 'decide'; which: number; status: 'succeeded' | 'failed' }
  | { do: 'refund at Stripe'; amount: number; pending: boolean }
  | { do: 'use'; which: number }
  | { do: 'import'; cancelled: boolean }

const conduct = fc.constantFrom<Conduct[]>(
  'accept',
  'accept and cut',
  'accept and fail',
  'cut',
  { refund: 'pending' },
  { status: 409 },
  { status: 429 },
  { status: 500 },
  { status: 402, code: 'card_declined' },
)

const steps: Record<string, [weight: number, arbitrary: fc.Arbitrary<Step>]> = {
  ask: [
    6,
    fc.record({
      do: fc.constant('ask' as const),
      target: fc.nat({ max: 5 }),
      amount: fc.constantFrom<Amount[]>('all', 'half', 'a cent too much', 0, 10, 33.33),
      fees: fc.boolean(),
      cancel: fc.boolean(),
    }),
  ],
  approve: [
    6,
    fc.record({
      do: fc.constant('approve' as const),
      which: fc.nat({ max: 7 }),
      part: fc.constantFrom(1, 1, 0.5, 0),
    }),
  ],
  others: [4, fc.record({ do: fc.constantFrom('reject', 'cancel', 'retry', 'settle'), which: fc.nat({ max: 7 }) })],
  consume: [
    6,
    fc.record({
      do: fc.constant('consume' as const),
      calls: fc.array(conduct, { maxLength: 3 }),
      trips: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 8, 1000, 1000, 1000),
    }),
  ],
  wait: [
    3,
    fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(4 * minute, hour, 20 * hour, 25 * hour, 72 * hour),
    }),
  ],
  deliver: [
    3,
    fc.record({
      do: fc.constant('deliver' as const),
      which: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
    }),
  ],
  decide: [
    2,
    fc.record({
      do: fc.constant('decide' as const),
      which: fc.nat({ max: 5 }),
      status: fc.constantFrom('succeeded', 'failed'),
    }),
  ],
  dashboard: [
    1,
    fc.record({
      do: fc.constant('refund at Stripe' as const),
      amount: fc.integer({ min: 1, max: 9000 }),
      pending: fc.boolean(),
    }),
  ],
  use: [1, fc.record({ do: fc.constant('use' as const), which: fc.nat({ max: 2 }) })],
  import: [1, fc.record({ do: fc.constant('import' as const), cancelled: fc.constantFrom(false, false, true) })],
}

export const aStep: fc.Arbitrary<Step> = fc.oneof(
  ...Object.values(steps).map(([weight, arbitrary]) => ({ weight, arbitrary })),
)

const items = [
  { product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 20, handling_fee: 5 },
  { product: 'Camping', quantity: 1, unit_price: 33.33 },
]

/** An order that was paid at Stripe, one that Stripe does not know, and everything that happens to them. */
export interface World {
  fake: FakeStripe
  payment: FakePayment
  shop: Shop
  account: string
  bought: BoughtOrder
  /** The payment of this order has no reference. */
  byHand: BoughtOrder
  engine: ReturnType<typeof createRefundEngine>
}

export async function seedRefundWorld(): Promise<World> {
  const engine = createRefundEngine({ payments: createContextAt(Date.now()).payments }, Date.now())
  const fake = createFakeStripe({ now: () => engine.job.now() })
  const payment = fake.store.pay({ amount: 29_583, currency: 'dkk' })
  const shop = await seedShopWithAccount('stripe')
  const merchantAccount = await db.first(
    sql<{ id: string }>`select id from merchant_accounts where organization_id = ${shop.organization_id}`,
  )
  const account = merchantAccount?.id ?? ''
  const secrets = { api_key: 'rk_test_tests1234', webhook_secret: webhookSecret }
  const sealed = await sealSecrets({ config: testConfig, randomBytes }, account, secrets)
  await write(update(merchantAccounts, sealed, sql`id = ${account}`))
  const order = { items, service_fee: 12.5 }
  const bought = await givenOrder(shop, { ...order, payment: { service: 'stripe', reference: payment.id } })
  const byHand = await givenOrder(shop, order)
  return { fake, payment, shop, account, bought, byHand, engine }
}

/** Returns everything that a refusal must not change. */
async function dumpState({ shop }: World): Promise<unknown> {
  const of = sql`edition_id = ${shop.edition_id}`
  return db.batch([
    sql`select * from refund_requests where ${of} order by id`,
    sql`select refund_items.* from refund_items join refund_requests on id = refund_request_id where ${of}`,
    sql`select * from purchases where ${of} order by id`,
    sql`select transactions.* from transactions join orders on orders.id = order_id where orders.${of} order by transactions.id`,
    sql`select id from webhook_events where organization_id = ${shop.organization_id} order by id`,
    sql`select id from audit_log where organization_id = ${shop.organization_id} order by id`,
  ])
}

async function askOne(world: World, step: Extract<Step, { do: 'ask' }>): Promise<Reply> {
  const { bought, byHand } = world
  const { target, amount, fees, cancel } = step
  const purchase = bought.purchases[target]
  const order = target === 5 ? byHand : bought
  const named = purchase
    ? { purchase_id: purchase }
    : target === 4
      ? { transaction_id: order.payment }
      : { order_id: order.order }
  const path = purchase ? `/v1/purchases/${purchase}` : `/v1/orders/${order.order}`
  const max = Math.round((await get(path)).body.max_available_refund_amount * 100)
  const inCents = { all: max, half: Math.floor(max / 2), 'a cent too much': max + 1 }
  const sum = typeof amount === 'number' ? amount : inCents[amount] / 100
  return requestRefund({ ...named, amount: sum, include_fees: fees, cancel_purchase: cancel })
}

const targets = { approve: 'approved', reject: 'rejected', cancel: 'cancelled', retry: 'approved', settle: 'completed' }

/** Tells whether the lifecycle allows the action, which may still be refused because too little money is left. */
const isLegal = (status: RefundStatus, action: keyof typeof targets, service: string | null): boolean =>
  action === 'settle'
    ? status === 'processing' && service === 'manual'
    : refundLifecycle.allows(status, targets[action] as RefundStatus) && (action !== 'retry' || status === 'failed')

async function review(world: World, step: Extract<Step, { do: keyof typeof targets }>): Promise<Reply | null> {
  const refunds = await loadRefundRows(world.shop)
  const refund = refunds[step.which % Math.max(1, refunds.length)]
  if (!refund) return null
  const body =
    step.do === 'approve'
      ? { amount: Math.floor(refund.requested_minor * step.part) / 100 }
      : step.do === 'settle'
        ? { reference: 'By hand' }
        : {}
  const reply = await actOnRefund(refund.id, step.do, body)
  if (!isLegal(refund.status, step.do, refund.service))
    expect([refund.status, step.do, refund.source, reply.status]).toEqual([
      refund.status,
      step.do,
      refund.source,
      step.do === 'cancel' && refund.source === 'provider' ? 403 : 409,
    ])
  return reply
}

/** Makes one call of the API: either it succeeds, or it is refused and changes nothing. */
async function called(world: World, call: () => Promise<Reply | null>): Promise<void> {
  const before = await dumpState(world)
  const reply = await call()
  if (!reply || reply.status < 400) return
  expect([400, 403, 409]).toContain(reply.status)
  expect(await dumpState(world)).toEqual(before)
}

export async function takeStep(world: World, step: Step): Promise<void> {
  const { fake, payment, engine, bought } = world
  switch (step.do) {
    case 'ask':
      return called(world, () => askOne(world, step))
    case 'approve':
    case 'reject':
    case 'cancel':
    case 'retry':
    case 'settle':
      return called(world, () => review(world, step))
    case 'consume': {
      const script = [...step.calls]
      fake.respondWith(() => script.shift() ?? 'accept')
      await engine.runUntilCrash(step.trips)
      return
    }
    case 'wait':
      engine.advance(step.ms)
      return
    case 'deliver': {
      const { events } = fake.store
      for (const index of step.which) {
        const event = events[index % Math.max(1, events.length)]
        if (event) expect((await deliverEvent(world.account, event)).status).toBe(200)
      }
      return
    }
    case 'decide': {
      const refund = fake.store.refunds[step.which % Math.max(1, fake.store.refunds.length)]
      // A failed refund stays failed at Stripe, and a succeeded one is not decided again.
      const isOpen = refund?.status === 'pending' || (refund?.status === 'succeeded' && step.status === 'failed')
      if (refund && isOpen) fake.store.change(refund.id, step.status)
      return
    }
    case 'refund at Stripe':
      fake.store.refund(payment, { amount: step.amount, status: step.pending ? 'pending' : 'succeeded' })
      return
    case 'use':
      await scan(bought.purchases[step.which] ?? '')
      return
    case 'import':
      await bought.again(step.cancelled ? { status: 'cancelled' } : {})
  }
}

/** Restores the network: open refunds end, and every event comes at least once. */
export async function heal(world: World): Promise<void> {
  const { fake, engine, account } = world
  fake.respondWith('accept')
  for (let round = 0; round < 14; round++) {
    for (const refund of fake.store.refunds) if (refund.status === 'pending') fake.store.change(refund.id, 'succeeded')
    engine.advance(round < 4 ? hour : 20 * hour)
    await engine.run()
    for (const event of fake.store.events.toReversed()) expect((await deliverEvent(account, event)).status).toBe(200)
    const open = await db.all(sql`select id from refund_requests where edition_id = ${world.shop.edition_id}
      and (status = 'approved' or status = 'processing' and service <> 'manual')`)
    if (open.length === 0) return
  }
  throw new Error('a refund comes to no end')
}

/** Counts how often each end of each request was announced, and each action for each of its purchases. */
export async function countAnnouncements({ shop }: World): Promise<Map<string, number>> {
  const times = new Map<string, number>()
  for (const { kind, payload } of await listEvents(shop.organization_id)) {
    const { action = kind, refund_request, purchase } = JSON.parse(payload).data
    if (!refund_request) continue
    const key = [refund_request.id, purchase?.id ?? '', action].join(' ')
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  return times
}
