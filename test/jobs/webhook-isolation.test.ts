import { createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { openJob } from '../../src/entry/job.ts'
import { takeBatch } from '../../src/entry/queue.ts'
import { sweepDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { db, givenOrganisation } from '../support/factories.ts'
import {
  answers,
  attemptsOf,
  deliveriesOf,
  endpointNow,
  engine,
  givenEndpoint,
  happen,
  timesOut,
} from '../support/webhooks.ts'

describe('breaker', () => {
  it('leaves an endpoint alone after five failures in a row, probes it once, and then drains what waited', async () => {
    const endpoint = await givenEndpoint()
    await happen(endpoint, 12)
    let isWell = false
    const { run, sent, advance, job } = engine(() => answers(isWell ? 200 : 503))
    await run([endpoint.id])
    const failed = sent.length
    expect(failed).toBeGreaterThanOrEqual(5)
    expect(failed).toBeLessThanOrEqual(8)
    const { breaker_until } = await endpointNow(endpoint.id)
    expect(breaker_until).toBeGreaterThan(job.now())
    const waiting = await deliveriesOf(endpoint.id)
    expect(waiting.every((delivery) => (delivery.next_retry_at ?? 0) >= (breaker_until ?? 0))).toBe(true)
    await run([endpoint.id])
    expect(sent).toHaveLength(failed)

    advance((breaker_until ?? 0) - job.now())
    await run([endpoint.id])
    expect(sent).toHaveLength(failed + 1)
    const longer = await endpointNow(endpoint.id)
    expect(longer.breaker_until).toBeGreaterThan(job.now())

    isWell = true
    advance((longer.breaker_until ?? 0) - job.now())
    await run([endpoint.id])
    expect(await endpointNow(endpoint.id)).toMatchObject({
      breaker_until: null,
      failures_in_row: 0,
      failing_since: null,
    })
    for (let turn = 0; turn < 10; turn++) {
      advance(1_000_000)
      await run([endpoint.id])
    }
    expect((await deliveriesOf(endpoint.id)).map((delivery) => delivery.status)).toEqual(
      Array.from({ length: 12 }, () => 'success'),
    )
  })
})

describe('sweepDeliveries', () => {
  it('rings for what a lost message or a crash left behind, and for nothing else', async () => {
    const lost = await givenEndpoint()
    const crashed = await givenEndpoint()
    const done = await givenEndpoint()
    const working = await givenEndpoint()
    for (const endpoint of [lost, crashed, done, working]) await happen(endpoint)
    const { job, run, rung, advance } = engine(() => answers(200))
    await run([done.id])
    await db.batch([
      sql`update webhook_deliveries set attempts = 1, lease_until = ${job.now() - 1} where endpoint_id = ${crashed.id}`,
      sql`update webhook_deliveries set attempts = 1, lease_until = ${job.now() + 60_000} where endpoint_id = ${working.id}`,
    ])
    await sweepDeliveries(job)
    const ids = rung.map(({ endpoint_id }) => endpoint_id)
    expect(ids).toEqual(expect.arrayContaining([lost.id, crashed.id]))
    expect(ids).not.toContain(done.id)
    expect(ids).not.toContain(working.id)
    advance(1)
    await run(ids)
    expect(await deliveriesOf(crashed.id)).toMatchObject([{ status: 'success', attempts: 2 }])
  })
})

describe('endpoints that hang', () => {
  const place = async () => ({ organization_id: (await givenOrganisation()).id })

  /** Receivers that take requests and do not answer while they hang. */
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

  for (const known of [true, false])
    it(`delay no other, ${known ? 'where they were healthy before' : 'where nothing was known of them'}`, async () => {
      const where = await place()
      const endpoints = await Promise.all(Array.from({ length: 16 }, () => givenEndpoint(where)))
      const ids = endpoints.map(({ id }) => id)
      const machine = receivers()
      if (known) {
        await happen(where, 2)
        await machine.run(ids)
      }
      const before = machine.sent.length
      const [hang, well] = [endpoints.slice(0, 12), endpoints.slice(12)]
      for (const { url } of hang) machine.hanging.add(url)
      await happen(where, 2, { now: machine.job.now() })
      // Twelve that hang hold more than the five slots of one consumer.
      const { rest } = await machine.start(ids)
      await expect
        .poll(async () => {
          const deliveries = await Promise.all(well.map(({ id }) => deliveriesOf(id)))
          return deliveries.flat().filter(({ status }) => status === 'success').length
        })
        .toBe(well.length * (known ? 4 : 2))
      expect(machine.handedOver.length).toBeGreaterThan(0)
      const waiting = (await Promise.all(hang.map(({ id }) => deliveriesOf(id)))).flat()
      expect(waiting.filter(({ lease_until }) => lease_until !== null)).toHaveLength(2 * hang.length)

      machine.release()
      await rest()
      await machine.run([])
      for (const { url } of endpoints) {
        const posts = postsOf({ sent: machine.sent.slice(before) }, url)
        expect(new Set(posts).size).toBe(posts.length)
        expect(posts).toHaveLength(2)
      }
      const failed = (await Promise.all(hang.map(({ id }) => deliveriesOf(id)))).flat()
      expect(failed.filter(({ status }) => status === 'retrying')).toHaveLength(2 * hang.length)
      for (const delivery of failed.filter(({ status }) => status === 'retrying'))
        expect(await attemptsOf(delivery.id)).toMatchObject([{ number: 1, error: 'timeout' }])
    })

  it('do not keep the consumer: it returns while they hold their posts, and its next messages are delivered', async () => {
    const where = await place()
    const [hanging, well] = [await givenEndpoint(where), await givenEndpoint(where)]
    await happen(where)
    const machine = receivers()
    machine.hanging.add(hanging.url)
    const first = await machine.start([hanging.id, well.id])
    await happen(well, 1, { now: machine.job.now() })
    const second = await machine.start([well.id])
    await second.rest()
    expect(postsOf(machine, well.url)).toHaveLength(2)
    expect(await attemptsOf((await deliveriesOf(hanging.id))[0]?.id ?? '')).toEqual([])
    machine.release()
    await first.rest()
    expect((await deliveriesOf(hanging.id)).filter(({ status }) => status === 'retrying')).toHaveLength(1)
  })

  it('cost the healthy ones no round trip: a claim, and one write for five endings and the next claim', async () => {
    const endpoint = await givenEndpoint()
    await happen(endpoint, 4)
    const machine = receivers()
    await machine.run([endpoint.id])
    const { round_trips } = machine.job.db.meter
    expect(machine.sent).toHaveLength(4)
    expect(machine.handedOver).toEqual([])
    expect(round_trips).toBeLessThanOrEqual(5)
  })

  it('may take longer than a consumer lives in the background: an object of their own posts and records', async () => {
    const endpoint = await givenEndpoint({ timeout_seconds: 30 })
    await happen(endpoint, 3)
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('thanks'))
    const message = { type: 'webhook.deliver', endpoint_id: endpoint.id }
    await takeBatch(
      openJob(env),
      createMessageBatch('webhooks', [{ id: 'm', timestamp: new Date(), attempts: 1, body: message }]),
    )
    await expect
      .poll(async () => (await deliveriesOf(endpoint.id)).filter(({ status }) => status === 'success').length)
      .toBe(3)
    expect(posted).toHaveBeenCalledTimes(3)
    posted.mockRestore()
  })
})
