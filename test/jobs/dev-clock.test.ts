import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { loadClock, openStorage } from '../../src/entry/clock.ts'
import { openJob } from '../../src/entry/job.ts'
import { scheduled } from '../../src/entry/scheduled.ts'
import type { Bindings } from '../../src/http/env.ts'
import { deliverClaims } from '../../src/modules/webhooks/index.ts'
import { deliverDue } from '../../src/modules/webhooks/jobs.ts'
import { callWith, type Request } from '../support/api.ts'
import { loadCampaign } from '../support/campaigns.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { seedDelivery, seedOpenEndpoint } from '../support/seeding/webhooks.ts'

interface Sent {
  body: { type: string; endpoint_id?: string }
}

let enqueued: Sent['body'][] = []
const WEBHOOKS = { sendBatch: async (batch: readonly Sent[]) => enqueued.push(...batch.map(({ body }) => body)) }
const development = { ENVIRONMENT: 'development', WEBHOOKS }
const bindings = { ...env, ...development } as unknown as Bindings

const ask = (path: string, request: Request = {}) => callWith(development, path, request)
const move = (body: unknown) => ask('/dev/clock', { body, token: null })
const countAhead = async (): Promise<number> => (await ask('/dev/clock', { token: null })).body.ahead_seconds

beforeEach(() => {
  enqueued = []
})
afterEach(async () => {
  vi.restoreAllMocks()
  // Other tests begin at the machine's time.
  await write(sql`delete from dev_clock`)
  await loadClock(bindings)
})

