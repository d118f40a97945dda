import { createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openJob } from '../../src/entry/job.ts'
import { queue } from '../../src/entry/queue.ts'
import { scheduled } from '../../src/entry/scheduled.ts'
import { selectCampaignWaits } from '../../src/modules/campaigns/index.ts'
import { pauseCampaign, resumeCampaign } from '../../src/modules/campaigns/pause/pause.ts'
import { presentCampaign } from '../../src/modules/campaigns/present.ts'
import { findCampaign } from '../../src/modules/campaigns/queries.ts'
import { cancelCampaign, sendCampaignNow } from '../../src/modules/campaigns/transitions.ts'
import { claimRefunds } from '../../src/modules/refund-payments/provider/claim.ts'
import { payRefund } from '../../src/modules/refund-payments/provider/pay.ts'
import { markPassesChanged } from '../../src/modules/wallet/index.ts'
import { claimDueDeliveries } from '../../src/modules/webhooks/delivery/claim.ts'
import { deliverClaims } from '../../src/modules/webhooks/index.ts'
import { callWith, type Reply, type Request } from '../support/api.ts'
import { type Engine, withEngine } from '../support/campaign-engine.ts'
import { listReceipts } from '../support/receipts.ts'
import {
  clearDueRefunds,
  loadRefundRow,
  loadSaleState,
  pendingState,
  refundedState,
  unrefundedState,
} from '../support/refund-payments.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import {
  anOrder,
  aReceiptOrder,
  importOrders,
  seedShopWithAccount,
  seedShopWithReceipts,
  type Shop,
} from '../support/seeding/sales/orders.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale } from '../support/seeding/sales/trades.ts'
import { givenPass } from '../support/seeding/sales/wallet-passes.ts'
import { seedDeliveries, seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { listCaptured as listCapturedPasses, loadPass } from '../support/wallet.ts'
import { listAttempts, loadDeliveries } from '../support/webhooks.ts'

const heldReason = 'Sending is held (OUTGOING=hold).'
const hold = { OUTGOING: 'hold' }

/** The messages of the queues, which have no other consumer here. */
let messages: { name: string; body: unknown }[]
let posted: string[]

const record = (name: string) => ({
  sendBatch: async (batch: readonly { body: unknown }[]) =>
    void messages.push(...batch.map(({ body }) => ({ name, body }))),
})
const queues = {
  WEBHOOKS: record('webhooks'),
  EMAILS: record('emails'),
  REFUNDS: record('refunds'),
  CAMPAIGNS: record('campaigns'),
}

beforeEach(async () => {
  messages = []
  posted = []
  await clearDueRefunds()
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    posted.push(new Request(input, init).url)
    return new Response('', { status: 200 })
  })
})
afterEach(() => vi.restoreAllMocks())

const openBindings = (settings: object) => ({ ...env, ...queues, ...settings }) as unknown as typeof env

/** Runs all sweeps, and the consumers until no message is left. */
async function runMinute(settings: object): Promise<void> {
  const bindings = openBindings(settings)
  await scheduled({ scheduledTime: Date.now() + 1000, cron: '* * * * *', noRetry: () => undefined }, bindings)
  for (let name = messages[0]?.name; name !== undefined; name = messages[0]?.name) {
    const bodies = messages.filter((message) => message.name === name).map(({ body }) => body)
    messages = messages.filter((message) => message.name !== name)
    const timestamp = new Date()
    const batch = bodies.map((body) => ({ id: crypto.randomUUID(), timestamp, attempts: 1, body }))
    await queue(createMessageBatch(name, batch), bindings)
  }
}

const request = (path: string, init: Request = {}, settings: object = hold): Promise<Reply> =>
  callWith({ ...queues, ...settings }, path, init)

