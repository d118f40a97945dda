import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../../src/context.ts'
import { LostRace } from '../../src/domain/errors.ts'
import { cancelOrder } from '../../src/modules/order-actions/cancel.ts'
import { findOrder } from '../../src/modules/orders/index.ts'
import { listAnnounced as listEventsOf } from '../support/announcements.ts'
import { call, get, post } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { createContextAt } from '../support/context.ts'
import { readPassJson } from '../support/pass-packages.ts'
import { listAnnounced, loadPurchase, revert, scan, tally } from '../support/purchases.ts'
import { createProvider, createRefundEngine, clearDueRefunds } from '../support/refund-payments.ts'
import {
  actOnRefund,
  expectCountersToBeSums,
  loadRefundRows,
  loadTransaction,
  oneTicket,
  requestPurchaseRefund,
  requestRefund,
  threePurchases,
} from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { write } from '../support/seeding/rows.ts'
import {
  anOrder,
  givenOrder,
  givenOrders,
  givenTicket,
  importOrders,
  seedShop,
  seedShopWithAccount,
  type Shop,
} from '../support/seeding/sales/orders.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale } from '../support/seeding/sales/trades.ts'
import { enableWallet, givenPassOf } from '../support/seeding/sales/wallet-passes.ts'
import { latest } from '../support/wallet.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShopWithAccount('manual')
})

const cancel = (order: string, body: Record<string, unknown> = {}, token?: string) =>
  post(`/v1/orders/${order}/cancel`, body, token)
const readOrder = async (id: string) => (await get(`/v1/orders/${id}`)).body
const listStatuses = async (ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => loadPurchase(id)))).map(({ status }) => status)
const orderOf = async (purchase: string): Promise<string> => (await loadPurchase(purchase)).order_id

/** Takes the request to its commit, lets something else happen first, and then commits. */
async function cancelAfter(order: string, happen: () => Promise<unknown>, body: object = {}) {
  const ctx: Ctx = createContextAt(Date.now())
  const batch = ctx.db.batch.bind(ctx.db)
  const loadedOrder = await findOrder(ctx, order)
  let commits = 0
  ctx.db.batch = async (statements) => {
    if (statements.length > 5 && ++commits === 1) await happen()
    return batch(statements)
  }
  return cancelOrder(ctx, loadedOrder, body)
}

