import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
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

describe('a consumer of deliveries', () => {
  it('has at most five posts under way, so that none waits for a connection during its time limit', async () => {
    const organisation = await givenOrganization()
    const place = { organization_id: organisation.id }
    const endpoints = await Promise.all(Array.from({ length: 5 }, () => seedOpenEndpoint(place)))
    await happen(place, 6)
    let underWay = 0
    let most = 0
    const five = Promise.withResolvers<void>()
    const { run, sent } = engine(async () => {
      most = Math.max(most, ++underWay)
      if (underWay === 5) five.resolve()
      await five.promise
      await new Promise((resolve) => setTimeout(resolve, 10))
      underWay--
      return answers(200)
    })
    await run(endpoints.map(({ id }) => id))
    expect(sent).toHaveLength(30)
    expect(most).toBe(5)
  })

  it('ends when all results are stored, and waits for no timer', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 6)
    const { run } = engine(() => answers(200))
    const state = { hasEnded: false }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const end = run([endpoint.id]).then(() => (state.hasEnded = true))
      // The run waits only for the database, so each query lets it continue.
      for (let turn = 0; turn < 200 && !state.hasEnded; turn++) await db.all(sql`select 1`)
      expect(state.hasEnded).toBe(true)
      await end
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
    expect((await loadDeliveries(endpoint.id)).map(({ status }) => status)).toEqual(Array(6).fill('success'))
  })

  it('has four posts under way for one endpoint when the others are done', async () => {
    const [busy, calm] = [await seedOpenEndpoint(), await seedOpenEndpoint()]
    await happen(busy, 12)
    await happen(calm, 1)
    let underWay = 0
    let most = 0
    const { run, sent } = engine(async ({ url }) => {
      if (url === calm.url) return answers(200)
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 30))
      underWay--
      return answers(200)
    })
    await run([busy.id, calm.id])
    expect(sent).toHaveLength(13)
    expect(most).toBe(4)
  })

  it('releases deliveries that its claim no longer covers, without counting an attempt', async () => {
    const place = { organization_id: (await givenOrganization()).id }
    const endpoints = await Promise.all(
      Array.from({ length: 5 }, () => seedOpenEndpoint({ ...place, timeout_seconds: 17 })),
    )
    await happen(place, 2)
    const ids = endpoints.map(({ id }) => id)
    await db.batch([
      sql`update webhook_deliveries set manual = 'alone' where endpoint_id in (select value from json_each(${JSON.stringify(ids)}))`,
    ])
    const five = Promise.withResolvers<void>()
    const { run, sent, advance } = engine(async () => {
      if (sent.length === 5) {
        advance(35_000)
        five.resolve()
      }
      await five.promise
      return answers(200)
    })
    await run(ids)
    expect(sent).toHaveLength(5)
    const unsent = (await Promise.all(ids.map(loadDeliveries))).flat().filter(({ status }) => status !== 'success')
    expect(unsent).toHaveLength(5)
    for (const delivery of unsent) {
      expect(delivery).toMatchObject({ status: 'pending', attempts: 0, step: 0, manual: 'alone', claimed_until: null })
      expect(await listAttempts(delivery.id)).toEqual([])
    }
    await run(ids)
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
    expect(sent).toHaveLength(10)
  })

  it('leaves the remaining deliveries to the next message after five thousand attempts', async () => {
    const place = { organization_id: (await givenOrganization()).id }
    const endpoints = await Promise.all(Array.from({ length: 5 }, () => seedOpenEndpoint(place)))
    const ids = endpoints.map(({ id }) => id)
    const all = 5 * 1040
    for (let events = 0; events < 1040; events += 52) await happen(place, 52)
    const { run, sent, enqueued } = engine(async () => answers(200))
    await run(ids)
    expect(sent.length).toBeGreaterThanOrEqual(5000)
    // The total includes four posts of each endpoint that it had claimed before.
    expect(sent.length).toBeLessThanOrEqual(5000 + 20)
    expect(enqueued.map(({ delay }) => delay)).toContainEqual(0)
    await run([...new Set(enqueued.map(({ endpoint_id }) => endpoint_id))])
    expect(sent).toHaveLength(all)
  })

  it('works for ten seconds, and leaves the remaining deliveries to the next message', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 12)
    const { run, sent, enqueued, advance } = engine(async () => {
      advance(2600)
      return answers(200)
    })
    await run([endpoint.id])
    expect(sent).toHaveLength(4)
    expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delay: 0 }])
  })
})

describe('a slow endpoint', () => {
  it('is known as slow while its answers take three seconds', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 9)
    let durationMs = 3000
    const { run, job } = engine(() => answers(200, { durationMs }))
    await run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).is_slow).toBe(1)
    durationMs = 2999
    await happen(endpoint, 1, { now: job.now() })
    await run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).is_slow).toBe(0)
  })

  it('does not delay others of the same batch', async () => {
    const organisation = await givenOrganization()
    const place = { organization_id: organisation.id }
    const hanging = await seedOpenEndpoint(place)
    const well = await seedOpenEndpoint(place)
    await happen(place, 8)
    const released = Promise.withResolvers<void>()
    const { run } = engine(async ({ url }) => {
      if (url === hanging.url) await released.promise
      return url === hanging.url ? timesOut : answers(200)
    })
    const working = run([hanging.id, well.id])
    await expect
      .poll(async () => (await loadDeliveries(well.id)).filter((delivery) => delivery.status === 'success').length)
      .toBe(8)
    expect((await loadDeliveries(hanging.id)).every((delivery) => delivery.status === 'pending')).toBe(true)
    released.resolve()
    await working
  })
})