/** Imports an order whose customer gets a receipt and whose organisation gets webhooks. */
async function sellHeld(shop: Shop): Promise<string> {
  const { organization_id, edition_id } = shop
  const body = {
    organization_id,
    edition_id,
    source: 'webshop',
    orders: [aReceiptOrder()],
    send_receipts: true,
    emit_webhooks: true,
  }
  const reply = await request('/v1/data-imports/external-orders', { body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body.results[0].order_id
}

const listMails = (recipient: string) =>
  db.all(sql`select 1 from captured_messages where instr(recipient, ${recipient}) > 0`)

describe('while everything that goes out is held', () => {
  it('webhooks and receipts of new work wait without an attempt, and go out once after the release', async () => {
    const shop = await seedShopWithReceipts()
    const endpoint = await seedOpenEndpoint({ organization_id: shop.organization_id })
    const order = await sellHeld(shop)
    for (let minute = 0; minute < 3; minute++) await runMinute(hold)
    expect(posted).toEqual([])
    const deliveries = await loadDeliveries(endpoint.id)
    expect(deliveries.length).toBeGreaterThan(0)
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({ status: 'pending', attempts: 0, claimed_until: null, last_attempt_at: null })
    const [receipt] = await listReceipts(shop)
    expect(receipt).toMatchObject({ status: 'pending', attempts: 0, claimed_until: null, error_code: null })
    expect(await listMails(receipt?.recipient ?? '')).toEqual([])
    const wait = { waiting_reason: heldReason, next_attempt_at: null }
    expect((await request(`/v1/orders/${order}`)).body.emails).toMatchObject([
      { ...wait, status: 'pending', error_code: null, waiting_since: expect.any(String) },
    ])
    expect((await request(`/v1/webhooks/${endpoint.id}`)).body).toMatchObject({ ...wait, failing_since: null })

    await runMinute({})
    await expect
      .poll(async () => (await loadDeliveries(endpoint.id)).map(({ status, attempts }) => [status, attempts]))
      .toEqual(deliveries.map(() => ['success', 1]))
    await runMinute({})
    expect(posted).toEqual(deliveries.map(() => endpoint.url))
    expect(await listReceipts(shop)).toMatchObject([{ status: 'sent', attempts: 1, waiting_reason: null }])
    expect(await listMails(receipt?.recipient ?? '')).toHaveLength(1)
    expect((await request(`/v1/orders/${order}`)).body.emails).toMatchObject([{ status: 'sent', waiting_reason: null }])
  })

  it('tests, retries and recoveries of webhooks are accepted, and go out once after the release', async () => {
    const shop = await seedShopWithReceipts()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const { id, url } = await seedOpenEndpoint({ organization_id: shop.organization_id })
    const at = Date.now() - 1000
    const lost = { created_at: at, modified_at: at }
    await seedDeliveries(place, id, 2, { status: 'exhausted', attempts: 9, ...lost })
    const [failed] = await seedDeliveries(place, id, 1, { status: 'failed', ...lost })
    const since = new Date(at - 1000).toISOString()
    const replies = [
      await request(`/v1/webhooks/${id}/test`, { body: { event: 'purchase.action' } }),
      await request(`/v1/webhooks/${id}/deliveries/${failed?.id}/retry`, { body: {} }),
      await request(`/v1/webhooks/${id}/recover`, { body: { since } }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([201, 200, 200])
    expect(replies[2]?.body).toMatchObject({ recovered: 2, waiting: 2, waiting_reason: heldReason })
    for (let minute = 0; minute < 2; minute++) await runMinute(hold)
    const attempts = async () => (await loadDeliveries(id)).map((delivery) => delivery.attempts)
    expect([posted, (await attempts()).toSorted()]).toEqual([[], [0, 1, 9, 9]])
    await runMinute({})
    await expect.poll(async () => (await loadDeliveries(id)).every(({ status }) => status === 'success')).toBe(true)
    await runMinute({})
    expect(posted).toEqual([url, url, url, url])
    expect((await attempts()).toSorted()).toEqual([1, 10, 10, 2])
  })

  it('no service counts as failing because of the hold, and none as working again', async () => {
    const shop = await seedShopWithReceipts()
    await sellHeld(shop)
    await write(sql`delete from service_outages`)
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    for (let minute = 0; minute < 2; minute++) await runMinute(hold)
    expect(warned).not.toHaveBeenCalled()
    await write(sql`insert into service_outages (service, resource_id, reason, since)
      values ('payments', '', 'The payment provider answers 500.', 1)`)
    await runMinute(hold)
    expect(await db.all(sql`select service, since from service_outages`)).toEqual([{ service: 'payments', since: 1 }])
    const { body } = await request('/v1/system/status')
    for (const { name, failing_since } of body.sweeps) expect([name, failing_since]).toEqual([name, null])
    await write(sql`delete from service_outages`)
    await runMinute({})
  })

  it('a delivery that was claimed before gives its claim back and costs no attempt', async () => {
    const shop = await seedShopWithReceipts()
    const endpoint = await seedOpenEndpoint({ organization_id: shop.organization_id })
    await sellHeld(shop)
    const claims = await claimDueDeliveries(openJob(env), [endpoint.id])
    expect(claims.length).toBeGreaterThan(0)
    await deliverClaims(openJob(openBindings(hold)), claims)
    for (const delivery of await loadDeliveries(endpoint.id)) {
      expect(delivery).toMatchObject({ status: 'pending', attempts: 0, step: 0, claimed_until: null })
      expect(await listAttempts(delivery.id)).toEqual([])
    }
    expect(posted).toEqual([])
    expect((await request(`/v1/webhooks/${endpoint.id}`, {}, {})).body).toMatchObject({ failing_since: null })
  })

  it('refunds wait without an attempt, and are paid once after the release', async () => {
    const sale = await seedSale()
    const refund = await seedDueRefund(sale)
    for (let minute = 0; minute < 3; minute++) await runMinute(hold)
    expect(await loadRefundRow(refund)).toMatchObject({
      status: 'approved',
      attempts: 0,
      version: 1,
      claimed_until: null,
    })
    expect(await loadSaleState(sale)).toEqual(pendingState)
    expect((await request(`/v1/refund-requests/${refund}`)).body).toMatchObject({
      status: 'approved',
      waiting_reason: heldReason,
      next_attempt_at: null,
      attempts: 0,
    })
    await runMinute({})
    await runMinute({})
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', attempts: 1, waiting_reason: null })
    expect(await loadSaleState(sale)).toEqual(refundedState)
    expect((await request(`/v1/refund-requests/${refund}`)).body).toMatchObject({ waiting_reason: null })
  })

  it('an approved refund can be rejected, which releases its amount', async () => {
    const sale = await seedSale()
    const refund = await seedDueRefund(sale, { waiting_reason: 'The payment provider answers 500.', waiting_since: 1 })
    const path = `/v1/refund-requests/${refund}`
    const body = { reason: 'It was paid before the restore.', notify_customer: false }
    const refused = await request(`${path}/reject`, { body }, {})
    expect(describeRefusal(refused)).toBe('409 invalid_transition')
    expect((await request(path, {}, {})).body.allowed_actions).toEqual([])
    expect((await request(path)).body.allowed_actions).toEqual(['reject'])
    expect((await request(`${path}/reject`, { body })).body).toMatchObject({
      status: 'rejected',
      waiting_reason: null,
      waiting_since: null,
      next_attempt_at: null,
    })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
    await runMinute({})
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'rejected', attempts: 0, due_at: null })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
  })

  it('an approved refund that a consumer took before it was rejected is not paid', async () => {
    const sale = await seedSale()
    const refund = await seedDueRefund(sale)
    const job = openJob(env)
    const [claim] = await claimRefunds(job, 1)
    expect(claim?.id).toBe(refund)
    const body = { reason: 'It was paid before the restore.', notify_customer: false }
    expect((await request(`/v1/refund-requests/${refund}/reject`, { body })).status).toBe(200)
    if (claim) await payRefund(job, claim)
    await runMinute({})
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'rejected', attempts: 0, due_at: null })
    expect(await loadSaleState(sale)).toEqual(unrefundedState)
  })

  it('a batch counts, but requests no refund before the release, and can be cancelled', async () => {
    const shop = await seedShopWithAccount('test')
    await importOrders(shop, [anOrder(), anOrder()])
    const create = async () => {
      const { body } = await request(`/v1/editions/${shop.edition_id}/refund-batches`, {
        body: { filter: {}, amount: 'full', reason: 'event_cancelled' },
      })
      await runMinute(hold)
      expect((await request(`/v1/refund-batches/${body.id}/start`, { body: {} })).body).toMatchObject({
        status: 'running',
      })
      for (let minute = 0; minute < 2; minute++) await runMinute(hold)
      const { body: batch } = await request(`/v1/refund-batches/${body.id}`)
      expect(batch).toMatchObject({ status: 'running', dry_run: { orders: 2 }, requested: { orders: 0 } })
      return `/v1/refund-batches/${body.id}`
    }
    const cancelledBatch = await create()
    expect((await request(`${cancelledBatch}/cancel`, { body: {} })).body).toMatchObject({ status: 'cancelled' })
    const batch = await create()
    await runMinute({})
    await runMinute({})
    expect((await request(cancelledBatch)).body).toMatchObject({ status: 'cancelled', requested: { orders: 0 } })
    expect((await request(batch)).body).toMatchObject({
      status: 'finished',
      requested: { orders: 2 },
      requests: [{ completed: 2, open: 0 }],
    })
  })

  it('changes of passes wait, and Google hears of them once after the release', async () => {
    const pass = await givenPass('google')
    const before = (await listCapturedPasses(pass.id)).length
    await write(
      sql`update purchases set status = 'used' where id = ${pass.purchase}`,
      markPassesChanged([pass.purchase], Date.now()),
    )
    for (let minute = 0; minute < 3; minute++) await runMinute(hold)
    expect(await listCapturedPasses(pass.id)).toHaveLength(before)
    expect(await loadPass(pass.id)).toMatchObject({ attempts: 0, claimed_until: null })
    expect((await request(`/v1/purchases/${pass.purchase}/wallet-passes`)).body.results).toMatchObject([
      { waiting_reason: heldReason, next_attempt_at: null },
    ])
    await runMinute({})
    await runMinute({})
    expect(await listCapturedPasses(pass.id)).toHaveLength(before + 1)
    expect(await loadPass(pass.id)).toMatchObject({ due_at: null, waiting_reason: null })
  })
})

