import { createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { openJob } from '../../../src/entry/job.ts'
import { handleBatch } from '../../../src/entry/queue.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../../support/seeding/webhooks.ts'
import {
  answers,
  listAttempts,
  loadDeliveries,
  loadEndpoint,
  engine,
  happen,
  timesOut,
} from '../../support/webhooks.ts'

/** Time passes with queries to the database, without any timer. */
async function passBy(questions: number): Promise<void> {
  for (let queryCount = 0; queryCount < questions; queryCount++) await db.all(sql`select 1`)
}

describe('endpoints that hang', () => {
  const place = async () => ({ organization_id: (await givenOrganization()).id })

  /** Makes receivers that accept requests and do not answer while they hang. */
  function receivers() {
    const hanging = new Set<string>()
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const machine = engine(async ({ url }) => {
      if (!hanging.has(url)) return answers(200)
      await released
      return timesOut
    })
    return { ...machine, hanging, release }
  }

  const postsOf = ({ sent }: Pick<ReturnType<typeof engine>, 'sent'>, url: string): string[] =>
    sent.filter((post) => post.url === url).map(({ headers }) => `${headers['webhook-id']}`)

  for (const isKnown of [true, false])
    it(`delay no other endpoints that were ${isKnown ? 'healthy before' : 'never called before'}`, async () => {
      const where = await place()
      const endpoints = await Promise.all(Array.from({ length: 16 }, () => seedOpenEndpoint(where)))
      const ids = endpoints.map(({ id }) => id)
      const machine = receivers()
      if (isKnown) {
        await happen(where, 2, { now: machine.job.now() })
        await machine.run(ids)
      }
      const before = machine.sent.length
      const [hang, well] = [endpoints.slice(0, 12), endpoints.slice(12)]
      for (const { url } of hang) machine.hanging.add(url)
      await happen(where, 2, { now: machine.job.now() })
      const { rest } = await machine.start(ids)
      await expect
        .poll(async () => {
          const deliveries = await Promise.all(well.map(({ id }) => loadDeliveries(id)))
          return deliveries.flat().filter(({ status }) => status === 'success').length
        })
        .toBe(well.length * (isKnown ? 4 : 2))
      const waiting = (await Promise.all(hang.map(({ id }) => loadDeliveries(id)))).flat()
      expect(waiting.filter(({ claimed_until }) => claimed_until !== null)).toHaveLength(2 * hang.length)

      machine.release()
      await rest()
      await machine.run([])
      for (const { url } of endpoints) {
        const posts = postsOf({ sent: machine.sent.slice(before) }, url)
        expect(new Set(posts).size).toBe(posts.length)
        expect(posts).toHaveLength(2)
      }
      const failed = (await Promise.all(hang.map(({ id }) => loadDeliveries(id)))).flat()
      expect(failed.filter(({ status }) => status === 'retrying')).toHaveLength(2 * hang.length)
      for (const delivery of failed.filter(({ status }) => status === 'retrying'))
        expect(await listAttempts(delivery.id)).toMatchObject([{ number: 1, error: 'timeout' }])
    })

  it.for([1, 4, 5, 9])('delay no others of ten with a backlog: %i hang', async (count) => {
    const where = await place()
    const endpoints = await Promise.all(Array.from({ length: 10 }, () => seedOpenEndpoint(where)))
    await happen(where, 9)
    const machine = receivers()
    for (const { url } of endpoints.slice(0, count)) machine.hanging.add(url)
    const { rest } = await machine.start(endpoints.map(({ id }) => id))
    for (const { id } of endpoints.slice(count))
      await expect
        .poll(async () => (await loadDeliveries(id)).map(({ status }) => status))
        .toEqual(Array(9).fill('success'))
    machine.release()
    await rest()
  })

  it('do not hold up the consumer, which returns during their posts and delivers its next messages', async () => {
    const where = await place()
    const [hanging, well] = [await seedOpenEndpoint(where), await seedOpenEndpoint(where)]
    await happen(where)
    const machine = receivers()
    machine.hanging.add(hanging.url)
    const first = await machine.start([hanging.id, well.id])
    await happen(well, 1, { now: machine.job.now() })
    const second = await machine.start([well.id])
    await second.rest()
    expect(postsOf(machine, well.url)).toHaveLength(2)
    expect(await listAttempts((await loadDeliveries(hanging.id))[0]?.id ?? '')).toEqual([])
    machine.release()
    await first.rest()
    expect((await loadDeliveries(hanging.id)).map(({ status }) => status)).toEqual(['retrying', 'retrying'])
  })

  it('do not hold up the consumer while they fill its connections, and it returns before any timer', async () => {
    const where = await place()
    const full = await Promise.all(Array.from({ length: 5 }, () => seedOpenEndpoint(where)))
    await happen(where)
    const well = await seedOpenEndpoint()
    await happen(well)
    const machine = receivers()
    for (const { url } of full) machine.hanging.add(url)
    const state = { isPosted: false }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const working = machine.start(full.map(({ id }) => id)).then(async (first) => {
        const second = await machine.start([well.id])
        await second.rest()
        state.isPosted = true
        return first
      })
      // The consumers wait only for the database, so each query lets them continue.
      for (let turn = 0; turn < 200 && !state.isPosted; turn++) await passBy(1)
      expect(state.isPosted).toBe(true)
      expect(await loadDeliveries(well.id)).toMatchObject([{ status: 'success' }])
      machine.release()
      await (await working).rest()
    } finally {
      vi.useRealTimers()
    }
  })

  it('cost other endpoints no round trip: one claim, and one write for what ends beside them', async () => {
    const where = await place()
    const endpoints = await Promise.all(Array.from({ length: 5 }, () => seedOpenEndpoint(where)))
    await happen(where)
    const released = Promise.withResolvers<void>()
    const state = { answered: 0 }
    const machine = engine(async ({ url }) => {
      await (url === endpoints[0]?.url ? released.promise : passBy(3))
      if (url === endpoints[0]?.url) return timesOut
      state.answered++
      return answers(200)
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { rest } = await machine.start(endpoints.map(({ id }) => id))
      for (let turn = 0; turn < 200 && state.answered < 4; turn++) await passBy(1)
      expect(state.answered).toBe(4)
      expect(machine.job.db.meter.round_trips).toBe(1)
      await vi.advanceTimersByTimeAsync(100)
      await passBy(3)
      expect(machine.job.db.meter.round_trips).toBe(2)
      const stored = (await Promise.all(endpoints.slice(1).map(({ id }) => loadDeliveries(id)))).flat()
      expect(stored.map(({ status }) => status)).toEqual(Array(4).fill('success'))
      released.resolve()
      await rest()
    } finally {
      vi.useRealTimers()
    }
  })

  it('cost one round trip to record and one to judge, with the next claim', async () => {
    const endpoint = await seedOpenEndpoint({ is_slow: true })
    await happen(endpoint, 5)
    const machine = engine(() => timesOut)
    await machine.run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).breaker_until).toBeGreaterThan(machine.job.now())
    const failed = machine.sent.length
    // One trip claims, and two trips store each group of results: four failures, and the fifth.
    expect(machine.job.db.meter.round_trips).toBe(5)
    expect(failed).toBe(5)
  })

  it('are attempted again when the breaker lets a probe through, without a sweep', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 5)
    const machine = engine(() => timesOut)
    await machine.run([endpoint.id])
    const { breaker_until } = await loadEndpoint(endpoint.id)
    const delay = ((breaker_until ?? 0) - machine.job.now()) / 1000
    expect(machine.enqueued).toContainEqual({ endpoint_id: endpoint.id, delay })
    machine.advance(delay * 1000)
    const posted = machine.sent.length
    await machine.run([endpoint.id])
    expect(machine.sent.length).toBe(posted + 1)
  })

  it('do not count against an endpoint when this service was too busy to end them in time', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 6)
    const machine = engine(() => ({ ...timesOut, isDelayed: true }))
    await machine.run([endpoint.id])
    expect(machine.sent).toHaveLength(6)
    expect(await loadEndpoint(endpoint.id)).toMatchObject({
      failures_in_row: 0,
      failing_since: null,
      breaker_until: null,
      is_slow: 0,
    })
    const deliveries = await loadDeliveries(endpoint.id)
    expect(deliveries.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(Array(6).fill('retrying 1'))
  })

  it('cost healthy endpoints no round trip: one claim, and one write for five results and the next claim', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 4)
    const machine = receivers()
    await machine.run([endpoint.id])
    const { round_trips } = machine.job.db.meter
    expect(machine.sent).toHaveLength(4)
    expect(round_trips).toBeLessThanOrEqual(5)
  })

  it('may take thirty seconds, longer than the platform lets work go on after a request', async () => {
    const endpoint = await seedOpenEndpoint({ timeout_seconds: 30 })
    await happen(endpoint, 3)
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('thanks'))
    const message = { type: 'webhook.deliver', endpoint_id: endpoint.id }
    await handleBatch(
      openJob(env),
      createMessageBatch('webhooks', [{ id: 'm', timestamp: new Date(), attempts: 1, body: message }]),
    )
    await expect
      .poll(async () => (await loadDeliveries(endpoint.id)).filter(({ status }) => status === 'success').length)
      .toBe(3)
    expect(posted).toHaveBeenCalledTimes(3)
    posted.mockRestore()
  })
})
