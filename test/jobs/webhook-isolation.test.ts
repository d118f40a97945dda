import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { db } from '../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { answers, listAttempts, loadDeliveries, loadEndpoint, engine, happen } from '../support/webhooks.ts'

describe('the circuit breaker', () => {
  it('opens after five failures in a row, allows one probe, and then releases the waiting deliveries', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 12)
    let isWell = false
    const { run, sent, advance, job } = engine(() => answers(isWell ? 200 : 503))
    await run([endpoint.id])
    const failed = sent.length
    expect(failed).toBeGreaterThanOrEqual(5)
    expect(failed).toBeLessThanOrEqual(8)
    const { breaker_until } = await loadEndpoint(endpoint.id)
    expect(breaker_until).toBeGreaterThan(job.now())
    const waiting = await loadDeliveries(endpoint.id)
    expect(waiting.every((delivery) => (delivery.next_retry_at ?? 0) >= (breaker_until ?? 0))).toBe(true)
    await run([endpoint.id])
    expect(sent).toHaveLength(failed)

    advance((breaker_until ?? 0) - job.now())
    await run([endpoint.id])
    expect(sent).toHaveLength(failed + 1)
    const longer = await loadEndpoint(endpoint.id)
    expect(longer.breaker_until).toBeGreaterThan(job.now())

    isWell = true
    advance((longer.breaker_until ?? 0) - job.now())
    await run([endpoint.id])
    expect(await loadEndpoint(endpoint.id)).toMatchObject({
      breaker_until: null,
      failures_in_row: 0,
      failing_since: null,
    })
    for (let turn = 0; turn < 10; turn++) {
      advance(1_000_000)
      await run([endpoint.id])
    }
    expect((await loadDeliveries(endpoint.id)).map((delivery) => delivery.status)).toEqual(
      Array.from({ length: 12 }, () => 'success'),
    )
  })
})

/** Makes an endpoint whose breaker has just opened, and returns what was sent to it. */
async function seedResting(count: number) {
  const endpoint = await seedOpenEndpoint()
  await happen(endpoint, count)
  const state = { isWell: false }
  const machine = engine(() => answers(state.isWell ? 200 : 503))
  await machine.run([endpoint.id])
  const { breaker_until } = await loadEndpoint(endpoint.id)
  expect(breaker_until).toBeGreaterThan(machine.job.now())
  return { endpoint, state, ...machine, failed: machine.sent.length, until: breaker_until ?? 0 }
}

const findNewest = async (endpointId: string) =>
  (await loadDeliveries(endpointId)).toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)).at(-1)

/** Stores a retry as the operation does. */
const retry = (id: string, now: number, manual = 'extra') =>
  db.batch([
    sql`update webhook_deliveries set status = 'retrying', manual = ${manual}, next_retry_at = ${now}, claimed_until = null
      where id = ${id}`,
  ])