const people = 80
const second = 1000
const hour = 3600 * second

async function act(engine: Engine, verb: typeof cancelCampaign): Promise<void> {
  await verb(engine.ctx, await findCampaign(engine.ctx, engine.campaignId))
  await engine.afterCommits()
}

/** Starts a campaign to eighty people, which goes out in two chunks, one at a time. */
async function withCampaign(outgoing: 'send' | 'hold', work: (engine: Engine) => Promise<void>): Promise<void> {
  const { campaign } = await seedReady(await seedCrowd(people))
  await withEngine(campaign.id, { deduplicates: true }, async (engine) => {
    engine.deploy(outgoing)
    await act(engine, sendCampaignNow)
    await engine.alarm()
    engine.store.changeRecord({ concurrency: 1 })
    await work(engine)
  })
}

/** Lets the object work by its own alarms, with a consumer after each. */
async function turn(engine: Engine, times: number): Promise<void> {
  for (let count = 0; count < times && engine.alarmAt !== null; count++) {
    engine.now = Math.max(engine.now, engine.alarmAt)
    await engine.alarm()
    await engine.consume(1)
  }
}

const present = async ({ ctx, campaignId }: Engine) => presentCampaign(await findCampaign(ctx, campaignId), ctx)
const isReachedOnce = ({ provider }: Engine) => [...provider.reached.values()].every((times) => times === 1)

