import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, type Reply } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { db, givenEdition, givenMember } from '../support/factories.ts'
import { givenShop, type Shop } from '../support/orders.ts'
import { announcedOf, purchaseRow, tally } from '../support/purchases.ts'
import {
  act,
  ask,
  askFor,
  expectCountersToBeSums,
  givenBought,
  itemsOf,
  refundRow,
  refundsOf,
  transactionRow,
} from '../support/refunds.ts'

let shop: Shop
beforeAll(async () => {
  shop = await givenShop()
})

const parallel = <Result>(count: number, run: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))
const faults = ({ status, body }: Reply) => [
  status,
  ...body.errors.map(({ code, pointer }: { code: string; pointer: string | null }) => `${code} ${pointer}`),
]
const one = { items: [{ product: 'Day ticket', quantity: 1, unit_price: 225, deposit: 10, handling_fee: 5 }] }
const rich = {
  items: [
    { product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 20, handling_fee: 5 },
    { product: 'Camping', quantity: 1, unit_price: 33.33 },
  ],
  service_fee: 12.5,
}

describe('createPurchaseRefundRequest', () => {
  it('reserves all that was paid without fees, and tells it in the same commit', async () => {
    const { purchases, payment, order } = await givenBought(shop, one)
    const [id = ''] = purchases
    const reply = await askFor(id, { comment: 'Is ill', metadata: { ticket: 7 } })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      {
        status: 'pending',
        target: 'purchase',
        purchase: { id, product: { name: 'Day ticket' } },
        order: { id: order },
        transaction_id: payment,
        currency: 'dkk',
        requested_amount: 235,
        approved_amount: null,
        refunded_amount: 0,
        breakdown: { price: 225, deposit: 10, handling_fee: 0, service_fee: 0 },
        reason: 'customer_request',
        comment: 'Is ill',
        source: 'api',
        requested_by: 'root',
        allowed_actions: ['approve', 'reject', 'cancel'],
        metadata: { ticket: 7 },
      },
    ])
    expect((await get(`/v1/refund-requests/${reply.body.id}`)).body).toEqual(reply.body)
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/refund-requests/${reply.body.id}$`))
    expect((await get(`/v1/purchases/${id}`)).body).toMatchObject({
      status: 'active',
      max_available_refund_amount: 0,
      pending_refund_amount: 235,
      refunded_amount: 0,
      refund_requests: [{ id: reply.body.id, status: 'pending', requested_amount: 235 }],
    })
    expect(await announcedOf({ id, shop })).toEqual(['refund_requested:active'])
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({
      refunded_amount: 0,
      pending_refund_amount: 235,
      max_available_refund_amount: 0,
      transactions: [{ status: 'captured', available_refund_amount: 0, pending_refund_amount: 235 }],
    })
    await expectCountersToBeSums(shop)
  })

  it('makes exactly one of twenty full refunds at the same moment', async () => {
    const { purchases } = await givenBought(shop, one)
    const [id = ''] = purchases
    const replies = await parallel(20, () => askFor(id, { cancel_purchase: true, include_fees: true }))
    expect(tally(replies)).toEqual({ 201: 1, '409 nothing_to_refund': 19 })
    expect(await purchaseRow(id)).toMatchObject({ reserved_minor: 24_000, refunded_minor: 0 })
    expect(await announcedOf({ id, shop })).toEqual(['refund_requested:active'])
    await expectCountersToBeSums(shop)
  })

  it('never lets partial refunds at the same moment exceed the purchase, nor the payment', async () => {
    // The discount leaves 300 of a payment for purchases of 450.
    const { purchases, payment } = await givenBought(shop, { discount: 150 })
    const replies = await parallel(12, (index) => askFor(purchases[index % 2] ?? '', { amount: 50 }))
    expect(tally(replies.filter(({ status }) => status === 201))).toEqual({ 201: 6 })
    for (const { status, body } of replies) if (status !== 201) expect([400, 409]).toContain(status), expect(body.code).toMatch(/validation_error|nothing_to_refund/)
    expect(await transactionRow(payment)).toMatchObject({ amount_minor: 30_000, reserved_minor: 30_000 })
    await expectCountersToBeSums(shop)
  })

  it('says how much is left when more is asked for, and shows no more than it accepts', async () => {
    const { purchases } = await givenBought(shop, { ...one, discount: 50.5 })
    const [id = ''] = purchases
    const { max_available_refund_amount } = (await get(`/v1/purchases/${id}`)).body
    expect(max_available_refund_amount).toBe(189.5)
    const reply = await askFor(id, { amount: 189.51 })
    expect([faults(reply), reply.body]).toMatchObject([
      [400, 'amount_exceeds_available #/amount'],
      { code: 'validation_error', max_available_refund_amount: 189.5, currency: 'dkk' },
    ])
    expect(await askFor(id, { amount: max_available_refund_amount })).toMatchObject({ status: 201 })
  })

  it.each([
    [{ amount: -1 }, 'amount_not_positive #/amount'],
    [{ amount: 0 }, 'amount_not_positive #/amount'],
    [{ amount: -1, cancel_purchase: true }, 'amount_not_positive #/amount'],
    [{ amount: 1.005 }, 'max_decimal_places #/amount'],
    [{ amount: 1e300 }, 'max_value #/amount'],
    [{ amount: 1, currency: 'eur' }, 'currency_mismatch #/currency'],
    [{ reason: 'boredom' }, 'invalid_choice #/reason'],
    [{ purchase_id: 'pur_1' }, 'unknown_field #/purchase_id'],
    [{ comment: 'x'.repeat(2001) }, 'max_length #/comment'],
  ])('refuses what is wrong with a field and changes nothing: %#', async (body, fault) => {
    const { purchases, payment } = await givenBought(shop, one)
    expect(faults(await askFor(purchases[0] ?? '', body))).toEqual([400, fault])
    expect(await transactionRow(payment)).toMatchObject({ reserved_minor: 0 })
  })

  it.each([
    ['pending', 'pending', 'purchase_not_refundable'],
    ['confirmed', 'active', 'transaction_not_captured'],
    ['cancelled', 'cancelled', 'purchase_not_refundable'],
  ])('refuses what was not paid or is gone: an order that is %s', async (status, current, code) => {
    const { purchases } = await givenBought(shop, { ...one, status })
    const reply = await askFor(purchases[0] ?? '')
    expect([reply.status, reply.body.code, (await purchaseRow(purchases[0] ?? '')).status]).toEqual([409, code, current])
  })

  it('refuses a purchase that has expired', async () => {
    const { purchases } = await givenBought(shop, one)
    await db.all(sql`update purchases set status = 'expired' where id = ${purchases[0]}`)
    const reply = await askFor(purchases[0] ?? '')
    expect([reply.status, reply.body]).toMatchObject([
      409,
      { code: 'purchase_not_refundable', current_status: 'expired' },
    ])
  })

  it('writes four statements and at most twelve rows, the audit entry among them, beside the outbox', async () => {
    const { purchases } = await givenBought(shop, one)
    const cost = costOf(await askFor(purchases[0] ?? ''))
    // Reads: the purchase's place, the order, its purchases. Beside: the entry, and the event with its deliveries.
    expect(cost.queries - 3 - 1 - 2).toBe(4)
    // The event is a row with its indexes.
    const event = 3
    expect(cost.rows_written - event).toBeLessThanOrEqual(12)
  })
})

describe('createRefundRequest', () => {
  it('spreads the refund of an order over its purchases to the cent', async () => {
    const { order, purchases, payment } = await givenBought(shop, rich)
    const reply = await ask({ order_id: order, amount: 100 })
    expect(reply).toMatchObject({ status: 201, body: { target: 'order', purchase: null, requested_amount: 100 } })
    const items = await itemsOf(reply.body.id)
    expect(items.map((item) => item.purchase_id)).toEqual(purchases)
    // 100.00 over 120.00, 120.00 and 33.33.
    expect(items.map((item) => item.amount_minor).toSorted((a, b) => a - b)).toEqual([1_220, 4_390, 4_390])
    expect(await transactionRow(payment)).toMatchObject({ reserved_minor: 10_000 })
    for (const id of purchases) expect(await announcedOf({ id, shop })).toEqual(['refund_requested:active'])
    await expectCountersToBeSums(shop)
  })

  it('pays an order back without fees by default, and all of the payment with them', async () => {
    const [without, withFees] = [await givenBought(shop, rich), await givenBought(shop, rich)]
    expect((await ask({ order_id: without.order })).body).toMatchObject({
      requested_amount: 273.33,
      breakdown: { price: 233.33, deposit: 40, handling_fee: 0, service_fee: 0 },
    })
    const { body } = await ask({ transaction_id: withFees.payment, include_fees: true })
    expect(body).toMatchObject({
      target: 'transaction',
      requested_amount: 295.83,
      breakdown: { price: 233.33, deposit: 40, handling_fee: 10, service_fee: 12.5 },
    })
    const left = await ask({ order_id: without.order, amount: 22.51, include_fees: true })
    expect([faults(left), left.body.max_available_refund_amount]).toEqual([[400, 'amount_exceeds_available #/amount'], 22.5])
    expect(await ask({ order_id: without.order, amount: 22.5, include_fees: true })).toMatchObject({
      status: 201,
      body: { breakdown: { price: 0, deposit: 0, handling_fee: 10, service_fee: 12.5 } },
    })
    await expectCountersToBeSums(shop)
  })

  it('lets refunds of an order and of its purchases at the same moment take no more than was paid', async () => {
    const { order, purchases, payment } = await givenBought(shop, rich)
    await parallel(12, (index) =>
      index % 3 === 0 ? ask({ order_id: order, amount: 60 }) : ask({ purchase_id: purchases[index % 3], amount: 30 }),
    )
    const { amount_minor, reserved_minor } = await transactionRow(payment)
    expect(reserved_minor).toBeLessThanOrEqual(amount_minor)
    expect(reserved_minor).toBeGreaterThan(15_000)
    await expectCountersToBeSums(shop)
  })

  it('wants exactly one target', async () => {
    const { order, purchases } = await givenBought(shop)
    expect(faults(await ask({}))).toEqual([400, 'exactly_one_target #/purchase_id'])
    expect(faults(await ask({ order_id: order, purchase_id: purchases[0] }))).toEqual([
      400,
      'exactly_one_target #/order_id',
    ])
    expect(faults(await ask({ order_id: null }))).toEqual([400, 'exactly_one_target #/purchase_id'])
  })

  it('refuses ids of other tenants and editions, and a refund as a payment, as ones that do not exist', async () => {
    const { order, purchases, payment } = await givenBought(shop)
    const other = await givenShop()
    const stranger = await givenMember({ id: other.organization_id }, 'admin')
    const sibling = await givenEdition({ id: shop.organization_id })
    const neighbour = await givenMember({ id: shop.organization_id }, 'admin', sibling.id)
    for (const { token } of [stranger, neighbour]) {
      expect(faults(await ask({ order_id: order }, token))).toEqual([400, 'does_not_exist #/order_id'])
      expect(faults(await ask({ purchase_id: purchases[0] }, token))).toEqual([400, 'does_not_exist #/purchase_id'])
      expect(faults(await ask({ transaction_id: payment }, token))).toEqual([400, 'does_not_exist #/transaction_id'])
      expect((await askFor(purchases[0] ?? '', {}, token)).status).toBe(404)
    }
    const { body } = await ask({ order_id: order })
    await act(body.id, 'approve')
    const refund = (await get(`/v1/orders/${order}`)).body.transactions.find(({ type }: { type: string }) => type === 'refund')
    expect(faults(await ask({ transaction_id: refund.id }))).toEqual([400, 'does_not_exist #/transaction_id'])
  })

  it('cancels a purchase for nothing, and takes no more for a payment that was paid back', async () => {
    const { purchases, order } = await givenBought(shop, one)
    const { body } = await ask({ purchase_id: purchases[0], amount: 0, cancel_purchase: true })
    expect(await act(body.id, 'approve')).toMatchObject({ status: 200, body: { status: 'completed', refunded_amount: 0 } })
    expect(await purchaseRow(purchases[0] ?? '')).toMatchObject({ status: 'refunded', refunded_minor: 0 })
    expect((await ask({ purchase_id: purchases[0] })).body.code).toBe('nothing_to_refund')
    expect((await ask({ order_id: order })).body.code).toBe('nothing_to_refund')
    await expectCountersToBeSums(shop)
  })

  it('is for roles that change the edition', async () => {
    const { order } = await givenBought(shop)
    const viewer = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const manager = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    expect((await ask({ order_id: order }, viewer.token)).body.code).toBe('permission_denied')
    const { body } = await ask({ order_id: order }, manager.token)
    expect((await get(`/v1/refund-requests/${body.id}`, viewer.token)).body).toMatchObject({ allowed_actions: [] })
    expect((await act(body.id, 'approve', {}, viewer.token)).status).toBe(403)
  })
})

describe('approveRefundRequest', () => {
  it('completes at once what is paid back by hand: money, purchase, events and the payment say the same', async () => {
    const { purchases, payment, order } = await givenBought(shop)
    const [id = '', other = ''] = purchases
    const asked = await askFor(id, { cancel_purchase: true })
    const reply = await act(asked.body.id, 'approve', { note: 'By telephone' })
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { status: 'completed', approved_amount: 225, refunded_amount: 225, service: 'manual', attempts: 1, note: 'By telephone' },
    ])
    expect((await get(`/v1/refund-requests/${asked.body.id}`)).body).toEqual(reply.body)
    expect(await purchaseRow(id)).toMatchObject({ status: 'refunded', refunded_minor: 22_500, reserved_minor: 0 })
    expect(await purchaseRow(other)).toMatchObject({ status: 'active', refunded_minor: 0 })
    expect(await announcedOf({ id, shop })).toEqual([
      'refund_requested:active',
      'refund_approved:active',
      'refunded:refunded',
    ])
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({ refunded_amount: 225, max_available_refund_amount: 225 })
    expect(await transactionRow(payment)).toMatchObject({ status: 'partially_refunded', refunded_minor: 22_500 })
    await act((await askFor(other)).body.id, 'approve')
    expect(await transactionRow(payment)).toMatchObject({ status: 'refunded', refunded_minor: 45_000 })
    await expectCountersToBeSums(shop)
  })

  it('releases what a smaller amount does not need, fees first', async () => {
    const { order } = await givenBought(shop, rich)
    const { body } = await ask({ order_id: order, include_fees: true })
    const reply = await act(body.id, 'approve', { amount: 100.01 })
    expect(reply.body).toMatchObject({ requested_amount: 295.83, approved_amount: 100.01, refunded_amount: 100.01 })
    expect(reply.body.breakdown).toMatchObject({ handling_fee: 0, service_fee: 0 })
    expect((await get(`/v1/orders/${order}`)).body).toMatchObject({
      refunded_amount: 100.01,
      pending_refund_amount: 0,
      max_available_refund_amount: 173.32,
    })
    await expectCountersToBeSums(shop)
  })

  it('refuses more than was asked for, nothing without cancelling, and a second approval', async () => {
    const { purchases } = await givenBought(shop)
    const { body } = await askFor(purchases[0] ?? '', { amount: 100 })
    expect(faults(await act(body.id, 'approve', { amount: 100.01 }))).toEqual([400, 'amount_exceeds_available #/amount'])
    expect(faults(await act(body.id, 'approve', { amount: 0 }))).toEqual([400, 'amount_not_positive #/amount'])
    expect(await refundRow(body.id)).toMatchObject({ status: 'pending', version: 1 })
    await act(body.id, 'approve')
    const again = await act(body.id, 'approve')
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'invalid_transition', current_status: 'completed', allowed_transitions: ['failed'] },
    ])
  })

  it('lets exactly one of an approval and a rejection win, and of an approval and a cancellation', async () => {
    for (const action of ['reject', 'cancel'] as const) {
      const { purchases } = await givenBought(shop)
      const id = purchases[0] ?? ''
      const { body } = await askFor(id)
      const replies = await Promise.all([act(body.id, 'approve'), act(body.id, action), act(body.id, 'approve')])
      expect(tally(replies)).toEqual({ 200: 1, '409 invalid_transition': 2 })
      const isPaid = (await refundRow(body.id)).status === 'completed'
      expect(await purchaseRow(id)).toMatchObject({ refunded_minor: isPaid ? 22_500 : 0, reserved_minor: 0 })
    }
    await expectCountersToBeSums(shop)
  })

  it('goes on for a purchase that was used or has expired meanwhile, and not for a payment that was cancelled', async () => {
    for (const status of ['used', 'expired']) {
      const { purchases } = await givenBought(shop)
      const { body } = await askFor(purchases[0] ?? '', { cancel_purchase: true })
      await db.all(sql`update purchases set status = ${status} where id = ${purchases[0]}`)
      expect(await act(body.id, 'approve')).toMatchObject({ status: 200, body: { status: 'completed' } })
      // A purchase that has expired is over as it is.
      expect((await purchaseRow(purchases[0] ?? '')).status).toBe(status === 'used' ? 'refunded' : 'expired')
    }
    const { purchases, payment } = await givenBought(shop)
    const { body } = await askFor(purchases[0] ?? '')
    await db.all(sql`update transactions set status = 'cancelled' where id = ${payment}`)
    expect((await act(body.id, 'approve')).body.code).toBe('transaction_not_captured')
  })
})

describe('rejectRefundRequest', () => {
  it('releases the amount and keeps the reason', async () => {
    const { purchases } = await givenBought(shop)
    const [id = ''] = purchases
    const { body } = await askFor(id)
    expect(faults(await act(body.id, 'reject', { reason: ' ' }))).toEqual([400, 'blank #/reason'])
    const reply = await act(body.id, 'reject', { reason: 'Too late' })
    expect(reply.body).toMatchObject({ status: 'rejected', rejection_reason: 'Too late', reviewed_by: 'root', allowed_actions: [] })
    expect((await get(`/v1/purchases/${id}`)).body).toMatchObject({ max_available_refund_amount: 225, pending_refund_amount: 0 })
    expect(await announcedOf({ id, shop })).toEqual(['refund_requested:active', 'refund_rejected:active'])
    expect(await askFor(id)).toMatchObject({ status: 201 })
    await expectCountersToBeSums(shop)
  })
})

describe('cancelRefundRequest', () => {
  it('is for the account that asked, whichever its token, while the request is pending', async () => {
    const { purchases } = await givenBought(shop)
    const admin = await givenMember({ id: shop.organization_id }, 'admin')
    const { body } = await askFor(purchases[0] ?? '', {}, admin.token)
    expect(await act(body.id, 'cancel')).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(await act(body.id, 'cancel', {}, admin.token)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect((await act(body.id, 'cancel', {}, admin.token)).body.code).toBe('invalid_transition')
    expect(await purchaseRow(purchases[0] ?? '')).toMatchObject({ reserved_minor: 0 })
    await expectCountersToBeSums(shop)
  })
})

describe('the refund policy of an organisation', () => {
  const policy = async (refund_policy: Record<string, unknown>) => {
    const own = await givenShop()
    const { body } = await patch(`/v1/organizations/${own.organization_id}`, { refund_policy })
    return { own, shown: body.refund_policy }
  }

  it('wants four eyes: not those of another token of the same account', async () => {
    const { own, shown } = await policy({ four_eyes: true })
    expect(shown).toEqual({ four_eyes: true, manager_limit: null, auto_approve_below: null })
    const [one_, two] = [
      await givenMember({ id: own.organization_id }, 'admin'),
      await givenMember({ id: own.organization_id }, 'manager'),
    ]
    const { purchases } = await givenBought(own)
    const { body } = await askFor(purchases[0] ?? '', {}, one_.token)
    expect(await act(body.id, 'approve', {}, one_.token)).toMatchObject({ status: 409, body: { code: 'four_eyes_required' } })
    expect(await act(body.id, 'approve', {}, two.token)).toMatchObject({ status: 200, body: { status: 'completed' } })
  })

  it('limits what managers approve, and not admins', async () => {
    const { own } = await policy({ manager_limit: 100 })
    const manager = await givenMember({ id: own.organization_id }, 'manager')
    const admin = await givenMember({ id: own.organization_id }, 'admin', own.edition_id)
    const { purchases } = await givenBought(own)
    const { body } = await askFor(purchases[0] ?? '', {}, manager.token)
    expect(await act(body.id, 'approve', {}, manager.token)).toMatchObject({
      status: 403,
      body: { code: 'above_limit', manager_limit: 100, currency: 'dkk' },
    })
    expect(await act(body.id, 'approve', {}, admin.token)).toMatchObject({ status: 200 })
    const second = await askFor(purchases[1] ?? '', {}, manager.token)
    expect(await act(second.body.id, 'approve', { amount: 100 }, manager.token)).toMatchObject({ status: 200 })
  })

  it('approves small amounts at once, and many small ones of a payment not', async () => {
    const { own } = await policy({ auto_approve_below: 60, four_eyes: true })
    const { purchases } = await givenBought(own)
    const [id = ''] = purchases
    const first = await askFor(id, { amount: 30 })
    expect([first.status, first.body]).toMatchObject([201, { status: 'completed', refunded_amount: 30, reviewed_by: null }])
    expect((await get(`/v1/refund-requests/${first.body.id}`)).body).toEqual(first.body)
    expect(await announcedOf({ id, shop: own })).toEqual([
      'refund_requested:active',
      'refund_approved:active',
      'refunded:active',
    ])
    expect((await askFor(id, { amount: 30 })).body.status).toBe('pending')
    await expectCountersToBeSums(own)
  })

  it('is changed by admins of the organisation alone, field by field', async () => {
    const { own } = await policy({ four_eyes: true, manager_limit: 100.5 })
    const path = `/v1/organizations/${own.organization_id}`
    const changed = await patch(path, { refund_policy: { auto_approve_below: 10, manager_limit: null } })
    expect(changed.body.refund_policy).toEqual({ four_eyes: true, manager_limit: null, auto_approve_below: 10 })
    expect(faults(await patch(path, { refund_policy: { manager_limit: -1 } }))).toEqual([
      400,
      'min_value #/refund_policy/manager_limit',
    ])
    const manager = await givenMember({ id: own.organization_id }, 'manager')
    expect((await patch(path, { refund_policy: { four_eyes: false } }, manager.token)).status).toBe(403)
  })
})

describe('an order that is cancelled or changed by an import', () => {
  it('cancels what was asked for and not reviewed, and releases all of it', async () => {
    const { purchases, order, payment, again } = await givenBought(shop, rich)
    const asked = [await ask({ order_id: order, amount: 50 }), await askFor(purchases[0] ?? '', { amount: 10 })]
    await again({ status: 'cancelled' })
    for (const { body } of asked) expect(await refundRow(body.id)).toMatchObject({ status: 'cancelled' })
    expect(await transactionRow(payment)).toMatchObject({ reserved_minor: 0 })
    for (const id of purchases) expect(await purchaseRow(id)).toMatchObject({ status: 'cancelled', reserved_minor: 0 })
    await expectCountersToBeSums(shop)
  })
})

describe('listRefundRequests', () => {
  it('finds by each filter, and reads the same rows however many requests others have', async () => {
    const own = await givenShop()
    const bought = await givenBought(own, { order_number: 'A-77', ...rich })
    const { body: whole } = await ask({ order_id: bought.order, amount: 10 })
    const { body: single } = await askFor(bought.purchases[0] ?? '', { reason: 'duplicate', amount: 20 })
    await act(single.id, 'reject')
    const found = async (query: string) =>
      (await get(`/v1/refund-requests?edition_id=${own.edition_id}&${query}`)).body.results.map(({ id }: { id: string }) => id)
    const user = whole.customer.api_id
    for (const query of ['search=a-77', `order_id=${bought.order}`, `customer_id=${user}`, `purchase_id=${bought.purchases[0]}`])
      expect([query, await found(query)]).toEqual([query, [single.id, whole.id]])
    expect(await found('status=rejected')).toEqual([single.id])
    expect(await found('reason=customer_request')).toEqual([whole.id])
    expect(await found(`search=${single.id}`)).toEqual([single.id])
    expect(await found(`purchase_id=${bought.purchases[1]}`)).toEqual([whole.id])
    expect(await found('ordering=requested_amount')).toEqual([whole.id, single.id])
    expect(await found('source=provider')).toEqual([])
    const paths = [`edition_id=${own.edition_id}`, `order_id=${bought.order}`, `customer_id=${user}`, `purchase_id=${bought.purchases[0]}`, `organization_id=${own.organization_id}`]
    const read = () => Promise.all(paths.map(async (query) => costOf(await get(`/v1/refund-requests?${query}`)).rows_read))
    await seedElsewhere(10)
    const before = await read()
    await seedElsewhere(10_000)
    expect(await read()).toEqual(before)
  })
})

/** Requests of another organisation, of one purchase. */
async function seedElsewhere(count: number): Promise<void> {
  const other = await givenShop()
  const { purchases } = await givenBought(other)
  const { body } = await askFor(purchases[0] ?? '', { amount: 1 })
  const row = await refundRow(body.id)
  const names = Object.keys(row).filter((name) => name !== 'id')
  await db.all(sql`insert into refund_requests (id, ${sql.raw(names.join(', '))})
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    select ${`${row.id}-`} || i, ${sql.raw(names.join(', '))} from n, refund_requests where id = ${row.id}`)
  await db.all(sql`insert into refund_items (refund_request_id, purchase_id, amount_minor)
    select id, purchase_id, 0 from refund_requests where id like ${`${row.id}-%`}`)
  expect((await refundsOf(other)).length).toBe(count + 1)
}