describe('a retry by hand while the breaker is open', () => {
  it('is attempted at once, alone, and leaves the breaker open when it fails', async () => {
    const { endpoint, run, sent, job, failed, until } = await seedResting(12)
    const requestedDelivery = (await loadDeliveries(endpoint.id)).find(({ status }) => status === 'retrying')
    await retry(requestedDelivery?.id ?? '', job.now())
    await run([endpoint.id])
    expect(sent.slice(failed).map(({ headers }) => headers['webhook-id'])).toEqual([requestedDelivery?.event_id])
    const after = await loadEndpoint(endpoint.id)
    expect(after.breaker_until).toBe(until)
    const waiting = await loadDeliveries(endpoint.id)
    expect(waiting.every(({ next_retry_at }) => (next_retry_at ?? 0) >= until)).toBe(true)
    expect(waiting.find(({ id }) => id === requestedDelivery?.id)).toMatchObject({ status: 'retrying', manual: null })
  })

  it('costs the same with any number of waiting deliveries and failures', async () => {
    const measureCost = async (waiting: number) => {
      const { endpoint, run, sent, job, failed, until } = await seedResting(8)
      await happen(endpoint, waiting)
      const requestedDeliveries = (await loadDeliveries(endpoint.id))
        .filter(({ status }) => status === 'retrying')
        .slice(0, 4)
      for (const { id } of requestedDeliveries) await retry(id, job.now())
      const { rows_read, rows_written } = { ...job.db.meter }
      await run([endpoint.id])
      expect(sent).toHaveLength(failed + 4)
      expect((await loadEndpoint(endpoint.id)).breaker_until).toBe(until)
      return [job.db.meter.rows_read - rows_read, job.db.meter.rows_written - rows_written]
    }
    expect(await measureCost(300)).toEqual(await measureCost(30))
  })

  it('closes the breaker when it succeeds, and the waiting deliveries are posted at once', async () => {
    const { endpoint, state, run, sent, job, failed } = await seedResting(12)
    const requestedDelivery = await findNewest(endpoint.id)
    state.isWell = true
    await retry(requestedDelivery?.id ?? '', job.now())
    await run([endpoint.id])
    expect(sent[failed]?.headers['webhook-id']).toBe(requestedDelivery?.event_id)
    expect(await loadEndpoint(endpoint.id)).toMatchObject({ breaker_until: null, failures_in_row: 0 })
    expect(new Set((await loadDeliveries(endpoint.id)).map(({ status }) => status))).toEqual(new Set(['success']))
    expect(sent).toHaveLength(failed + 12)
  })

  it('is not delayed by a breaker that opens before its attempt', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 12)
    const requestedId = (await findNewest(endpoint.id))?.id ?? ''
    const { run, sent, job } = engine(async () => {
      if (sent.length === 1) await retry(requestedId, job.now())
      return answers(503)
    })
    await run([endpoint.id])
    expect((await loadEndpoint(endpoint.id)).breaker_until).toBeGreaterThan(job.now())
    expect(await listAttempts(requestedId)).toMatchObject([{ number: 1, error: 'http_error', is_manual: 1 }])
  })

  it('is posted before deliveries that have waited longer', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint, 40)
    const requestedDelivery = await findNewest(endpoint.id)
    const { run, sent, job } = engine(() => answers(200))
    await retry(requestedDelivery?.id ?? '', job.now())
    await run([endpoint.id])
    expect(sent.slice(0, 4).map(({ headers }) => headers['webhook-id'])).toContain(requestedDelivery?.event_id)
    expect(sent).toHaveLength(40)
  })

  it('reads no deliveries that wait for the breaker', async () => {
    const { endpoint, run, job } = await seedResting(8)
    await happen(endpoint, 300)
    const before = job.db.meter.rows_read
    await run([endpoint.id])
    expect(job.db.meter.rows_read - before).toBeLessThan(20)
  })
})

describe('an attempt at an endpoint’s former address', () => {
  it('does not count for the endpoint', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run } = engine(async () => {
      await db.batch([
        sql`update webhook_endpoints set url = 'https://moved.example.com/', version = version + 1 where id = ${endpoint.id}`,
      ])
      return answers(410)
    })
    await run([endpoint.id])
    expect(await loadEndpoint(endpoint.id)).toMatchObject({ is_active: 1, failures_in_row: 0, failing_since: null })
  })
})

describe('the sweep of deliveries', () => {
  it('enqueues deliveries that a lost message or a crash left behind, and no others', async () => {
    const lost = await seedOpenEndpoint()
    const crashed = await seedOpenEndpoint()
    const succeeded = await seedOpenEndpoint()
    const working = await seedOpenEndpoint()
    for (const endpoint of [lost, crashed, succeeded, working]) await happen(endpoint)
    const { job, run, enqueued, advance } = engine(() => answers(200))
    await run([succeeded.id])
    await db.batch([
      sql`update webhook_deliveries set attempts = 1, claimed_until = ${job.now() - 1} where endpoint_id = ${crashed.id}`,
      sql`update webhook_deliveries set attempts = 1, claimed_until = ${job.now() + 60_000} where endpoint_id = ${working.id}`,
    ])
    await sweepDeliveries(job)
    const ids = enqueued.map(({ endpoint_id }) => endpoint_id)
    expect(ids).toEqual(expect.arrayContaining([lost.id, crashed.id]))
    expect(ids).not.toContain(succeeded.id)
    expect(ids).not.toContain(working.id)
    advance(1)
    await run(ids)
    expect(await loadDeliveries(crashed.id)).toMatchObject([{ status: 'success', attempts: 2 }])
  })
})
