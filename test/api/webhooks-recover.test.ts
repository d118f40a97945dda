import { beforeAll, describe, expect, it } from 'vitest'
import type { DeliveryStatus } from '../../src/domain/webhooks/webhooks.ts'
import { exampleData } from '../../src/modules/webhooks/events/example-contract.ts'
import { call, callWith, get, post, publicUrl } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { describeRefusal } from '../support/refusals.ts'
import { next, seededAt } from '../support/seeding/rows.ts'
import {
  neverOpen,
  seedDeliveries,
  seedDelivery,
  type EndpointRow,
  seedOpenEndpoint,
} from '../support/seeding/webhooks.ts'
import { loadDeliveries, buildDeliveryRow, buildEndpointRow, createQuietClient } from '../support/webhook-rows.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const place = () => ({ organization: world.a.id, edition: world.a.editions[0].id })
const seedOwn = (columns: Partial<EndpointRow> = {}) =>
  seedOpenEndpoint({ organization_id: world.a.id, edition_id: world.a.editions[0].id, ...columns })

describe('recoverWebhookDeliveries', () => {
  const formatTime = (time: number) => new Date(time).toISOString()

  it('repeats failed and exhausted deliveries of a time window, from the start of the schedule', async () => {
    const { post: ask, enqueued } = createQuietClient()
    const endpoint = await seedOwn()
    const seedDeliveryAt = async (status: DeliveryStatus, created_at: number) =>
      (await seedDelivery(place(), endpoint.id, { status, created_at, step: 9, next_retry_at: neverOpen })).id
    const first = await seedDeliveryAt('failed', seededAt)
    const last = await seedDeliveryAt('exhausted', seededAt + 1000)
    const others = [
      await seedDeliveryAt('failed', seededAt - 1),
      await seedDeliveryAt('failed', seededAt + 1001),
      await seedDeliveryAt('success', seededAt),
      await seedDeliveryAt('retrying', seededAt),
      await seedDeliveryAt('pending', seededAt),
    ]
    const elsewhere = await seedDelivery(place(), (await seedOwn()).id, { created_at: seededAt })
    const before = await Promise.all([...others, elsewhere.id].map(buildDeliveryRow))
    const window = { since: formatTime(seededAt), until: formatTime(seededAt + 1000) }
    const reply = await ask(`/v1/webhooks/${endpoint.id}/recover`, window, world.people.EA.token)
    const healthy = {
      missed: 0,
      has_more_missed: false,
      waiting_reason: null,
      waiting_since: null,
      next_attempt_at: null,
    }
    expect([reply.status, reply.body]).toEqual([200, { recovered: 2, waiting: 2, ...healthy }])
    for (const id of [first, last]) {
      expect(await buildDeliveryRow(id)).toMatchObject({ status: 'retrying', step: 0, manual: null, attempts: 1 })
      expect((await buildDeliveryRow(id))?.next_retry_at).toBeLessThanOrEqual(Date.now())
    }
    expect(await Promise.all([...others, elsewhere.id].map(buildDeliveryRow))).toEqual(before)
    expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delaySeconds: 0 }])
    const repetition = await ask(`/v1/webhooks/${endpoint.id}/recover`, window)
    expect(repetition.body).toEqual({ recovered: 0, waiting: 4, ...healthy })
  })

  it('counts deliveries that wait for a paused endpoint, and says why and until when', async () => {
    const { post: ask, enqueued } = createQuietClient()
    const failing = {
      breaker_until: neverOpen,
      failing_since: seededAt,
      failing_reason: 'The endpoint answers 500.',
      next_attempt_at: seededAt + 5000,
    }
    const { id } = await seedOwn(failing)
    const waiting = { status: 'retrying', next_retry_at: neverOpen } as const
    await seedDeliveries(place(), id, 2, waiting)
    await seedDelivery(place(), id, { ...waiting, status: 'pending', attempts: 0, step: 0 })
    await seedDelivery(place(), id, { ...waiting, claimed_until: neverOpen })
    await seedDelivery({ ...place(), edition: world.a.editions[1].id }, id, waiting)
    await seedDelivery(place(), id, { status: 'success' })
    const before = await loadDeliveries(id)
    const wait = {
      missed: 0,
      has_more_missed: false,
      waiting_reason: 'The endpoint answers 500.',
      waiting_since: formatTime(seededAt),
      next_attempt_at: formatTime(neverOpen),
    }
    const recover = (who: 'OA' | 'EA') =>
      ask(`/v1/webhooks/${id}/recover`, { since: formatTime(0) }, world.people[who].token)
    expect((await recover('EA')).body).toEqual({ recovered: 0, waiting: 4, ...wait })
    expect((await recover('OA')).body).toEqual({ recovered: 0, waiting: 5, ...wait })
    expect(await loadDeliveries(id)).toEqual(before)
    expect(enqueued).toEqual([])

    const lost = await seedDelivery(place(), id, { status: 'exhausted' })
    expect((await recover('EA')).body).toEqual({ recovered: 1, waiting: 4, ...wait })
    expect(await buildDeliveryRow(lost.id)).toMatchObject({ status: 'retrying', next_retry_at: neverOpen })
    expect((await recover('EA')).body).toMatchObject({ recovered: 0, waiting: 5 })
  })

  it('says that recovered deliveries of a failing endpoint are attempted at once when nothing pauses it', async () => {
    const { post: ask } = createQuietClient()
    const reason = 'The endpoint cannot be reached (dns_failure).'
    const later = { failing_since: seededAt, failing_reason: reason, next_attempt_at: neverOpen }
    const { id } = await seedOwn(later)
    await seedDelivery(place(), id)
    await seedDelivery(place(), id, { status: 'retrying', next_retry_at: neverOpen })
    const request = { since: formatTime(0) }
    const { body } = await ask(`/v1/webhooks/${id}/recover`, request)
    expect(body).toMatchObject({ recovered: 1, waiting: 1, waiting_reason: reason })
    expect(Date.parse(body.next_attempt_at)).toBeLessThanOrEqual(Date.now())
  })

  it('answers a repeated request with the same numbers', async () => {
    const { send } = createQuietClient()
    const { id } = await seedOwn()
    await seedDeliveries(place(), id, 2)
    await seedDelivery(place(), id, { status: 'pending', next_retry_at: neverOpen })
    const headers = { 'Idempotency-Key': `recover-${next()}` }
    const request = { method: 'POST', body: { since: formatTime(0) }, headers }
    const first = await send(`/v1/webhooks/${id}/recover`, request)
    const second = await send(`/v1/webhooks/${id}/recover`, request)
    expect(first.body).toMatchObject({ recovered: 2, waiting: 1 })
    expect(second.text).toBe(first.text)
  })

  it('counts each delivery once for simultaneous requests', async () => {
    const { post: ask } = createQuietClient()
    const { id } = await seedOwn()
    await seedDeliveries(place(), id, 20)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => ask(`/v1/webhooks/${id}/recover`, { since: formatTime(0) })),
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(replies.reduce((sum, { body }) => sum + body.recovered, 0)).toBe(20)
  })

  it('recovers nothing when the endpoint is switched off meanwhile', async () => {
    const { id } = await seedOwn()
    await seedDeliveries(place(), id, 3)
    await seedDelivery(place(), id, { status: 'retrying', next_retry_at: neverOpen })
    const enqueued: unknown[] = []
    const switchOff = () => call(`/v1/webhooks/${id}`, { method: 'PATCH', body: { is_active: false } })
    const bindings = {
      ...interruptDatabase(/update "webhook_deliveries"/, switchOff),
      WEBHOOKS: { sendBatch: async (messages: unknown[]) => void enqueued.push(...messages) },
    }
    const reply = await callWith(bindings, `/v1/webhooks/${id}/recover`, { body: { since: formatTime(0) } })
    expect(describeRefusal(reply)).toBe('409 endpoint_inactive')
    expect((await loadDeliveries(id)).map(({ status }) => status)).not.toContain('retrying')
    expect(enqueued).toEqual([])
    expect((await call(`/v1/webhooks/${id}`, { method: 'PATCH', body: { is_active: true } })).status).toBe(200)
    const { post: ask } = createQuietClient()
    expect((await ask(`/v1/webhooks/${id}/recover`, { since: formatTime(0) })).body).toMatchObject({ recovered: 4 })
  })

  it('refuses a window that ends before it starts', async () => {
    const { id } = await seedOwn()
    const turned = await post(`/v1/webhooks/${id}/recover`, { since: formatTime(2), until: formatTime(1) })
    expect([turned.status, turned.body.errors[0].pointer]).toEqual([400, '#/until'])
    const future = await post(`/v1/webhooks/${id}/recover`, { since: formatTime(neverOpen) })
    expect([future.status, future.body.errors[0].pointer]).toEqual([400, '#/since'])
  })

  it('refuses a disabled endpoint, and changes none of its deliveries', async () => {
    const { id } = await seedOwn({ is_active: false })
    const row = await seedDelivery(place(), id)
    const refusal = await post(`/v1/webhooks/${id}/recover`, { since: formatTime(0) })
    expect(describeRefusal(refusal)).toBe('409 endpoint_inactive')
    expect(await buildDeliveryRow(row.id)).toEqual(row)
  })
})

