import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRuntime } from '../../scripts/support/runtime-use.ts'
import {
  listAllDeliveries,
  loadDelivery,
  waitForEnd,
  loadEndpoint,
  givenEndpoint,
  hasEnded,
  openPlace,
  type Place,
  sell,
  send,
  until,
} from '../support/receiving.ts'

let place: Place
beforeAll(async () => {
  place = await openPlace()
})
afterAll(() => place?.close())

describe('deliveries over real queues to a real receiver', () => {
  it('have signatures that standardwebhooks accepts', async () => {
    const endpoint = await givenEndpoint(place)
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'success', attempts: 1, response_status_code: 200 })
    const posts = place.receiver.posts(endpoint.path)
    expect(posts).toMatchObject([{ id: delivery.event_id, body: delivery.payload, verified: [endpoint.secret] }])
    expect(posts[0]?.headers['webhook-signature']).toBe(delivery.signature)
  })

  it('are repeated after a failure, as the same event with a new signature', async () => {
    const endpoint = await givenEndpoint(place)
    place.receiver.respondWith(endpoint.path, (_, nth) => (nth === 1 ? 500 : 200))
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'success', attempts: 2 })
    expect(delivery.attempt_log).toMatchObject([{ error: 'http_error', next_reason: 'schedule' }, { error: null }])
    const [first, second] = place.receiver.posts(endpoint.path)
    expect(second?.id).toBe(first?.id)
    expect(second?.verified).toEqual([endpoint.secret])
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(800)
  })

  it('never follow a redirect, and end as exhausted', async () => {
    const endpoint = await givenEndpoint(place)
    const elsewhere = place.receiver.url('/elsewhere')
    place.receiver.respondWith(endpoint.path, { status: 302, headers: { location: elsewhere } })
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'exhausted', attempts: 4, response_status_code: 302 })
    expect(new Set(delivery.attempt_log.map(({ error }) => error))).toEqual(new Set(['redirect']))
    expect(place.receiver.posts('/elsewhere')).toEqual([])
  })

  it('end when the endpoint answers 410', async () => {
    const endpoint = await givenEndpoint(place)
    place.receiver.respondWith(endpoint.path, 410)
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1 })
    const off = await until(
      place,
      () => loadEndpoint(place, endpoint),
      ({ is_active }) => !is_active,
    )
    expect(off.disabled_reason).toBe('gone')
  })

  it.for([
    ['hang', 'timeout'],
    ['drip', 'timeout'],
    ['cut', 'connection_lost'],
  ] as const)('count as failed when the receiver behaves like this: %s', async ([how, error]) => {
    const endpoint = await givenEndpoint(place, { timeout_seconds: 1 })
    place.receiver.respondWith(endpoint.path, (_, nth) => (nth === 1 ? how : 200))
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'success', attempts: 2 })
    const [first] = delivery.attempt_log
    expect(first).toMatchObject({ error })
    if (error === 'timeout') expect(first?.duration_ms).toBeGreaterThanOrEqual(900)
    // A receiver that hangs is not waited for until the default time-out.
    expect(first?.duration_ms).toBeLessThan(15_000)
  })

  it('read only the start of a huge answer', async () => {
    const endpoint = await givenEndpoint(place, { timeout_seconds: 5 })
    place.receiver.respondWith(endpoint.path, 'huge')
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'success', attempts: 1 })
  })

  it('do not unpack an answer of a few hundred bytes that becomes huge', async () => {
    const endpoint = await givenEndpoint(place)
    const body = brotliCompressSync(Buffer.alloc(256 * 2 ** 20, 'x'))
    expect(body.length).toBeLessThan(8192)
    place.receiver.respondWith(endpoint.path, { status: 200, headers: { 'content-encoding': 'br' }, body })
    const before = findRuntime()?.megabytes ?? 0
    expect(before).toBeGreaterThan(0)
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery).toMatchObject({ status: 'success', attempts: 1 })
    expect((findRuntime()?.megabytes ?? 0) - before).toBeLessThan(100)
  })

  it('wait as long as Retry-After asks', async () => {
    const endpoint = await givenEndpoint(place)
    place.receiver.respondWith(endpoint.path, (_, nth) =>
      nth === 1 ? { status: 503, headers: { 'retry-after': '4' } } : 200,
    )
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    expect(delivery.attempt_log[0]).toMatchObject({ next_reason: 'retry_after' })
    const [first, second] = place.receiver.posts(endpoint.path)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(3900)
  })

  it('are signed with both secrets after a rotation', async () => {
    const endpoint = await givenEndpoint(place)
    const { secret } = await place.client.post<{ secret: string }>(`/v1/webhooks/${endpoint.id}/rotate-secret`, {})
    expect(secret).not.toBe(endpoint.secret)
    place.receiver.trust(endpoint.path, secret)
    await waitForEnd(place, endpoint, await send(place, endpoint))
    const [post] = place.receiver.posts(endpoint.path)
    expect(new Set(post?.verified)).toEqual(new Set([endpoint.secret, secret]))
  })
})

describe('a crash in the middle of 500 deliveries', () => {
  it('loses no delivery, repeats at most those under way, and keeps the number of attempts correct', async () => {
    const endpoints = await Promise.all(
      Array.from({ length: 5 }, () => givenEndpoint(place, { edition_id: place.edition_id })),
    )
    const { receiver } = place
    for (const { path } of endpoints) receiver.respondWith(path, 200)
    const countPosts = () => endpoints.reduce((sum, { path }) => sum + receiver.posts(path).length, 0)
    await sell(place, 100, 'crash')
    for (const deadline = Date.now() + 30_000; countPosts() < 100 && Date.now() < deadline; await wait(2));
    await place.crash()
    const before = countPosts()
    expect(before).toBeGreaterThanOrEqual(100)
    expect(before).toBeLessThan(500)

    for (const endpoint of endpoints) {
      const deliveries = await until(
        place,
        () => listAllDeliveries(place, endpoint),
        (all) => all.length === 100 && all.every(hasEnded),
        120,
      )
      const counts = receiver.counts(endpoint.path)
      expect(counts.size).toBe(100)
      // An endpoint has at most four requests in flight.
      const repeated = [...counts.values()].reduce((sum, count) => sum + count - 1, 0)
      expect(repeated).toBeLessThanOrEqual(4)
      for (const delivery of deliveries) {
        expect(delivery.status).toBe('success')
        if (delivery.attempts === 1) continue
        const { event_id, attempts } = await loadDelivery(place, endpoint, delivery)
        expect([counts.get(event_id), (counts.get(event_id) ?? 0) + 1]).toContain(attempts)
      }
      const extra = deliveries.reduce((sum, { attempts }) => sum + attempts, 0) - receiver.posts(endpoint.path).length
      expect(extra).toBeGreaterThanOrEqual(0)
      expect(extra).toBeLessThanOrEqual(4)
      expect(deliveries.filter(({ attempts }) => attempts > 1).length).toBeLessThanOrEqual(4)
      expect(receiver.posts(endpoint.path).every(({ verified }) => verified.includes(endpoint.secret))).toBe(true)
    }
  })
})
