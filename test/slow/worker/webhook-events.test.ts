import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { zeroCounters } from '../../../src/domain/campaigns/counters.ts'
import { dayMs } from '../../../src/domain/time/instants.ts'
import { listAnnounced, listAnnouncedKinds } from '../../support/announcements.ts'
import { call, callWith, post, rootToken } from '../../support/api.ts'
import { withEngine } from '../../support/campaign-engine.ts'
import { createJob, loadCampaign, runUntil } from '../../support/campaigns.ts'
import { crashAt } from '../../support/crashes.ts'
import {
  approveAgain,
  buildRefusal,
  clearDueRefunds,
  loadRefundRow,
  seedDueSale,
} from '../../support/refund-payments.ts'
import { aBadRow, buildRows, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedMerchantAccount } from '../../support/seeding/sales/merchant-accounts.ts'
import {
  anOrder,
  givenTicket,
  importOrders,
  seedShop,
  seedShopWithReceipts,
} from '../../support/seeding/sales/orders.ts'
import { buildMessage, createImporter, loadImport, runToEnd } from '../../support/staged-imports.ts'
import { importFile, undoToEnd } from '../../support/undone-imports.ts'
import { sendCampaign } from '../../support/visits.ts'

describe('events about orders of a call that is interrupted', () => {
  it('are stored once, with their orders, for a crash at any point', async () => {
    let hasCrashed = true
    for (let number = 1; hasCrashed; number++) {
      const shop = await seedShop()
      const orders = Array.from({ length: 30 }, () => anOrder())
      const body = { ...shop, source: 'webshop', emit_webhooks: true, orders }
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const crash = crashAt(number)
      const listOrders = () => db.all(sql<{ id: string }>`select id from orders where edition_id = ${shop.edition_id}`)
      const expectOne = async () => {
        const ids = (await listOrders()).map(({ id }) => id)
        const events = await listAnnounced(shop.organization_id, 'order.')
        expect([number, events.map(({ data }) => (data['order'] as { id: string }).id).toSorted()]).toEqual([
          number,
          ids.toSorted(),
        ])
      }
      await callWith(crash.bindings, '/v1/data-imports/external-orders', { body, headers })
      await expectOne()
      hasCrashed = crash.hasCrashed()
      // The claim of the key ends a minute after the machine stopped.
      await write(sql`update idempotency_keys set claimed_until = 0 where status is null`)
      const reply = await call('/v1/data-imports/external-orders', { method: 'POST', body, headers, token: rootToken })
      expect(reply.status, reply.text).toBe(201)
      await expectOne()
      expect(await listOrders()).toHaveLength(30)
      expect(await listAnnouncedKinds(shop.organization_id, 'import.')).toEqual(['import.completed'])
    }
  })
})