describe('testWebhook', () => {
  it('delivers the example of any kind only to this endpoint', async () => {
    const { post: ask, enqueued } = createQuietClient()
    const [endpoint, other] = [await seedOwn({ is_slow: true }), await seedOwn({ events: ['consent.given'] })]
    const reply = await ask(`/v1/webhooks/${endpoint.id}/test`, { event: 'consent.given' }, world.people.EA.token)
    expect(reply.status).toBe(201)
    const path = `/v1/webhooks/${endpoint.id}/deliveries/${reply.body.id}`
    expect(reply.headers.get('location')).toBe(publicUrl + path)
    expect(reply.body).toMatchObject({
      endpoint_id: endpoint.id,
      status: 'pending',
      event: 'consent.given',
      attempts: 0,
      signature: '',
      signed_at: null,
      attempt_log: [],
    })
    expect(JSON.parse(reply.body.payload)).toEqual({
      id: reply.body.event_id,
      type: 'consent.given',
      created: reply.body.created,
      api_version: 'v1',
      organization_id: world.a.id,
      edition_id: place().edition,
      data: exampleData['consent.given'],
    })
    expect((await get(path)).text).toBe(reply.text)
    expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delaySeconds: 0 }])
    expect(await loadDeliveries(other.id)).toEqual([])
  })

  it('is refused for a disabled endpoint, and for an unknown kind', async () => {
    const off = await seedOwn({ is_active: false })
    const refusal = await post(`/v1/webhooks/${off.id}/test`, { event: 'purchase.action' })
    expect(describeRefusal(refusal)).toBe('409 endpoint_inactive')
    const unknown = await post(`/v1/webhooks/${off.id}/test`, { event: `kind-${next()}` })
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '#/event'])
    expect(await loadDeliveries(off.id)).toEqual([])
    expect(await buildEndpointRow(off.id)).toMatchObject({ version: 1 })
  })
})