describe('a campaign', () => {
  it('that is started while everything is held lists its recipients, waits, and goes on by its own alarm', async () => {
    await withCampaign('hold', async (engine) => {
      const heldSince = engine.now
      await turn(engine, 5)
      expect(engine.now).toBeLessThan(heldSince + 10 * 60 * second)
      expect([engine.provider.calls, engine.enqueued]).toEqual([0, 0])
      expect(await present(engine)).toMatchObject({
        status: 'sending',
        total_recipients: people,
        sent_count: 0,
        failed_count: 0,
        waiting_reason: heldReason,
        waiting_since: expect.any(String),
        next_attempt_at: null,
      })
      // An operator who looks at it for two days.
      engine.now += 48 * hour
      await turn(engine, 3)
      engine.deploy('send')
      const releasedAt = engine.now
      await turn(engine, 1)
      expect(engine.now - releasedAt).toBeLessThanOrEqual(60 * second)
      expect(engine.provider.calls).toBeGreaterThan(0)
      await turn(engine, 10)
      expect(await present(engine)).toMatchObject({ status: 'sent', sent_count: people, waiting_reason: null })
      expect([engine.provider.reached.size, isReachedOnce(engine)]).toEqual([people, true])
    })
  })

  it('that is held in the middle keeps its counts and the time that temporary faults have', async () => {
    await withCampaign('send', async (engine) => {
      engine.provider.script = ['ok', 'ok', 'ok', 'ok', 'ok', 'rate limited']
      await engine.consume(1)
      const { sent = 0 } = engine.store.readRecord() ?? {}
      expect(sent).toBeGreaterThan(0)
      expect(sent).toBeLessThan(people)
      engine.provider.script = []
      engine.deploy('hold')
      await turn(engine, 3)
      engine.now += 30 * hour
      await turn(engine, 3)
      expect(engine.store.readRecord()).toMatchObject({ status: 'sending', sent, failed: 0 })
      expect(await present(engine)).toMatchObject({ sent_count: sent, waiting_reason: heldReason })
      engine.deploy('send')
      await turn(engine, 10)
      expect(await present(engine)).toMatchObject({ status: 'sent', sent_count: people, failed_count: 0 })
      expect([engine.provider.reached.size, isReachedOnce(engine)]).toEqual([people, true])
    })
  })

  it('that is cancelled before the release sends nothing', async () => {
    await withCampaign('hold', async (engine) => {
      await turn(engine, 2)
      await act(engine, cancelCampaign)
      engine.deploy('send')
      await engine.alarm()
      await turn(engine, 5)
      expect(await present(engine)).toMatchObject({ status: 'cancelled', sent_count: 0, waiting_reason: null })
      expect(engine.provider.calls).toBe(0)
    })
  })

  it('that is paused while it is held, and resumed after the release, waits for its pause alone', async () => {
    await withCampaign('hold', async (engine) => {
      await turn(engine, 2)
      await act(engine, pauseCampaign)
      await turn(engine, 2)
      expect(await present(engine)).toMatchObject({ waiting_reason: 'The campaign is paused.' })
      expect(engine.store.readRecord()).toMatchObject({ held_since: null })
      engine.deploy('send')
      await engine.alarm()
      await turn(engine, 3)
      expect(engine.provider.calls).toBe(0)
      await act(engine, resumeCampaign)
      await turn(engine, 10)
      expect(await present(engine)).toMatchObject({ status: 'sent', sent_count: people })
    })
  })

  it('raises no outage and no warning of its edition while it is held', async () => {
    await withCampaign('hold', async (engine) => {
      await turn(engine, 3)
      const { edition_id } = await findCampaign(engine.ctx, engine.campaignId)
      expect(await db.all(selectCampaignWaits)).toEqual([])
      const { body } = await request(`/v1/editions/${edition_id}/healthcheck`, {}, {})
      expect(JSON.stringify(body)).not.toContain('OUTGOING')
      await act(engine, cancelCampaign)
    })
  })
})