describe('POST /dev/clock', () => {
  it('advances the time by the sum of all advances', async () => {
    expect(await countAhead()).toBe(0)
    expect((await move({ advance_seconds: 3600 })).body).toMatchObject({ ahead_seconds: 3600 })
    expect((await move({ advance_seconds: 60 })).body).toMatchObject({ ahead_seconds: 3660 })
    expect(await countAhead()).toBe(3660)
  })

  it('never moves the time back', async () => {
    await move({ advance_seconds: 3600 })
    const past = await move({ now: new Date().toISOString() })
    expect(past.body).toMatchObject({ status: 400, errors: [{ code: 'in_past', attr: 'now' }] })
    expect(await countAhead()).toBe(3600)
  })

  it('moves the time of every request to the one that is named', async () => {
    const target = new Date(Date.now() + 10 * dayMs).toISOString()
    expect(Date.parse((await move({ now: target })).body.now)).toBeGreaterThanOrEqual(Date.parse(target))
    const created = await ask('/v1/organizations', { body: { name: 'Later' } })
    expect(Date.parse(created.body.created)).toBeGreaterThanOrEqual(Date.parse(target))
  })

  it.each([
    [{}, 'required'],
    [{ advance_seconds: 1, now: '2090-01-01T00:00:00Z' }, 'required'],
    [{ advance_seconds: 0 }, 'min_value'],
    [{ advance_seconds: -5 }, 'min_value'],
    [{ advance_seconds: 1.5 }, 'invalid_type'],
    [{ advance_seconds: 1e12 }, 'max_value'],
    [{ now: '9999-01-01T00:00:00Z' }, 'too_late'],
    [{ now: 'tomorrow' }, 'invalid_date'],
    [{ advance: 5 }, 'unknown_field'],
  ])('refuses %j', async (body, code) => {
    const reply = await move(body)
    expect([reply.status, reply.body.errors[0].code]).toEqual([400, code])
    expect(await countAhead()).toBe(0)
  })

  it('is refused to forms of other sites', async () => {
    const reply = await ask('/dev/clock', {
      raw: '{"advance_seconds":5}',
      headers: { 'content-type': 'text/plain' },
      token: null,
    })
    expect([reply.status, await countAhead()]).toEqual([415, 0])
  })

  it.each(['production', 'test', ''])('does not exist in the environment "%s"', async (ENVIRONMENT) => {
    await move({ advance_seconds: 3600 })
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { body: { advance_seconds: 60 } } : {}
      const reply = await callWith({ ENVIRONMENT }, '/dev/clock', { method, ...body, token: null })
      expect([method, reply.status, reply.body.code]).toEqual([method, 404, 'not_found'])
    }
    // A clock that was moved in the same database moves no other environment.
    const { now } = openJob({ ...bindings, ENVIRONMENT })
    await loadClock({ ...bindings, ENVIRONMENT })
    expect(now()).toBeLessThanOrEqual(Date.now())
  })

  it('ends tokens', async () => {
    const shop = await seedShop()
    const account = await seedAccount()
    await seedMember(account, { organization: shop.organization_id, role: 'admin' })
    const { token } = await seedToken(account, { expires_at: Date.now() + dayMs })
    expect((await ask('/v1/auth/user-info', { token })).status).toBe(200)
    await move({ advance_seconds: 86_401 })
    expect((await ask('/v1/auth/user-info', { token })).body.code).toBe('not_authenticated')
  })

  it('makes retries of webhooks due at once, signed at the time of the receiver', async () => {
    const endpoint = await seedOpenEndpoint()
    const { id: edition } = await seedEdition({ id: endpoint.organization_id })
    const place = { organization: endpoint.organization_id, edition }
    const next_retry_at = Date.now() + 3_600_000
    const { id } = await seedDelivery(place, endpoint.id, { status: 'retrying', next_retry_at })
    await move({ advance_seconds: 1800 })
    expect(enqueued).toEqual([])
    await move({ advance_seconds: 1801 })
    expect(enqueued).toEqual([{ type: 'webhook.deliver', endpoint_id: endpoint.id }])

    const sent: Record<string, string>[] = []
    const result = { status: 200, error: null, retryAfter: null, text: '', durationMs: 5, isDelayed: false }
    const job: JobCtx = {
      ...openJob(bindings),
      webhookPost: { post: async ({ headers }) => (sent.push(headers), result) },
      webhookSenders: { create: () => ({ deliver: (claims) => deliverClaims(job, claims) }) },
    }
    const [earliest, , latest] = [Date.now(), await deliverDue(job, [endpoint.id]), Date.now()]
    const timestamp = Number(sent[0]?.['webhook-timestamp']) * 1000
    expect([timestamp > earliest - 1000, timestamp <= latest, sent.length]).toEqual([true, true, 1])
    const delivery = await db.first(
      sql<{ status: string; signed_at: number; last_attempt_at: number }>`select status, signed_at, last_attempt_at
        from webhook_deliveries where id = ${id}`,
    )
    expect(delivery).toMatchObject({ status: 'success', signed_at: timestamp })
    expect(delivery?.last_attempt_at).toBeGreaterThan(next_retry_at)
  })

  it('starts campaigns whose time it skips as if their time had come', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const scheduledAt = Date.now() + 7 * dayMs
    const { campaign } = await seedReady(place, { status: 'scheduled', scheduled_at: scheduledAt })
    const { campaign: later } = await seedReady(place, { status: 'scheduled', scheduled_at: scheduledAt + 2 * dayMs })
    await move({ advance_seconds: 8 * 86_400 })
    expect(await loadCampaign(campaign.id)).toMatchObject({ run: 1, error_message: '' })
    expect((await loadCampaign(campaign.id)).status).not.toBe('failed')
    expect(await loadCampaign(later.id)).toMatchObject({ status: 'scheduled', run: 0 })
  })

  it('moves the cron trigger too', async () => {
    await move({ advance_seconds: 3600 })
    const at = Date.now()
    await scheduled(createScheduledController({ scheduledTime: new Date(at) }), bindings)
    const row = await db.first(sql<{ at: number }>`select sweeps ->> '$.campaigns.last_run_at' as at from sweep_runs`)
    expect((row?.at ?? 0) - at).toBe(3_600_000)
  })

  it('moves alarms of objects', async () => {
    await move({ advance_seconds: 3600 })
    let alarmAt: number | null = null
    const storage = {
      getAlarm: async () => alarmAt,
      setAlarm: async (at: number) => void (alarmAt = at),
    }
    const state = { storage, blockConcurrencyWhile: (work: () => Promise<unknown>) => work() }
    const moved = openStorage(state as unknown as DurableObjectState, bindings)
    const at = openJob(bindings).now() + 5000
    await moved.setAlarm(at)
    expect(alarmAt).toBe(at - 3_600_000)
    expect(await moved.getAlarm()).toBe(at)
    expect(openStorage(state as unknown as DurableObjectState, env as unknown as Bindings)).toBe(storage)
  })
})