describe('events about a customer whose update is interrupted', () => {
  it('are stored once, with the change, for a crash at any point', async () => {
    let hasCrashed = true
    for (let number = 1; hasCrashed; number++) {
      const shop = await seedShop()
      await importOrders(shop, [anOrder()])
      const [user] = await db.all(
        sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}`,
      )
      const path = `/v1/user/${user?.id}`
      const request = {
        method: 'PATCH',
        body: { last_name: 'Lund' },
        headers: { 'idempotency-key': crypto.randomUUID() },
      }
      const crash = crashAt(number)
      const expectOne = async () => {
        const [row] = await db.all(sql<{ last_name: string }>`select last_name from users where id = ${user?.id}`)
        const events = (await listAnnounced(shop.organization_id, 'user.')).map(({ edition_id, data }) => [
          edition_id,
          data['fields'],
        ])
        expect([number, events]).toEqual([
          number,
          row?.last_name === 'Lund' ? [null, shop.edition_id].map((edition) => [edition, ['last_name']]) : [],
        ])
        return row?.last_name
      }
      await callWith(crash.bindings, path, request)
      await expectOne()
      hasCrashed = crash.hasCrashed()
      await write(sql`update idempotency_keys set claimed_until = 0 where status is null`)
      expect((await call(path, { ...request, token: rootToken })).status).toBe(200)
      expect(await expectOne()).toBe('Lund')
    }
  })
})

describe('events about the undo of an import', () => {
  it('say what happened to its orders and customers', async () => {
    const shop = await seedShop()
    const [old, kept] = [anOrder({ external_id: 'U-1' }), anOrder({ external_id: 'U-2', status: 'pending' })]
    await importOrders(shop, [old, kept])
    const { body } = await importOrders(
      shop,
      [
        { ...kept, status: 'completed', customer: { ...kept.customer, phone_number: '+4532123459' } },
        anOrder({ external_id: 'U-3' }),
      ],
      { emit_webhooks: true, on_duplicate: 'update' },
    )
    const count = (await listAnnouncedKinds(shop.organization_id)).length
    await undoToEnd(body.id)
    const events = (await listAnnounced(shop.organization_id)).slice(count)
    const found = events.map(({ kind, edition_id, data }) => {
      const { order, previous_status, fields } = data as Record<string, Record<string, unknown>>
      return [kind, edition_id, order?.['external_id'] ?? fields ?? null, order?.['status'] ?? null, previous_status]
    })
    const announced = found.filter(([kind]) => kind !== 'purchase.action')
    expect(announced.toSorted()).toEqual(
      [
        ['order.cancelled', shop.edition_id, 'U-3', 'cancelled', 'completed'],
        ['order.updated', shop.edition_id, 'U-2', 'pending', 'completed'],
        ['user.updated', null, ['phone_number'], null, undefined],
        ['user.updated', shop.edition_id, ['phone_number'], null, undefined],
      ].toSorted(),
    )
  })

  it('are silent if those of the import were', async () => {
    const shop = await seedShop()
    const { id } = await importFile(shop, buildRows(3))
    await undoToEnd(id)
    expect(await listAnnouncedKinds(shop.organization_id)).toEqual(['import.completed'])
  })
})

describe('the event about the end of an import', () => {
  it('is stored once for a file, for a crash at any point, and says what became of its orders', async () => {
    let hasDied = true
    for (let roundTrip = 1; hasDied; roundTrip++) {
      const results: boolean[] = []
      for (const when of ['before', 'after'] as const) {
        const shop = await seedShop()
        const id = await seedStarted(shop, [...buildRows(26), aBadRow()])
        const take = createImporter({ death: { roundTrip, when } }).take(buildMessage(id))
        results.push(
          await take.then(
            () => false,
            () => true,
          ),
        )
        await runToEnd(id)
        const counts = { created_orders: 26, updated_orders: 0, skipped_orders: 0, failed_orders: 1 }
        const data_import = {
          id,
          kind: 'orders',
          source: 'csv',
          status: 'completed_with_errors',
          total_rows: 27,
          ...counts,
        }
        expect([roundTrip, when, await listAnnounced(shop.organization_id)]).toEqual([
          roundTrip,
          when,
          [
            {
              kind: 'import.completed',
              edition_id: shop.edition_id,
              data: { data_import, occurred_at: expect.any(String) },
            },
          ],
        ])
      }
      hasDied = results.some(Boolean)
    }
  })

  it('is none for an import that failed, or was cancelled', async () => {
    const shop = await seedShop()
    const failed = await seedStarted(shop, [aBadRow()])
    await runToEnd(failed)
    expect((await loadImport(failed)).status).toBe('failed')
    const cancelled = await seedStarted(shop, buildRows(3))
    await write(sql`update data_imports set status = 'cancelling' where id = ${cancelled}`)
    await runToEnd(cancelled)
    expect((await loadImport(cancelled)).status).toBe('cancelled')
    expect(await listAnnouncedKinds(shop.organization_id)).toEqual([])
  })

  it('comes after a call with emit_webhooks, whatever the number of its groups, and after no refused one', async () => {
    const shop = await seedShop()
    const orders = Array.from({ length: 60 }, () => anOrder())
    await importOrders(shop, orders, { emit_webhooks: true })
    await importOrders(shop, orders.slice(0, 1), { emit_webhooks: true })
    await importOrders(shop, [{ ...anOrder(), currency: 'x' }], { emit_webhooks: true })
    await importOrders(shop, [anOrder()])
    const events = await listAnnounced(shop.organization_id, 'import.')
    expect(events.map(({ data }) => data['data_import'])).toMatchObject([
      { source: 'api', status: 'completed', created_orders: 60 },
      { source: 'api', status: 'completed', created_orders: 0, skipped_orders: 1 },
    ])
  })
})

describe('events about refunds', () => {
  const listRefunds = async (organization: string) =>
    (await listAnnounced(organization, 'refund.')).map(({ kind, data }) => {
      const { status, amount, failure_code } = data['refund_request'] as Record<string, unknown>
      return [kind, status, data['previous_status'], amount, failure_code]
    })

  it('say once that a refund was paid, for a crash at any point', async () => {
    let hasCrashed = true
    for (let trips = 1; hasCrashed; trips++) {
      await clearDueRefunds()
      const { sale, refund, engine: consumer } = await seedDueSale()
      hasCrashed = await consumer.runUntilCrash(trips)
      for (let time = 0; time < 3; time++) {
        consumer.advance(600_000)
        await consumer.run()
      }
      expect([trips, await listRefunds(sale.organization)]).toEqual([
        trips,
        [['refund.completed', 'completed', 'processing', 100, null]],
      ])
      const [event] = await listAnnounced(sale.organization, 'refund.')
      expect(event).toMatchObject({
        edition_id: sale.edition,
        data: { refund_request: { id: refund }, order: { id: sale.order }, user: { api_id: sale.user } },
      })
    }
  })

  it('say that a refund failed, and why, and that a repeated attempt paid it', async () => {
    await clearDueRefunds()
    const { sale, refund, provider, engine: consumer } = await seedDueSale()
    provider.setScript([buildRefusal('declined')])
    await consumer.run()
    expect(await listRefunds(sale.organization)).toEqual([['refund.failed', 'failed', 'processing', 100, 'declined']])
    await approveAgain(sale, refund, consumer.job.now())
    await consumer.run()
    expect((await loadRefundRow(refund)).status).toBe('completed')
    expect((await listRefunds(sale.organization)).toSorted()).toEqual([
      ['refund.completed', 'completed', 'processing', 100, null],
      ['refund.failed', 'failed', 'processing', 100, 'declined'],
    ])
  })

  it('say that the provider reversed a refund', async () => {
    await clearDueRefunds()
    const { sale, refund, provider, engine: consumer } = await seedDueSale()
    await consumer.run()
    provider.decide((await loadRefundRow(refund)).provider_reference ?? '', false)
    consumer.advance(2 * dayMs)
    await consumer.run()
    const [completion, ...later] = await listRefunds(sale.organization)
    expect(completion).toEqual(['refund.completed', 'completed', 'processing', 100, null])
    expect(later).toEqual([['refund.failed', 'failed', 'completed', 100, 'expired_card']])
  })

  it('come with a refund that its approval completes, and not with one that is only requested', async () => {
    const shop = await seedShopWithReceipts()
    await seedMerchantAccount({ id: shop.organization_id }, { settle_manually: false }, shop.edition_id)
    const ticket = await givenTicket(shop)
    const request = await post(`/v1/purchases/${ticket.id}/refund-requests`, { reason: 'customer_request' })
    expect(await listRefunds(shop.organization_id)).toEqual([])
    await post(`/v1/refund-requests/${request.body.id}/approve`, {})
    expect(await listRefunds(shop.organization_id)).toEqual([['refund.completed', 'completed', 'approved', 225, null]])
  })
})

describe('the event about a sent campaign', () => {
  it('is stored once, however often the object and its database fail', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const crowd = await seedCrowd(5)
      const { campaign } = await seedReady(crowd)
      await write(sql`update campaigns set status = 'calculating', run = 1, version = version + 1,
        heartbeat_at = ${Date.now()} where id = ${campaign.id}`)
      let state = seed
      const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
      await withEngine(campaign.id, { deduplicates: true, random }, async (machine) => {
        machine.faultEvery = 4
        await machine.wake().catch(() => undefined)
        for (let turn = 0; turn < 60; turn++) {
          if (turn === 50) machine.faultEvery = 0
          await machine.wake().catch(() => undefined)
          await machine.alarm()
          await machine.consume(1)
          machine.now += 61_000
        }
      })
      expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'sent', sent_count: 5 })
      expect([seed, await listAnnounced(crowd.organization, 'campaign.')]).toMatchObject([
        seed,
        [
          {
            kind: 'campaign.sent',
            edition_id: crowd.edition,
            data: { campaign: { id: campaign.id, channel: 'email', total_recipients: 5, sent_count: 5 } },
          },
        ],
      ])
    }
  })

  it('is not repeated by later opens, nor by a retry of failed recipients', async () => {
    const { id, crowd } = await sendCampaign(2)
    expect(await listAnnouncedKinds(crowd.organization, 'campaign.')).toEqual(['campaign.sent'])
    await write(sql`update campaigns set status = 'sending', run = run + 1 where id = ${id}`)
    const { projectSnapshot } = await import('../../../src/modules/campaigns/index.ts')
    const { run, revision } = await loadCampaign(id)
    const snapshot = {
      campaign_id: id,
      run,
      revision: revision + 1,
      status: 'sent' as const,
      error_message: '',
      user_count: 2,
      started_at: 1,
      completed_at: 2,
      waiting_reason: null,
      waiting_since: null,
      next_attempt_at: null,
      send_window: null,
      paused_at: null,
      window_waiting_since: null,
      window_opens_at: null,
    }
    const counters = { ...zeroCounters, total: 2, sent: 2 }
    for (const later of [0, 1])
      await projectSnapshot(createJob(), { ...snapshot, ...counters, revision: revision + 1 + later })
    expect((await loadCampaign(id)).status).toBe('sent')
    expect(await listAnnouncedKinds(crowd.organization, 'campaign.')).toEqual(['campaign.sent'])
  })

  it('is none for a campaign that was cancelled or failed', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await post(`/v1/campaigns/${campaign.id}/cancel`, {})
    await runUntil(campaign.id, ['cancelled'])
    expect(await listAnnouncedKinds(crowd.organization, 'campaign.')).toEqual([])
  })
})
