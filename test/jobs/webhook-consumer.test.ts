import { sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { describe, expect, it, vi } from 'vitest'
import { claimStatement } from '../../src/modules/webhooks/delivery/claim.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { answers, attemptsOf, deliveriesOf, endpointNow, engine, happen, timesOut } from '../support/webhooks.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { db } from '../support/seeding/rows.ts'

describe('one consumer', () => {
  it('has at most five posts under way, so that none waits for a connection during its time limit', async () => {
    const organisation = await givenOrganization()
    const place = { organization_id: organisation.id }
    const endpoints = [await seedOpenEndpoint(place), await seedOpenEndpoint(place), await seedOpenEndpoint(place)]
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
    expect(sent).toHaveLength(18)
    expect(most).toBe(5)
  })

  it('ends when all is recorded, and waits for no timer', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 6)
    const { start } = engine(() => answers(200))
    const state = { hasEnded: false }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const end = start([endpoint.id]).then(() => (state.hasEnded = true))
      // The run waits for the database alone, so questions to the database let it go on.
      for (let turn = 0; turn < 200 && !state.hasEnded; turn++) await db.all(sql`select 1`)
      expect(state.hasEnded).toBe(true)
      await end
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
    expect((await deliveriesOf(endpoint.id)).map(({ status }) => status)).toEqual(Array(6).fill('success'))
  })

  it('returns deliveries that its lease no longer covers, without counting an attempt', async () => {
    const endpoints = [await seedOpenEndpoint({ timeout_seconds: 17 }), await seedOpenEndpoint({ timeout_seconds: 17 })]
    for (const endpoint of endpoints) await happen(endpoint, 4)
    const ids = endpoints.map(({ id }) => id)
    await db.batch([
      sql`update webhook_deliveries set manual = 'alone' where endpoint_id in (select value from json_each(${JSON.stringify(ids)}))`,
    ])
    const { run, sent, advance } = engine(async () => {
      if (sent.length === 5) advance(35_000)
      return answers(200)
    })
    await run(ids)
    expect(sent).toHaveLength(5)
    const left = (await Promise.all(ids.map(deliveriesOf))).flat().filter(({ status }) => status !== 'success')
    expect(left).toHaveLength(3)
    for (const delivery of left) {
      expect(delivery).toMatchObject({ status: 'pending', attempts: 0, step: 0, manual: 'alone', lease_until: null })
      expect(await attemptsOf(delivery.id)).toEqual([])
    }
    await run(ids)
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(8)
    expect(sent).toHaveLength(8)
  })

  it('leaves the rest to the next message after five thousand attempts, near the limit of the platform', async () => {
    const place = { organization_id: (await givenOrganization()).id }
    const endpoints = await Promise.all(Array.from({ length: 50 }, () => seedOpenEndpoint(place)))
    const ids = endpoints.map(({ id }) => id)
    const all = 50 * 106
    for (let events = 0; events < 106; events += 53) await happen(place, 53)
    const { run, sent, enqueued } = engine(async () => answers(200))
    await run(ids)
    expect(sent.length).toBeGreaterThanOrEqual(5000)
    // What it held already: four of each endpoint.
    expect(sent.length).toBeLessThanOrEqual(5000 + 200)
    expect(enqueued.map(({ lane, delay }) => [lane, delay])).toContainEqual(['fast', 0])
    await run([...new Set(enqueued.map(({ endpoint_id }) => endpoint_id))])
    expect(sent).toHaveLength(all)
  })
})

describe('lanes', () => {
  it('moves a slow endpoint to the slow lane and back', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 9)
    let durationMs = 5000
    const { run, enqueued } = engine(() => answers(200, { durationMs }))
    await run([endpoint.id])
    expect((await endpointNow(endpoint.id)).is_slow).toBe(1)
    expect(enqueued.at(-1)).toMatchObject({ lane: 'slow', endpoint_id: endpoint.id })
    durationMs = 10
    await run([endpoint.id], 'slow')
    expect((await endpointNow(endpoint.id)).is_slow).toBe(0)
    expect(enqueued.at(-1)).toMatchObject({ lane: 'fast', endpoint_id: endpoint.id })
  })

  it('keeps a hanging endpoint from delaying others of the same batch', async () => {
    const organisation = await givenOrganization()
    const place = { organization_id: organisation.id }
    const hanging = await seedOpenEndpoint(place)
    const well = await seedOpenEndpoint(place)
    await happen(place, 8)
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const { run } = engine(async ({ url }) => {
      if (url === hanging.url) await held
      return url === hanging.url ? timesOut : answers(200)
    })
    const working = run([hanging.id, well.id])
    await expect
      .poll(async () => (await deliveriesOf(well.id)).filter((delivery) => delivery.status === 'success').length)
      .toBe(8)
    expect((await deliveriesOf(hanging.id)).every((delivery) => delivery.status === 'pending')).toBe(true)
    release()
    await working
  })
})

describe('the statement that claims', () => {
  it('binds no limit, for which SQLite would parse it again at each call', () => {
    const statement = claimStatement(engine(() => answers(200)).job, sql`is_active = 1`).getSQL()
    const { sql: text } = new SQLiteSyncDialect().sqlToQuery(statement)
    expect(text).toContain('limit 4')
    expect(text).not.toMatch(/limit \?/)
  })
})
