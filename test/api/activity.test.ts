import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { get, patch, post } from '../support/api.ts'
import { runAlarm, runUntil } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { revert, scan } from '../support/purchases.ts'
import { sell } from '../support/receipts.ts'
import { actOnRefund, requestPurchaseRefund } from '../support/refunds.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedEmailsTo } from '../support/seeding/messaging/transactional-emails.ts'
import { write } from '../support/seeding/rows.ts'
import {
  aReceiptOrder,
  anOrder,
  importOrders,
  seedShop,
  seedShopWithReceipts,
} from '../support/seeding/sales/orders.ts'
import { seedTrades, seedUsesOf } from '../support/seeding/sales/trades.ts'
import { enableWallet } from '../support/seeding/sales/wallet-passes.ts'

interface Entry {
  id: string
  kind: string
  actor: string | null
  status: string | null
  created: string
}

const listOf = async (path: string, token?: string) => (await get(path, token)).body
const listKinds = async (path: string, token?: string): Promise<string[]> =>
  ((await listOf(`${path}?ordering=created`, token)).results as Entry[]).map(({ kind }) => kind)

async function walk(path: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let next: string | null = `${path}?page_size=2`; next;) {
    const { body } = await get(next.replace(/^https:\/\/[^/]+/, ''))
    entries.push(...body.results)
    next = body.next
  }
  return entries
}

/** Sells an order of two tickets with a receipt, and lets everything happen to it. */
async function givenBusyOrder() {
  const shop = await seedShopWithReceipts()
  const sold = aReceiptOrder({ created: '2026-01-01T10:00:00Z' })
  const { body } = await sell(shop, [sold])
  const order: string = body.results[0].order_id
  const read = (await get(`/v1/orders/${order}`)).body
  const [first, second] = read.purchases.map(({ id }: { id: string }) => id)
  const user: string = read.customer.api_id
  return { shop, sold, order, user, first, second }
}

describe('listOrderActivity', () => {
  it('lists what happened with an order, newest first, with who did it', async () => {
    const { shop, sold, order, first, second } = await givenBusyOrder()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    await enableWallet(place, second)
    await post(`/v1/purchases/${second}/wallet-passes`, { platform: 'apple' })
    const { body: use } = await scan(first)
    await revert(first, use.id)
    const refund = await requestPurchaseRefund(second, { amount: 1 })
    await actOnRefund(refund.body.id, 'reject')
    await importOrders(shop, [{ ...sold, order_number: '77' }], { on_duplicate: 'update' })
    await post(`/v1/orders/${order}/cancel`, {})
    const { body } = await get(`/v1/orders/${order}/activity`)
    const kinds = body.results.map(({ kind }: Entry) => kind)
    expect(kinds.toSorted()).toEqual(
      [
        'order_created',
        'order_imported',
        'order_imported',
        'email',
        'email',
        'purchase_used',
        'purchase_use_reverted',
        'pass_issued',
        'refund_requested',
        'refund_rejected',
        'order_cancelled',
      ].toSorted(),
    )
    expect([body.count, kinds.at(-1), new Set(body.results.map(({ id }: Entry) => id)).size]).toEqual([
      11,
      'order_created',
      11,
    ])
    const times = body.results.map(({ created }: Entry) => created)
    expect(times).toEqual(times.toSorted().toReversed())
    const find = (kind: string) => body.results.filter((entry: Entry) => entry.kind === kind)
    expect(find('purchase_used')).toEqual([
      {
        id: `purchase_used:${use.id}`,
        kind: 'purchase_used',
        created: use.used_at,
        actor: 'root',
        edition_id: shop.edition_id,
        order_id: order,
        purchase_id: first,
        resource_id: use.id,
        status: null,
        label: 'Day ticket',
        quantity: 1,
        amount: null,
        currency: null,
      },
    ])
    for (const kind of [
      'purchase_use_reverted',
      'pass_issued',
      'refund_requested',
      'refund_rejected',
      'order_cancelled',
    ])
      expect(find(kind)).toMatchObject([{ actor: 'root', order_id: order, edition_id: shop.edition_id }])
    expect(
      find('order_imported')
        .map(({ status }: Entry) => status)
        .toSorted(),
    ).toEqual(['created', 'updated'])
    expect(find('order_created')).toMatchObject([{ created: '2026-01-01T10:00:00.000Z', amount: 450, currency: 'dkk' }])
    expect(find('refund_rejected')).toMatchObject([{ amount: 1, currency: 'dkk', purchase_id: second }])
  })

  it('pages by cursor through entries of the same time', async () => {
    const { order, first } = await givenBusyOrder()
    await seedUsesOf(first, 9)
    const { body } = await get(`/v1/orders/${order}/activity`)
    expect(body.count).toBe(21)
    expect((await walk(`/v1/orders/${order}/activity`)).map(({ id }) => id)).toEqual(
      body.results.map(({ id }: Entry) => id),
    )
    const { body: up } = await get(`/v1/orders/${order}/activity?ordering=created`)
    expect(up.results.map(({ id }: Entry) => id)).toEqual(body.results.map(({ id }: Entry) => id).toReversed())
  })

  it('is for all roles of the edition, and for no other edition', async () => {
    const { shop, order } = await givenBusyOrder()
    const organization = { id: shop.organization_id }
    const viewer = await givenMember(organization, 'viewer', shop.edition_id)
    const other = await givenMember(organization, 'admin', (await seedEdition(organization)).id)
    expect((await get(`/v1/orders/${order}/activity`, viewer.token)).body.count).toBe(3)
    expect((await get(`/v1/orders/${order}/activity`, other.token)).status).toBe(404)
  })
})

