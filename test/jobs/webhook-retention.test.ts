import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { createContextAt } from '../support/context.ts'
import { count, countEvents, runUntilDone, seedAt, seedPlace } from '../support/retention.ts'
import { write } from '../support/seeding/rows.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'

const now = Date.now()
const old = now - 91 * dayMs
const young = now - 89 * dayMs
/** The time at which an event of now is due for deletion. */
const later = now + 91 * dayMs

const countDeliveries = (endpoint: string) =>
  count(sql`select 1 from webhook_deliveries where endpoint_id = ${endpoint}`)
const countAttempts = (endpoint: string) =>
  count(sql`select 1 from webhook_attempts join webhook_deliveries on webhook_deliveries.id = delivery_id
    where endpoint_id = ${endpoint}`)

/** Wraps a database that fails before its n-th transaction. */
function createCrashingJob(transaction: number): JobCtx {
  const job = createContextAt(later)
  const batch = job.db.batch.bind(job.db)
  let transactions = 0
  job.db.batch = (statements) =>
    ++transactions === transaction ? Promise.reject(new Error('died')) : batch(statements)
  return job
}

describe('the sweep of webhook events', () => {
  it('deletes events with deliveries and attempts after 90 days, and no younger ones, everywhere', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    const endpoint = (await seedEndpoint(one)).id
    const elsewhere = (await seedEndpoint(other)).id
    await seedAt(one, endpoint, { at: old, many: 5 })
    await seedAt(one, endpoint, { at: young, many: 3 })
    await seedAt(other, elsewhere, { at: old, many: 2, status: 'success' })
    await seedAt(other, elsewhere, { at: young, many: 1, status: 'success' })
    await sweepEvents(createContextAt(now))
    expect([await countEvents(endpoint), await countDeliveries(endpoint), await countAttempts(endpoint)]).toEqual([
      3, 3, 3,
    ])
    expect([await countEvents(elsewhere), await countAttempts(elsewhere)]).toEqual([1, 1])
    expect(await count(sql`select 1 from webhook_events where id < ${newId('webhook_event', old + 1, () => 0)}`)).toBe(
      0,
    )
    expect(await count(sql`select 1 from pragma_foreign_key_check`)).toBe(0)
  })

  it('keeps an event until each of its deliveries has ended, at any age', async () => {
    const place = await seedPlace()
    const [endedEndpoint, tried] = [(await seedEndpoint(place)).id, (await seedEndpoint(place)).id]
    const event_id = newId('webhook_event', old, Math.random)
    const [delivery] = await seedDeliveries(place, tried, 1, { event_id, status: 'retrying', next_retry_at: now })
    await write(sql`insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, created_at, modified_at)
      values (${newId('webhook_delivery', old, Math.random)}, ${endedEndpoint}, ${event_id}, 'purchase.action', 'success', ${old}, ${old})`)
    await sweepEvents(createContextAt(now))
    expect([await countDeliveries(endedEndpoint), await countEvents(tried), await countAttempts(tried)]).toEqual([
      0, 1, 1,
    ])
    await write(sql`update webhook_deliveries set status = 'exhausted' where id = ${delivery?.id}`)
    await sweepEvents(createContextAt(now))
    expect([await countEvents(tried), await count(sql`select 1 from webhook_events where id = ${event_id}`)]).toEqual([
      0, 0,
    ])
  })

  it('deletes everything in spite of crashes, and a limited number of rows at a time', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint(place)).id
    await runUntilDone(createContextAt(later))
    const many = 450
    await seedDeliveries(place, endpoint, many)
    await expect(sweepEvents(createCrashingJob(2))).rejects.toThrow('died')
    const remaining = await countDeliveries(endpoint)
    expect([remaining, await countEvents(endpoint)]).toEqual([many - 200, many - 200])
    await runUntilDone(createContextAt(later))
    expect([await countDeliveries(endpoint), await countAttempts(endpoint)]).toEqual([0, 0])
    expect(await count(sql`select 1 from webhook_events where organization_id = ${place.organization}`)).toBe(0)
  })

  it('reads as many rows among many events as among few', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint(place)).id
    const costOfOne = async () => {
      await seedAt(place, endpoint, { at: old, many: 1 })
      const job = createContextAt(now)
      await sweepEvents(job)
      return { ...job.db.meter }
    }
    await seedDeliveries(place, endpoint, 1)
    const first = await costOfOne()
    await seedDeliveries(place, endpoint, 300)
    expect(await costOfOne()).toEqual(first)
    expect(first.rows_read).toBeLessThan(80)
    expect(first.rows_written).toBeLessThan(12)
  })
})
