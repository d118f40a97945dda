import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { formatReference } from '../../src/domain/campaigns/recipient-events.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { listAnnounced, listAnnouncedKinds } from '../support/announcements.ts'
import { patch } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { postEvent } from '../support/provider-events.ts'
import { listReceipts } from '../support/receipts.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { db, write } from '../support/seeding/rows.ts'
import { aReceiptOrder, importOrders, seedShop, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import { seedEndpoint, seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { sendCampaign } from '../support/visits.ts'
import { loadDeliveries } from '../support/webhook-rows.ts'
import { answers, engine, happen, loadEndpoint } from '../support/webhooks.ts'

describe('events about messages', () => {
  const bounce = (type: string) => ({ bounce: { type, subType: 'General', message: 'no <a@b.dk>' } })
  const buildEvent = (reference: string, type: string, more: object = {}) => ({
    type: `email.${type}`,
    created_at: '2026-06-01T08:00:00.000Z',
    data: { email_id: 'm-1', tags: { reference }, ...more },
  })

  it('say once for each reason that a message of a campaign bounced, and once that it was reported, without an address', async () => {
    const { id, crowd } = await sendCampaign(3)
    const [hard, soft, angry] = crowd.people.map(({ seq }) => formatReference(id, seq))
    const replies = []
    for (const event of [
      buildEvent(hard ?? '', 'bounced', bounce('Permanent')),
      buildEvent(hard ?? '', 'bounced', bounce('Permanent')),
      buildEvent(soft ?? '', 'bounced', bounce('Transient')),
      buildEvent(soft ?? '', 'bounced', bounce('Transient')),
      buildEvent(soft ?? '', 'bounced', bounce('Permanent')),
      buildEvent(angry ?? '', 'complained'),
      buildEvent(angry ?? '', 'complained'),
      buildEvent(angry ?? '', 'delivered'),
    ])
      replies.push(await postEvent(event))
    const messages = replies.flatMap(({ enqueued }) => enqueued)
    await applyEvents(createJob(), messages)
    await applyEvents(createJob(), messages.toReversed())
    const events = await listAnnounced(crowd.organization, 'message.')
    const state = { message: { channel: 'email', kind: 'campaign' }, campaign: { id }, order: null }
    const event = (kind: string, person: number, reason: string) => ({
      kind,
      edition_id: crowd.edition,
      data: {
        ...state,
        user: { api_id: crowd.people[person]?.id },
        reason,
        occurred_at: '2026-06-01T08:00:00.000Z',
      },
    })
    expect(events).toHaveLength(4)
    expect(events).toEqual(
      expect.arrayContaining([
        event('message.bounced', 0, 'hard'),
        event('message.bounced', 1, 'soft'),
        event('message.bounced', 1, 'hard'),
        event('message.complained', 2, 'complaint'),
      ]),
    )
    const people = crowd.people.map(({ email }) => email ?? '')
    for (const email of [...people, 'a@b.dk']) expect(JSON.stringify(events)).not.toContain(email)
  })

  it('come once when the database fails before or after the commit', async () => {
    const { id, crowd } = await sendCampaign(1)
    const reply = await postEvent(
      buildEvent(formatReference(id, crowd.people[0]?.seq ?? 0), 'bounced', bounce('Permanent')),
    )
    const fails = (when: 'before' | 'after'): JobCtx => {
      const job = createContextAt(Date.now())
      const batch = job.db.batch.bind(job.db)
      job.db.batch = async (statements) => {
        if (when === 'before') throw new Error('the database was not reached')
        await batch(statements)
        throw new Error('the answer was lost')
      }
      return job
    }
    for (const when of ['before', 'after'] as const)
      await expect(applyEvents(fails(when), reply.enqueued)).rejects.toThrow('events could not be applied')
    await applyEvents(createJob(), reply.enqueued)
    expect(await listAnnouncedKinds(crowd.organization, 'message.')).toEqual(['message.bounced'])
    const suppressed = await db.all(sql`select 1 from suppressions where organization_id = ${crowd.organization}`)
    expect(suppressed).toHaveLength(1)
  })

  it('have no edition where its roles do not see the recipients', async () => {
    const { id, crowd } = await sendCampaign(1)
    await write(sql`update campaigns set segment_snapshot = json_set(segment_snapshot, '$.edition_id', null)
      where id = ${id}`)
    const endpoint = await seedEndpoint(crowd, { events: ['message.bounced'] })
    const reply = await postEvent(
      buildEvent(formatReference(id, crowd.people[0]?.seq ?? 0), 'bounced', bounce('Permanent')),
    )
    await applyEvents(createJob(), reply.enqueued)
    expect(await listAnnounced(crowd.organization, 'message.')).toMatchObject([{ edition_id: null }])
    expect(await loadDeliveries(endpoint.id)).toEqual([])
  })

  it('say the same about receipts, once, and nothing about unknown messages', async () => {
    const shop = await seedShopWithReceipts()
    const order = aReceiptOrder()
    const { body } = await importOrders(shop, [order], { send_receipts: true })
    const [receipt] = await listReceipts(shop)
    const endpoint = await seedEndpoint(
      { organization: shop.organization_id, edition: shop.edition_id },
      { events: ['message.bounced', 'message.complained'] },
    )
    for (const event of [
      buildEvent(receipt?.id ?? '', 'failed'),
      buildEvent(receipt?.id ?? '', 'bounced', bounce('Permanent')),
      buildEvent(receipt?.id ?? '', 'bounced', bounce('Permanent')),
      buildEvent(receipt?.id ?? '', 'complained'),
      buildEvent(receipt?.id ?? '', 'complained'),
      buildEvent('tem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', 'complained'),
      buildEvent(receipt?.id ?? '', 'delivered'),
    ])
      expect((await postEvent(event)).status).toBe(200)
    const state = {
      message: { channel: 'email', kind: 'receipt' },
      campaign: null,
      order: { id: body.results[0].order_id },
      user: { api_id: receipt?.user_id },
      occurred_at: '2026-06-01T08:00:00.000Z',
    }
    expect(await listAnnounced(shop.organization_id, 'message.')).toEqual([
      { kind: 'message.bounced', edition_id: shop.edition_id, data: { ...state, reason: 'undelivered' } },
      { kind: 'message.bounced', edition_id: shop.edition_id, data: { ...state, reason: 'hard' } },
      { kind: 'message.complained', edition_id: shop.edition_id, data: { ...state, reason: 'complaint' } },
    ])
    expect((await loadDeliveries(endpoint.id)).map(({ kind }) => kind)).toEqual([
      'message.bounced',
      'message.bounced',
      'message.complained',
    ])
  })
})

describe('the event about a disabled endpoint', () => {
  const listDisabled = async (organization: string) =>
    (await listAnnounced(organization, 'webhook.')).map(({ edition_id, data }) => [
      edition_id,
      (data['webhook'] as { id: string }).id,
      data['reason'],
    ])

  it('reaches the other endpoints once, for an answer 410 to several requests and to two consumers', async () => {
    const gone = await seedOpenEndpoint()
    const place = { organization: gone.organization_id, edition: null }
    const [watcher, other] = [
      await seedEndpoint(place, { events: ['webhook.disabled'] }),
      await seedEndpoint(
        { ...place, edition: (await seedEdition({ id: gone.organization_id })).id },
        {
          events: ['webhook.disabled'],
        },
      ),
    ]
    await write(sql`update webhook_endpoints set events = '["purchase.action","webhook.disabled"]'
      where id = ${gone.id}`)
    await happen(gone, 6)
    await Promise.all([engine(() => answers(410)).run([gone.id]), engine(() => answers(410)).run([gone.id])])
    expect((await loadEndpoint(gone.id)).is_active).toBe(0)
    expect(await listDisabled(gone.organization_id)).toEqual([[null, gone.id, 'gone']])
    expect((await loadDeliveries(watcher.id)).map(({ kind }) => kind)).toEqual(['webhook.disabled'])
    expect(await loadDeliveries(other.id)).toEqual([])
    expect((await loadDeliveries(gone.id)).every(({ kind }) => kind === 'purchase.action')).toBe(true)
  })

  it('is stored again when the endpoint is switched on and fails again, and has the edition of the endpoint', async () => {
    const { organization_id, edition_id } = await seedShop()
    const endpoint = await seedOpenEndpoint({ organization_id, edition_id })
    await happen({ organization_id, edition_id })
    const first = engine(() => answers(500))
    await first.run([endpoint.id])
    await engine(() => answers(500), { now: first.job.now() + 5 * dayMs }).run([endpoint.id])
    expect(await listDisabled(organization_id)).toEqual([[edition_id, endpoint.id, 'failing']])
    await patch(`/v1/webhooks/${endpoint.id}`, { is_active: true })
    await happen({ organization_id, edition_id })
    await engine(() => answers(410)).run([endpoint.id])
    expect((await listDisabled(organization_id)).map(([, , reason]) => reason).toSorted()).toEqual(['failing', 'gone'])
  })

  it('is none when a person switches it off', async () => {
    const endpoint = await seedOpenEndpoint()
    expect((await patch(`/v1/webhooks/${endpoint.id}`, { is_active: false })).status).toBe(200)
    expect(await listDisabled(endpoint.organization_id)).toEqual([])
  })

  it('is stored with the change, or neither is', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const machine = engine(() => answers(410))
    const batch = machine.job.db.batch.bind(machine.job.db)
    let isDown = true
    machine.job.db.batch = async (statements) => {
      if (isDown && statements.length > 3) throw new Error('the database was not reached')
      return batch(statements)
    }
    await machine.runUntilCrash([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).is_active).toBe(1)
    expect(await listDisabled(endpoint.organization_id)).toEqual([])
    isDown = false
    await happen(endpoint)
    machine.advance(10_000)
    await machine.run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).is_active).toBe(0)
    expect(await listDisabled(endpoint.organization_id)).toHaveLength(1)
  })
})
