import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { secretsOverlapMs } from '../../src/domain/webhooks/webhooks.ts'
import { failOpenDeliveries } from '../../src/modules/webhooks/delivery/switch-off.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { answers, listAttempts, loadDeliveries, loadEndpoint, engine, happen, timesOut } from '../support/webhooks.ts'

const day = 86_400_000

describe('the webhook event of a change', () => {
  it('makes one delivery for each active, subscribed endpoint of the organisation and the edition', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const other = await seedEdition(organisation)
    const place = { organization_id: organisation.id }
    const subscribed = await seedOpenEndpoint(place)
    const subscribedInEdition = await seedOpenEndpoint({ ...place, edition_id: edition.id })
    const others = await Promise.all([
      seedOpenEndpoint({ ...place, edition_id: other.id }),
      seedOpenEndpoint({ ...place, is_active: false }),
      seedOpenEndpoint({ ...place, events: ['consent.given'] }),
      seedOpenEndpoint(),
    ])
    await happen({ ...place, edition_id: edition.id }, 2)
    expect(await loadDeliveries(subscribed.id)).toHaveLength(2)
    expect(await loadDeliveries(subscribedInEdition.id)).toHaveLength(2)
    for (const endpoint of others) expect(await loadDeliveries(endpoint.id)).toEqual([])
    const [delivery] = await loadDeliveries(subscribed.id)
    expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({
      id: delivery?.event_id,
      type: 'purchase.action',
      api_version: 'v1',
      organization_id: organisation.id,
      edition_id: edition.id,
      data: { action: 'activated' },
    })
  })
})

