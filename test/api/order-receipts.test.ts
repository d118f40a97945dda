import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { checkReceipt } from '../../src/domain/messaging/transactional-emails.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { get, patch, post } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { tally } from '../support/purchases.ts'
import { createProvider, createReceiptEngine, listReceipts, sell } from '../support/receipts.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedSuppressions } from '../support/seeding/messaging/suppressions.ts'
import { db, write } from '../support/seeding/rows.ts'
import {
  aReceiptOrder,
  givenOrders,
  importOrders,
  seedShop,
  seedShopWithReceipts,
  type Shop,
} from '../support/seeding/sales/orders.ts'

const minute = 60_000

beforeEach(() => db.all(sql`delete from transactional_emails`))

const resend = (order: string, token?: string) => post(`/v1/orders/${order}/resend-receipt`, undefined, token)

/** Sells an order with a receipt that was sent ten minutes ago. */
async function givenSent(shop: Shop, change: Record<string, unknown> = {}) {
  const order = aReceiptOrder(change)
  const { body } = await sell(shop, [order])
  await sendEmails(createContextAt(Date.now() + 1000))
  await db.all(sql`update transactional_emails set created_at = created_at - ${10 * minute}`)
  const id: string = body.results[0].order_id
  const user: string = (await get(`/v1/orders/${id}`)).body.customer.api_id
  return { id, user, email: order.customer.email }
}

const listRecipients = async (shop: Shop) =>
  (await listReceipts(shop)).map(({ recipient, status }) => [recipient, status])

