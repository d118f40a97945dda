import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { db } from '../support/factories.ts'
import { answers, deliveriesOf, endpointNow, engine, givenEndpoint, happen } from '../support/webhooks.ts'

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