describe('cancelOrder', () => {
  it('cancels the order and its purchases, and announces it', async () => {
    const { order, purchases } = await givenOrder(shop, { order_number: '4711' })
    const reply = await cancel(order)
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        order: { id: order, order_number: '4711', status: 'cancelled', modified: expect.any(String) },
        cancelled_purchases: 2,
        used_purchases: 0,
        refund_request: null,
      },
    ])
    expect(await readOrder(order)).toMatchObject({
      status: 'cancelled',
      modified: reply.body.order.modified,
      transactions: [{ status: 'captured', refunded_amount: 0, pending_refund_amount: 0 }],
      allowed_actions: ['refund'],
    })
    expect(await listStatuses(purchases)).toEqual(['cancelled', 'cancelled'])
    for (const id of purchases) {
      expect(await listAnnounced({ id, shop })).toEqual(['cancelled:cancelled'])
      expect(await scan(id)).toMatchObject({ status: 409, body: { current_status: 'cancelled' } })
    }
    const events = await listEventsOf(shop.organization_id, 'order.')
    expect(events.filter(({ data }) => (data as { order: { id: string } }).order.id === order)).toMatchObject([
      { kind: 'order.cancelled', data: { previous_status: 'completed', order: { status: 'cancelled' } } },
    ])
    expect(await listEntries(reply)).toMatchObject([
      {
        action: 'cancelOrder',
        edition_id: shop.edition_id,
        resource_type: 'order',
        resource_id: order,
        changes: JSON.stringify([{ field: 'status', before: 'completed', after: 'cancelled' }]),
      },
    ])
  })

  it('voids the wallet passes of its purchases', async () => {
    const sale = await seedSale('manual')
    await write(sql`update orders set status = 'completed' where id = ${sale.order}`)
    await enableWallet(sale, sale.purchase)
    const pass = await givenPassOf(sale, 'apple')
    const isVoided = async () =>
      readPassJson(new Uint8Array(await (await latest(pass)).arrayBuffer()))['voided'] === true
    expect(await isVoided()).toBe(false)
    expect((await cancel(sale.order)).status).toBe(200)
    expect(await isVoided()).toBe(true)
  })

  it('is offered while the order can be cancelled', async () => {
    const { order } = await givenOrder(shop)
    expect((await readOrder(order)).allowed_actions).toEqual(['refund', 'cancel', 'resend_receipt'])
  })

  it('is done once, and refused with the status of the order the second time', async () => {
    const { order } = await givenOrder(shop)
    const replies = await Promise.all([cancel(order), cancel(order), cancel(order)])
    expect(tally(replies)).toEqual({ 200: 1, '409 invalid_transition': 2 })
    expect((await cancel(order)).body).toMatchObject({ current_status: 'cancelled', allowed_transitions: [] })
  })

  it('cancels a payment that was never captured', async () => {
    const { order, payment } = await givenOrder(shop, { status: 'pending' })
    expect((await cancel(order)).status).toBe(200)
    expect(await loadTransaction(payment)).toMatchObject({ status: 'cancelled' })
  })

  it('pays back nothing of a payment that was never captured', async () => {
    const { order, purchases } = await givenOrder(shop, { status: 'pending' })
    const refusal = await cancel(order, { refund: true })
    expect(describeRefusal(refusal)).toBe('409 transaction_not_captured')
    expect([(await readOrder(order)).status, await listStatuses(purchases)]).toEqual([
      'pending',
      ['pending', 'pending'],
    ])
  })

  it('refuses an order with a use, and changes nothing', async () => {
    const { order, purchases } = await givenOrder(shop)
    const [first = '', second = ''] = purchases
    await scan(first)
    const refusal = await cancel(order)
    expect(describeRefusal(refusal)).toBe('409 order_has_uses')
    expect(refusal.body).toMatchObject({ used_purchases_count: 1, used_purchases: [first] })
    expect([(await readOrder(order)).status, (await loadPurchase(second)).status]).toEqual(['completed', 'active'])
  })

  it('cancels what is not used when uses are accepted, and the rest when its use is reverted', async () => {
    const { order, purchases } = await givenOrder(shop)
    const [first = '', second = ''] = purchases
    const { body: use } = await scan(first)
    expect(await cancel(order, { accept: ['used'] })).toMatchObject({
      status: 200,
      body: { cancelled_purchases: 1, used_purchases: 1 },
    })
    expect(await listStatuses([first, second])).toEqual(['used', 'cancelled'])
    expect((await revert(first, use.id)).body).toMatchObject({ purchase: { status: 'cancelled' } })
    expect((await scan(first)).status).toBe(409)
    expect(await listAnnounced({ id: first, shop })).toEqual(['used:used', 'use_reverted:cancelled'])
  })

  it('does not count a reverted use', async () => {
    const { order, purchases } = await givenOrder(shop)
    const [id = ''] = purchases
    const { body } = await scan(id)
    await revert(id, body.id)
    expect((await cancel(order)).status).toBe(200)
  })

  const send = (order: string, headers: Record<string, string>) =>
    call(`/v1/orders/${order}/cancel`, { method: 'POST', body: {}, headers })

  it('compares If-Match with the order', async () => {
    const { order, again } = await givenOrder(shop)
    const readTag = async () => (await get(`/v1/orders/${order}`)).headers.get('etag') ?? ''
    const etag = await readTag()
    await again({ order_number: 'changed' })
    expect((await send(order, { 'if-match': etag })).status).toBe(412)
    expect((await readOrder(order)).status).toBe('completed')
    expect((await send(order, { 'if-match': await readTag() })).status).toBe(200)
  })

  it('repeats its answer for the same Idempotency-Key', async () => {
    const { order } = await givenOrder(shop)
    const key = { 'idempotency-key': crypto.randomUUID() }
    const reply = await send(order, key)
    expect(reply.status).toBe(200)
    expect((await send(order, key)).text).toBe(reply.text)
  })

  describe('by people', () => {
    let order: string
    beforeAll(async () => {
      order = (await givenOrder(shop)).order
    })

    it.each<[string, number, () => ReturnType<typeof givenMember>]>([
      ['viewers', 403, () => givenMember({ id: shop.organization_id }, 'viewer')],
      [
        'admins of another edition',
        404,
        async () => {
          const organization = { id: shop.organization_id }
          return givenMember(organization, 'admin', (await seedEdition(organization)).id)
        },
      ],
      [
        'admins of another organisation',
        404,
        async () => givenMember({ id: (await seedShop()).organization_id }, 'admin'),
      ],
    ])('is not for %s', async (_, status, make) => {
      expect((await cancel(order, {}, (await make()).token)).status).toBe(status)
      expect((await readOrder(order)).status).toBe('completed')
    })
  })

  it('is for managers of the edition', async () => {
    const { order } = await givenOrder(shop)
    const { token } = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    expect((await cancel(order, {}, token)).status).toBe(200)
  })

  it('is refused in an archived edition', async () => {
    const archived = await seedShop()
    const [id = ''] = await givenOrders(archived, [anOrder()])
    await write(sql`update editions set is_archived = 1 where id = ${archived.edition_id}`)
    expect(describeRefusal(await cancel(id))).toBe('409 edition_archived')
    expect((await readOrder(id)).status).toBe('completed')
  })

  it.each([
    { accept: ['refunded'] },
    { accept: ['used', 'used'] },
    { refund: 'yes' },
    { reason: 'bored' },
    { amount: 1 },
  ])('refuses %j and changes nothing', async (body) => {
    const { order } = await givenOrder(shop)
    expect((await cancel(order, body)).status).toBe(400)
    expect((await readOrder(order)).status).toBe('completed')
  })
})