describe('a delivery', () => {
  it('posts the stored bytes once, signed, and records the success', async () => {
    const endpoint = await seedOpenEndpoint({ timeout_seconds: 7 })
    await happen(endpoint)
    const { run, sent } = engine(() => answers(204))
    await run([endpoint.id])
    await run([endpoint.id])
    expect(sent).toHaveLength(1)
    const [delivery] = await loadDeliveries(endpoint.id)
    expect(sent[0]).toMatchObject({ url: endpoint.url, body: delivery?.payload, timeoutMs: 7000 })
    expect(delivery).toMatchObject({
      status: 'success',
      attempts: 1,
      response_status_code: 204,
      next_retry_at: null,
      claimed_until: null,
    })
    expect(sent[0]?.headers).toMatchObject({
      'webhook-id': delivery?.event_id,
      'webhook-signature': delivery?.signature,
    })
    expect(delivery?.signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
    expect(await listAttempts(delivery?.id ?? '')).toMatchObject([
      { number: 1, status_code: 204, error: null, next_reason: null },
    ])
  })

  it('follows the whole schedule and ends as exhausted after ten attempts', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run, sent, advance, job } = engine(() => answers(500))
    const waits: number[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      await run([endpoint.id])
      // The circuit breaker has its own tests.
      await db.batch([
        sql`update webhook_endpoints set failures_in_row = 0, breaker_until = null, failing_since = null where id = ${endpoint.id}`,
      ])
      const [delivery] = await loadDeliveries(endpoint.id)
      expect([delivery?.attempts, delivery?.status]).toEqual([attempt, attempt < 10 ? 'retrying' : 'exhausted'])
      const wait = (delivery?.next_retry_at ?? 0) - job.now()
      if (attempt < 10) {
        waits.push(wait)
        advance(wait)
      }
    }
    expect(sent).toHaveLength(10)
    const planned = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    waits.forEach((wait, at) => {
      const seconds = planned[at] ?? 0
      expect(wait).toBeGreaterThanOrEqual(seconds * 800 - 1)
      expect(wait).toBeLessThanOrEqual(seconds * 1200 + 1)
    })
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('waits as long as Retry-After asks when that is longer', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run, job } = engine(() => answers(429, { retryAfter: '3600' }))
    await run([endpoint.id])
    const [delivery] = await loadDeliveries(endpoint.id)
    expect(delivery?.next_retry_at).toBe(job.now() + 3_600_000)
    expect(await listAttempts(delivery?.id ?? '')).toMatchObject([{ error: 'http_error', next_reason: 'retry_after' }])
  })

  it('treats redirects and network faults as failures', async () => {
    for (const [answer, error] of [
      [answers(302), 'redirect'],
      [timesOut, 'timeout'],
      [{}, 'network_error'],
    ] as const) {
      const endpoint = await seedOpenEndpoint()
      await happen(endpoint)
      await engine(() => answer).run([endpoint.id])
      const [delivery] = await loadDeliveries(endpoint.id)
      expect(delivery).toMatchObject({ status: 'retrying', attempts: 1 })
      expect(await listAttempts(delivery?.id ?? '')).toMatchObject([{ error }])
    }
  })

  it('stores the answer of each attempt', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const responseTexts = ['unknown topic "x"', null, '', 'thanks']
    const { run, advance } = engine((_, nth) => answers(nth < 4 ? 500 : 200, { text: responseTexts[nth - 1] ?? null }))
    for (const _ of responseTexts) {
      await run([endpoint.id])
      advance(86_400_000)
    }
    const [delivery] = await loadDeliveries(endpoint.id)
    expect(delivery?.status).toBe('success')
    expect((await listAttempts(delivery?.id ?? '')).map(({ response_text }) => response_text)).toEqual(responseTexts)
  })

  it('disables an endpoint that answers 410, and fails its waiting deliveries', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 6)
    await engine(() => answers(410)).run([endpoint.id])
    expect(await loadEndpoint(endpoint.id)).toMatchObject({ is_active: 0, disabled_reason: 'gone' })
    const deliveries = await loadDeliveries(endpoint.id)
    expect(new Set(deliveries.map((delivery) => delivery.status))).toEqual(new Set(['failed']))
    expect(deliveries.every((delivery) => delivery.next_retry_at === null && delivery.claimed_until === null)).toBe(
      true,
    )
  })

  it('disables an endpoint after five days of failures only', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const first = engine(() => answers(500))
    await first.run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).is_active).toBe(1)
    const laterEngine = engine(() => answers(500), { now: first.job.now() + 5 * day })
    await laterEngine.run([endpoint.id])
    expect(await loadEndpoint(endpoint.id)).toMatchObject({ is_active: 0, disabled_reason: 'failing' })

    const sometimes = await seedOpenEndpoint()
    await happen(sometimes)
    await first.run([sometimes.id])
    await engine(() => answers(200), { now: first.job.now() + 4 * day }).run([sometimes.id])
    await happen(sometimes)
    await engine(() => answers(500), { now: first.job.now() + 6 * day }).run([sometimes.id])
    expect((await loadEndpoint(sometimes.id)).is_active).toBe(1)
  })

  it('posts nothing to a destination that is now forbidden, and records why, without an attempt', async () => {
    const endpoint = await seedOpenEndpoint({ url: 'https://127.0.0.1/hook' })
    await happen(endpoint)
    const { run, sent } = engine(() => answers(200))
    await run([endpoint.id])
    expect(sent).toEqual([])
    const [delivery] = await loadDeliveries(endpoint.id)
    expect(delivery).toMatchObject({ status: 'failed', attempts: 0, next_retry_at: null })
    expect(await listAttempts(delivery?.id ?? '')).toMatchObject([
      { error: 'destination_forbidden', status_code: null },
    ])
    await db.batch([
      sql`update webhook_endpoints set url = 'https://allowed.example.com/' where id = ${endpoint.id}`,
      sql`update webhook_deliveries set status = 'retrying', manual = 'alone', next_retry_at = 0 where endpoint_id = ${endpoint.id}`,
    ])
    await run([endpoint.id])
    expect(await loadDeliveries(endpoint.id)).toMatchObject([{ status: 'success', attempts: 1 }])
    expect(await listAttempts(delivery?.id ?? '')).toMatchObject([{ number: 1, error: null, status_code: 200 }])
  })

  it('signs a retry with the current address and secrets', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run, sent, advance, job } = engine(() => answers(500))
    await run([endpoint.id])
    await db.batch([
      sql`update webhook_endpoints set previous_secret = secret, previous_secret_until = ${job.now() + secretsOverlapMs},
        secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', url = 'https://moved.example.com/' where id = ${endpoint.id}`,
    ])
    advance(7000)
    await run([endpoint.id])
    expect(sent[1]?.url).toBe('https://moved.example.com/')
    expect(sent[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(sent[1]?.headers['webhook-id']).toBe(sent[0]?.headers['webhook-id'])
    expect(sent[1]?.headers['webhook-timestamp']).not.toBe(sent[0]?.headers['webhook-timestamp'])
    advance(secretsOverlapMs)
    await run([endpoint.id])
    expect(sent[2]?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
  })

  it('makes a requested attempt even when an earlier one ends at the same time', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run, sent, job } = engine(async () => {
      if (sent.length > 1) return answers(200)
      await db.batch([
        failOpenDeliveries([endpoint.id], job.now()),
        sql`update webhook_deliveries set status = 'retrying', manual = 'alone', next_retry_at = ${job.now()}
          where endpoint_id = ${endpoint.id}`,
      ])
      return answers(500)
    })
    await run([endpoint.id])
    expect(sent).toHaveLength(2)
    expect(await loadDeliveries(endpoint.id)).toMatchObject([{ status: 'success', attempts: 2 }])
  })

  it('comes in the order of the events, also within one transaction', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 12)
    const { run, sent } = engine(() => answers(200))
    await run([endpoint.id])
    const ids = sent.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual(ids.toSorted())
  })

  it('has at most four posts under way to one endpoint, for any number of consumers', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 20)
    let inFlight = 0
    let most = 0
    const { run, sent } = engine(async () => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, 15))
      inFlight--
      return answers(200)
    })
    await Promise.all([run([endpoint.id]), run([endpoint.id]), run([endpoint.id])])
    await run([endpoint.id])
    expect(sent).toHaveLength(20)
    expect(most).toBeLessThanOrEqual(4)
    expect(
      (await loadDeliveries(endpoint.id)).every((delivery) => delivery.status === 'success' && delivery.attempts === 1),
    ).toBe(true)
  })
})