describe('listUserActivity', () => {
  it('lists orders, uses, consents, messages and refunds of a customer', async () => {
    const { shop, order, user, first, second } = await givenBusyOrder()
    const consent = await post('/v1/consents', {
      organization_id: shop.organization_id,
      edition_id: shop.edition_id,
      key: 'news',
      name: 'News',
      title: { en: 'News' },
      text: { en: 'Send me news' },
      type: 'marketing',
      channels: ['email'],
    })
    expect(consent.status, consent.text).toBe(201)
    const given = await post(`/v1/user/${user}/consents/${consent.body.id}/give`, {
      method: 'admin',
      source: 'desk',
      language: 'en',
    })
    expect(given.status, given.text).toBe(200)
    await scan(first)
    await requestPurchaseRefund(second, {})
    const kinds = await listKinds(`/v1/user/${user}/activity`)
    expect(kinds.toSorted()).toEqual(
      ['order_created', 'email', 'purchase_used', 'refund_requested', 'consent'].toSorted(),
    )
    const { results } = await listOf(`/v1/user/${user}/activity`)
    expect(results.find(({ kind }: Entry) => kind === 'consent')).toMatchObject({
      label: 'News',
      status: 'given',
      resource_id: consent.body.id,
      edition_id: shop.edition_id,
    })
    expect(results.find(({ kind }: Entry) => kind === 'purchase_used')).toMatchObject({ order_id: order })
    expect((await walk(`/v1/user/${user}/activity`)).map(({ id }) => id)).toEqual(results.map(({ id }: Entry) => id))
  })

  describe('of a customer of two editions', () => {
    let busy: Awaited<ReturnType<typeof givenBusyOrder>>
    let sibling: string
    beforeAll(async () => {
      busy = await givenBusyOrder()
      const { shop, sold } = busy
      sibling = (await seedEdition({ id: shop.organization_id })).id
      await importOrders({ ...shop, edition_id: sibling }, [anOrder({ customer: sold.customer })])
    })
    const givenToken = async (role: 'manager' | 'viewer', editionId?: string) =>
      (await givenMember({ id: busy.shop.organization_id }, role, editionId)).token

    it.each([
      ['the edition that sold first', () => busy.shop.edition_id, ['order_created', 'email']],
      ['the other edition', () => sibling, ['order_created']],
      ['the organisation', () => undefined, ['order_created', 'order_created', 'email']],
    ])('shows a role of %s what it holds', async (_, chooseEdition, kinds) => {
      const token = await givenToken('manager', chooseEdition())
      const entries = await listKinds(`/v1/user/${busy.user}/activity`, token)
      expect(entries.toSorted()).toEqual(kinds.toSorted())
    })

    it('shows an edition no message of the other', async () => {
      const token = await givenToken('manager', sibling)
      expect((await listOf(`/v1/user/${busy.user}/messages`, token)).count).toBe(0)
    })

    it.each(['activity', 'messages'])('shows viewers no %s', async (path) => {
      expect((await get(`/v1/user/${busy.user}/${path}`, await givenToken('viewer'))).status).toBe(403)
    })
  })

  it('counts hundreds of entries exactly, and pages through them', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const [trade] = await seedTrades(place, 1)
    const user = trade?.user ?? ''
    await seedEmailsTo(place, user, 300)
    await seedUsesOf(trade?.purchase ?? '', 300)
    const { body, status } = await get(`/v1/user/${user}/activity?page_size=5`)
    expect([status, body.count, body.results.length]).toEqual([200, 901, 5])
  })
})