describe('an order that is cancelled with a refund', () => {
  it('requests everything that is left, and the refund completes for cancelled purchases', async () => {
    const { order, payment, purchases } = await givenOrder(shop, threePurchases)
    const { status, body } = await cancel(order, { refund: true, comment: 'Is ill', reason: 'customer_request' })
    expect([status, body]).toMatchObject([
      200,
      {
        cancelled_purchases: 3,
        refund_request: { status: 'pending', target: 'order', requested_amount: 273.33, comment: 'Is ill' },
      },
    ])
    expect(await listStatuses(purchases)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect(await readOrder(order)).toMatchObject({ pending_refund_amount: 273.33, max_available_refund_amount: 0 })
    await actOnRefund(body.refund_request.id, 'approve')
    expect(await loadTransaction(payment)).toMatchObject({ refunded_minor: 27_333, reserved_minor: 0 })
    expect(await listStatuses(purchases)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    await expectCountersToBeSums(shop)
  })

  it('pays back the fees only if that is asked for', async () => {
    const { order } = await givenOrder(shop, threePurchases)
    const { body } = await cancel(order, { refund: true, include_fees: true })
    expect(body.refund_request).toMatchObject({ requested_amount: 295.83, reason: 'other', include_fees: true })
  })

  it('requests only the rest of what was requested before', async () => {
    const { order, purchases } = await givenOrder(shop)
    await requestPurchaseRefund(purchases[0] ?? '', {})
    expect((await cancel(order, { refund: true })).body.refund_request).toMatchObject({ requested_amount: 225 })
    await expectCountersToBeSums(shop)
  })

  it('is refused when nothing is left to pay back', async () => {
    const { order } = await givenOrder(shop)
    await requestRefund({ order_id: order })
    expect(describeRefusal(await cancel(order, { refund: true }))).toBe('409 nothing_to_refund')
    expect((await readOrder(order)).status).toBe('completed')
  })

  it('keeps a request that was open before it was cancelled', async () => {
    const { order, payment } = await givenOrder(shop)
    const { body } = await requestRefund({ order_id: order })
    expect((await cancel(order)).status).toBe(200)
    expect((await actOnRefund(body.id, 'approve')).status).toBe(200)
    expect(await loadTransaction(payment)).toMatchObject({ status: 'refunded', refunded_minor: 45_000 })
    await expectCountersToBeSums(shop)
  })

  it('is approved by the policy as any other request', async () => {
    const small = await seedShopWithAccount('manual')
    await write(
      sql`update organizations set refund_policy = '{"auto_approve_below":100000}' where id = ${small.organization_id}`,
      sql`update merchant_accounts set settle_manually = 0 where organization_id = ${small.organization_id}`,
    )
    const { order, payment, purchases } = await givenOrder(small, oneTicket)
    const { body } = await cancel(order, { refund: true, include_fees: true })
    expect(body.refund_request).toMatchObject({ status: 'completed', refunded_amount: 240, reviewed_by: null })
    expect(await loadTransaction(payment)).toMatchObject({ status: 'refunded', refunded_minor: 24_000 })
    expect(await listStatuses(purchases)).toEqual(['cancelled'])
    await expectCountersToBeSums(small)
  })

  it('can be refunded later, for the order or a purchase', async () => {
    const { order, purchases } = await givenOrder(shop)
    await cancel(order)
    expect(await readOrder(order)).toMatchObject({ max_available_refund_amount: 450, allowed_actions: ['refund'] })
    const single = await requestPurchaseRefund(purchases[0] ?? '')
    expect(single).toMatchObject({ status: 201, body: { requested_amount: 225 } })
    await actOnRefund(single.body.id, 'reject')
    expect(await requestRefund({ order_id: order })).toMatchObject({ status: 201, body: { requested_amount: 450 } })
    await expectCountersToBeSums(shop)
  })

  it('can be refunded again after a refund of it failed', async () => {
    const { order } = await givenOrder(shop)
    await cancel(order)
    const { body } = await requestRefund({ order_id: order })
    await write(
      sql`update refund_requests set status = 'failed' where id = ${body.id}`,
      sql`update purchases set reserved_minor = 0 where order_id = ${order}`,
      sql`update transactions set reserved_minor = 0 where order_id = ${order}`,
    )
    expect((await actOnRefund(body.id, 'retry')).body).toMatchObject({ status: 'completed', approved_amount: 450 })
    await expectCountersToBeSums(shop)
  })

  it('stays cancelled when a refund that cancelled its purchase fails late', async () => {
    await clearDueRefunds()
    const sale = await seedSale('test')
    await write(sql`update orders set status = 'completed' where id = ${sale.order}`)
    await seedDueRefund(sale, { cancel_purchase: true })
    const provider = createProvider()
    const engine = createRefundEngine(provider)
    await engine.run()
    expect((await loadPurchase(sale.purchase)).status).toBe('refunded')
    expect((await cancel(sale.order)).body).toMatchObject({ cancelled_purchases: 0 })
    provider.decide(`re_1_pi_${sale.transaction}`, false)
    engine.advance(86_400_000)
    await engine.run()
    expect(await loadPurchase(sale.purchase)).toMatchObject({ status: 'cancelled', refunded_minor: 0 })
    expect((await scan(sale.purchase)).status).toBe(409)
  })
})

describe('a cancelled order', () => {
  describe('that an import names again', () => {
    const order = anOrder({ external_id: `C-${crypto.randomUUID()}` })
    let id: string
    beforeAll(async () => {
      ;[id = ''] = await givenOrders(shop, [order])
      await cancel(id)
    })
    const expectCancelled = async () =>
      expect(await readOrder(id)).toMatchObject({
        status: 'cancelled',
        purchases: [{ status: 'cancelled' }, { status: 'cancelled' }],
      })

    it('is skipped, with a warning', async () => {
      const { body } = await importOrders(shop, [order])
      const warnings = [{ code: 'order_cancelled', pointer: '#/orders/0/status' }]
      expect(body.results).toMatchObject([{ action: 'skipped', order_id: id, errors: [], warnings }])
      await expectCancelled()
    })

    it('is not revived by an update, whose row says so', async () => {
      const { body } = await importOrders(shop, [order, anOrder()], { on_duplicate: 'update' })
      expect(body.results).toMatchObject([
        { action: 'error', order_id: id, errors: [{ code: 'invalid_transition' }] },
        { action: 'created' },
      ])
      await expectCancelled()
    })

    it('is accepted as cancelled', async () => {
      const reply = await importOrders(shop, [{ ...order, status: 'cancelled' }], { on_duplicate: 'update' })
      expect(reply.status).toBe(201)
      await expectCancelled()
    })
  })

  it('is kept by the undo of the import that made it', async () => {
    const { body } = await importOrders(shop, [anOrder()])
    const [{ order_id }] = body.results
    await cancel(order_id)
    await post(`/v1/data-imports/${body.id ?? body.data_import.id}/undo`, {})
    expect((await readOrder(order_id)).status).toBe('cancelled')
  })
})

describe('a request to cancel an order', () => {
  it.each([
    ['a use', async ({ purchases }: Awaited<ReturnType<typeof givenOrder>>) => scan(purchases[0] ?? '')],
    ['an import', ({ again }: Awaited<ReturnType<typeof givenOrder>>) => again({ order_number: '1' })],
    ['a refund', ({ order }: Awaited<ReturnType<typeof givenOrder>>) => requestRefund({ order_id: order })],
    ['another one', ({ order }: Awaited<ReturnType<typeof givenOrder>>) => cancel(order)],
  ])('loses the race against %s, and stores nothing', async (_, happen) => {
    const bought = await givenOrder(shop)
    let between: unknown
    const look = async () => [await readOrder(bought.order), (await loadRefundRows(shop)).length]
    const run = cancelAfter(
      bought.order,
      async () => {
        await happen(bought)
        between = await look()
      },
      { refund: true },
    )
    await expect(run).rejects.toThrow(LostRace)
    expect(await look()).toEqual(between)
    await expectCountersToBeSums(shop)
  })

  it('ends as used or as cancelled when a ticket is scanned at the same moment, never as both', async () => {
    for (let round = 0; round < 4; round++) {
      const ticket = await givenTicket(shop)
      const order = await orderOf(ticket.id)
      const [use, cancellation] = await Promise.all([scan(ticket.id), cancel(order)])
      const outcome = [use.status, cancellation.status].toSorted()
      expect(outcome).toEqual(use.status === 201 ? [201, 409] : [200, 409])
      expect((await loadPurchase(ticket.id)).status).toBe(use.status === 201 ? 'used' : 'cancelled')
    }
  })

  it('never leaves a live purchase when an import adds one at the same moment', async () => {
    for (let round = 0; round < 4; round++) {
      const { order, again } = await givenOrder(shop)
      await Promise.all([cancel(order), again({ items: [{ product: 'Day ticket', quantity: 3, unit_price: 225 }] })])
      const body = await readOrder(order)
      expect(body.status).toBe('cancelled')
      expect(new Set(body.purchases.map(({ status }: { status: string }) => status))).toEqual(new Set(['cancelled']))
    }
  })
})