describe('resendReceipt', () => {
  it('sends the receipt again in the language of the customer, and the order shows both', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await write(sql`update users set locale = 'da' where id = ${order.user}`)
    const reply = await resend(order.id)
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { order: { id: order.id }, recipient: order.email, language: 'da', status: 'pending', sent_at: null },
    ])
    await sendEmails(createContextAt(Date.now() + 1000))
    expect(await listReceipts(shop)).toMatchObject([
      { resend_number: 0, language: 'en', status: 'sent' },
      { resend_number: 1, language: 'da', status: 'sent', recipient: order.email },
    ])
    expect((await get(`/v1/orders/${order.id}`)).body.emails).toMatchObject([
      { kind: 'receipt', status: 'sent' },
      { kind: 'receipt', status: 'sent' },
    ])
  })

  it('sends a first receipt for an order that was imported without one', async () => {
    const shop = await seedShopWithReceipts()
    const [id = ''] = await givenOrders(shop, [aReceiptOrder()])
    expect((await resend(id)).status).toBe(200)
    expect(await listReceipts(shop)).toMatchObject([{ resend_number: 0 }])
  })

  it('is refused for five minutes, also when several requests come at once, and then works again', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    const replies = await Promise.all([1, 2, 3, 4].map(() => resend(order.id)))
    expect(tally(replies)).toEqual({ 200: 1, '409 receipt_sent_recently': 3 })
    const refusal = replies.find(({ status }) => status === 409)
    expect(refusal?.headers.get('retry-after')).toBe(String(refusal?.body.retry_after))
    expect(refusal?.body.retry_after).toBeGreaterThan(290)
    expect(refusal?.body.retry_after).toBeLessThanOrEqual(300)
    expect(await listReceipts(shop)).toHaveLength(2)
    await db.all(sql`update transactional_emails set created_at = created_at - ${5 * minute}`)
    expect((await resend(order.id)).status).toBe(200)
  })

  it('goes to the present address, also when that changes before the receipt is sent', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await patch(`/v1/user/${order.user}`, { email: 'second@example.dk' })
    expect((await resend(order.id)).body.recipient).toBe('second@example.dk')
    await patch(`/v1/user/${order.user}`, { email: 'third@example.dk' })
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway).run()
    expect([...provider.accepted.keys()]).toEqual(['third@example.dk'])
    expect(await listRecipients(shop)).toEqual([
      [order.email, 'sent'],
      ['third@example.dk', 'sent'],
    ])
  })

  it.each(['transient', 'rate_limited', 'configuration'] as const)(
    'goes to the present address, also when that changes after an attempt that failed as %s',
    async (kind) => {
      const shop = await seedShopWithReceipts()
      const { body } = await sell(shop, [aReceiptOrder()])
      const { customer } = (await get(`/v1/orders/${body.results[0].order_id}`)).body
      const provider = createProvider({ deduplicates: true })
      const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
      provider.play([createFailure(kind, 'refused', '')])
      await engine.run()
      const email = `corrected-${customer.api_id}@example.dk`.toLowerCase()
      await patch(`/v1/user/${customer.api_id}`, { email })
      engine.advance(60 * minute)
      await engine.run()
      expect(provider.calls.map((call) => call.email.to.address)).toEqual([customer.email, email])
      expect(await listRecipients(shop)).toEqual([[email, 'sent']])
    },
  )

  it('goes to the new customer when an import gives the order to another one before', async () => {
    const shop = await seedShopWithReceipts()
    const order = aReceiptOrder()
    const { body } = await sell(shop, [order])
    const email = `corrected-${body.results[0].order_id}@example.dk`.toLowerCase()
    await importOrders(shop, [{ ...order, customer: { ...order.customer, email } }], { on_duplicate: 'update' })
    const { customer } = (await get(`/v1/orders/${body.results[0].order_id}`)).body
    expect(customer.email).toBe(email)
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    expect([...provider.accepted.keys()]).toEqual([email])
    expect((await get(`/v1/user/${customer.api_id}/messages`)).body.results).toMatchObject([
      { kind: 'receipt', status: 'sent', recipient: email },
    ])
  })

  it('replaces a receipt that still waits, so that only one is sent', async () => {
    const shop = await seedShopWithReceipts()
    const order = aReceiptOrder()
    const { body } = await sell(shop, [order])
    const id: string = body.results[0].order_id
    await db.all(sql`update transactional_emails set created_at = created_at - ${10 * minute}`)
    expect((await resend(id)).status).toBe(200)
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway).run()
    expect(provider.calls).toHaveLength(1)
    expect(await listReceipts(shop)).toMatchObject([
      { status: 'failed', error_code: 'superseded' },
      { status: 'sent', error_code: null },
    ])
  })

  it('is not sent any more when the order is cancelled before', async () => {
    const shop = await seedShopWithReceipts()
    const { body } = await sell(shop, [aReceiptOrder()])
    expect((await post(`/v1/orders/${body.results[0].order_id}/cancel`, {})).status).toBe(200)
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway).run()
    expect(provider.calls).toEqual([])
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed', error_code: 'order_cancelled' }])
  })

  it.each([
    ['the order is cancelled', 'cancel', [['failed', 'order_cancelled']], 1],
    [
      'it is sent again',
      'resend-receipt',
      [
        ['failed', 'superseded'],
        ['sent', null],
      ],
      2,
    ],
  ] as const)('is not sent any more when %s during an attempt that fails', async (_, action, states, calls) => {
    const shop = await seedShopWithReceipts()
    const { body } = await sell(shop, [aReceiptOrder()])
    await db.all(sql`update transactional_emails set created_at = created_at - ${10 * minute}`)
    const provider = createProvider({ deduplicates: true })
    const gateway: typeof provider.gateway = {
      ...provider.gateway,
      send: async (emails, key) => {
        if (provider.calls.length === 0) await post(`/v1/orders/${body.results[0].order_id}/${action}`, undefined)
        return provider.gateway.send(emails, key)
      },
    }
    const engine = createReceiptEngine(gateway, Date.now() + 1000)
    provider.play([createFailure('transient', 'busy', '')])
    await engine.run()
    engine.advance(60 * minute)
    await engine.run()
    expect(provider.calls).toHaveLength(calls)
    const rows = await listReceipts(shop)
    expect(rows.map(({ status, error_code }) => [status, error_code])).toEqual(states)
  })

  it('is not sent any more when an import cancels the order before', async () => {
    const shop = await seedShopWithReceipts()
    const order = aReceiptOrder()
    await sell(shop, [order])
    await importOrders(shop, [{ ...order, status: 'cancelled' }], { on_duplicate: 'update' })
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    expect(provider.calls).toEqual([])
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed', error_code: 'order_cancelled' }])
  })

  it('fails without a call when the address was removed before the receipt is sent', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await resend(order.id)
    await write(sql`update users set email = null, phone_number = '+4520999001' where id = ${order.user}`)
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway).run()
    expect(provider.calls).toEqual([])
    expect((await listReceipts(shop)).at(-1)).toMatchObject({ status: 'failed', error_code: 'email_missing' })
  })

  it('is refused for an order that is not paid yet', async () => {
    const shop = await seedShopWithReceipts()
    const [id = ''] = await givenOrders(shop, [aReceiptOrder({ status: 'pending' })])
    const reply = await resend(id)
    expect(describeRefusal(reply)).toBe('409 receipt_unavailable')
    expect(reply.body).toMatchObject({ reason: 'order_status', current_status: 'pending' })
    expect(await listReceipts(shop)).toEqual([])
  })

  it('is refused for an order that was cancelled after its receipt', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await post(`/v1/orders/${order.id}/cancel`, {})
    const reply = await resend(order.id)
    expect(describeRefusal(reply)).toBe('409 receipt_unavailable')
    expect(reply.body.current_status).toBe('cancelled')
  })

  it('is refused for a customer without an address', async () => {
    const shop = await seedShopWithReceipts()
    const [id = ''] = await givenOrders(shop, [aReceiptOrder({ customer: { phone_number: '+4520100777' } })])
    expect(describeRefusal(await resend(id))).toBe('409 email_missing')
  })

  it('is sent to those who unsubscribed', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await seedSuppressions(shop.organization_id, 1, { address: order.email, reason: 'unsubscribed' })
    expect((await resend(order.id)).status).toBe(200)
  })

  it('is refused for an address that bounced', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await seedSuppressions(shop.organization_id, 1, { address: order.email, reason: 'hard_bounce' })
    const reply = await resend(order.id)
    expect(describeRefusal(reply)).toBe('409 address_suppressed')
    expect(reply.body.reason).toBe('hard_bounce')
    expect(await listReceipts(shop)).toHaveLength(1)
  })

  it('is refused in an edition without a message for receipts', () => {
    const state = { order_status: 'completed', email: 'a@example.dk', suppression: null, latest_at: null } as const
    expect(() => checkReceipt({ ...state, message_id: null }, 0)).toThrow('The edition has no message for receipts.')
  })

  it('is not for viewers, and finds no order of another edition or organisation', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    const organization = { id: shop.organization_id }
    const sibling = await seedEdition(organization)
    const [foreignOrder = ''] = await givenOrders(await seedShop(), [aReceiptOrder()])
    const ask = async (role: 'admin' | 'manager' | 'viewer', editionId?: string, id = order.id) =>
      (await resend(id, (await givenMember(organization, role, editionId)).token)).status
    expect(await ask('viewer')).toBe(403)
    expect(await ask('admin', sibling.id)).toBe(404)
    expect(await ask('manager', shop.edition_id, foreignOrder)).toBe(404)
    expect(await listReceipts(shop)).toHaveLength(1)
  })

  it('hides an address that the edition does not know', async () => {
    const shop = await seedShopWithReceipts()
    const order = await givenSent(shop)
    await write(sql`update users set email = 'known-to-others@example.dk' where id = ${order.user}`)
    const manager = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    const reply = await resend(order.id, manager.token)
    expect([reply.status, reply.body.recipient]).toEqual([200, null])
    expect(reply.text).not.toContain('known-to-others')
    expect((await listReceipts(shop)).at(-1)?.recipient).toBe('known-to-others@example.dk')
  })
})