describe('listUserMessages', () => {
  it('lists receipts with what became of them, to the present and to earlier addresses', async () => {
    const { shop, sold, order, user } = await givenBusyOrder()
    await sendEmails(createContextAt(Date.now() + 1000))
    await write(sql`update transactional_emails set created_at = created_at - 600000 where user_id = ${user}`)
    await patch(`/v1/user/${user}`, { email: `new-${user}@example.dk`.toLowerCase() })
    expect((await post(`/v1/orders/${order}/resend-receipt`, undefined)).status).toBe(200)
    const { body } = await get(`/v1/user/${user}/messages`)
    expect(body.results).toMatchObject([
      {
        kind: 'receipt',
        channel: 'email',
        status: 'pending',
        order_id: order,
        sent_at: null,
        recipient: `new-${user}@example.dk`.toLowerCase(),
      },
      {
        kind: 'receipt',
        status: 'sent',
        order_id: order,
        edition_id: shop.edition_id,
        recipient: sold.customer.email,
        language: 'en',
        name: '',
        reason: null,
        sent_at: expect.any(String),
        opened_at: null,
      },
    ])
    expect((await get(`/v1/user/${user}/messages?channel=sms`)).body.count).toBe(0)
  })

  it('hides an address that the edition does not know', async () => {
    const { shop, user } = await givenBusyOrder()
    await write(
      sql`update users set email = 'hidden@example.dk' where id = ${user}`,
      sql`update transactional_emails set recipient = 'hidden@example.dk' where user_id = ${user}`,
    )
    const all = await get(`/v1/user/${user}/messages`)
    expect(all.body.results).toMatchObject([{ recipient: 'hidden@example.dk' }])
    const manager = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    const seen = await get(`/v1/user/${user}/messages`, manager.token)
    expect(seen.body.results).toMatchObject([{ recipient: null }])
    expect(seen.text).not.toContain('hidden@example.dk')
  })

  it('lists messages of campaigns with opens, and says why others got none', async () => {
    const crowd = await seedCrowd(3)
    const [first, second, third] = crowd.people
    await write(sql`update users set phone_number = ${first?.phone_number ?? ''} where id = ${second?.id ?? ''}`)
    const { campaign } = await seedReady(crowd, { channel: 'sms' })
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'])
    const listMessages = async (id = ''): Promise<object[]> => (await get(`/v1/user/${id}/messages`)).body.results
    for (let turn = 0; turn < 20 && (await listMessages(third?.id)).length === 0; turn++) await runAlarm(campaign.id)
    const common = { kind: 'campaign', channel: 'sms', id: campaign.id, recipient: null, order_id: null }
    const messages = [...(await listMessages(first?.id)), ...(await listMessages(second?.id))]
    const sent = { ...common, status: 'sent', reason: null, sent_at: expect.any(String) }
    const skipped = { ...common, status: 'skipped', reason: 'duplicate_address', sent_at: null }
    expect(messages).toHaveLength(2)
    expect(messages).toEqual(expect.arrayContaining([expect.objectContaining(sent), expect.objectContaining(skipped)]))
    expect(await listMessages(third?.id)).toMatchObject([sent])
    await write(sql`update campaign_receipts set opened_at = received_at + 1000 where user_id = ${third?.id ?? ''}`)
    expect(await listMessages(third?.id)).toMatchObject([{ ...sent, opened_at: expect.any(String) }])
    expect(await listKinds(`/v1/user/${third?.id}/activity`)).toEqual(
      expect.arrayContaining(['campaign', 'campaign_opened']),
    )
    expect((await get(`/v1/user/${third?.id}/messages?channel=email`)).body.count).toBe(0)
  })
})
