import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { newMeter } from '../../src/domain/meter.ts'
import worker from '../../src/index.ts'
import { sweepPurchases } from '../../src/modules/purchases/jobs.ts'
import { createJob } from '../support/campaigns.ts'
import { listAnnounced, loadPurchase, revert, scan } from '../support/purchases.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShop, type Shop, givenTicket } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, listPurchaseEvents } from '../support/webhook-rows.ts'

const over = '2026-02-01T00:00:00Z'

/** Runs a sweep with its own meter; `before` runs between its read and each of its transactions. */
const createJobAt = (now: number, before: () => Promise<unknown> = async () => undefined): JobCtx => {
  const database = new Database(env.DB, newMeter())
  const batch = database.batch.bind(database)
  database.batch = async (statements) => {
    await before()
    return batch(statements)
  }
  return createJob({ db: database, now: () => now })
}

const countStatuses = async (shop: Shop): Promise<Record<string, number>> => {
  const rows = await db.all(
    sql<{ status: string; n: number }>`select status, count(*) as n from purchases
      where edition_id = ${shop.edition_id} group by status`,
  )
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

const expectExpiredOnce = async (shop: Shop, count: number) => {
  expect(await countStatuses(shop)).toEqual({ expired: count })
  const announced = (await listPurchaseEvents(shop.organization_id)).map(({ payload }) => JSON.parse(payload).data)
  expect(announced.map(({ action }) => action)).toEqual(Array.from({ length: count }, () => 'expired'))
  expect(new Set(announced.map(({ purchase }) => purchase.id)).size).toBe(count)
}

describe('the sweep of expired purchases', () => {
  it('expires due purchases by the cron trigger, and announces them with the time of their end', async () => {
    const shop = await seedShop()
    const endpoint = await seedEndpoint({ organization: shop.organization_id, edition: shop.edition_id })
    const [due, later, used, pending, endless] = [
      await givenTicket(shop, { valid_until: over }),
      await givenTicket(shop, { valid_until: '2100-01-01T00:00:00Z' }),
      await givenTicket(shop, { valid_until: '2100-01-01T00:00:00Z' }),
      await givenTicket(shop, { valid_until: over }, { status: 'pending' }),
      await givenTicket(shop),
    ]
    const { body: use } = await scan(used.id)
    await db.batch([sql`update purchases set valid_until = ${Date.parse(over)} where id = ${used.id}`])
    for (let sweep = 0; sweep < 2; sweep++)
      await worker.scheduled(createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' }), env)
    const statuses = []
    for (const { id } of [due, later, used, pending, endless]) statuses.push((await loadPurchase(id)).status)
    expect(statuses).toEqual(['expired', 'active', 'used', 'pending', 'active'])
    expect(await listAnnounced(due)).toEqual(['expired:expired'])
    const event = (await listPurchaseEvents(shop.organization_id)).find(({ payload }) => payload.includes(due.id))
    expect(JSON.parse(event?.payload ?? '{}').data.occurred_at).toBe('2026-02-01T00:00:00.000Z')
    expect((await loadDeliveries(endpoint.id)).map(({ event_id }) => event_id)).toContain(event?.id)
    // A reverted use makes the purchase active again, so the next sweep takes it too.
    expect((await revert(used.id, use.id)).body.purchase.status).toBe('active')
    await sweepPurchases(createJob())
    expect(await listAnnounced(used)).toEqual(['used:used', 'use_reverted:active', 'expired:expired'])
  })

  it('expires a purchase at its exact millisecond', async () => {
    const shop = await seedShop()
    const ticket = await givenTicket(shop, { valid_until: over })
    await sweepPurchases(createJobAt(Date.parse(over) - 1))
    expect((await loadPurchase(ticket.id)).status).toBe('active')
    await sweepPurchases(createJobAt(Date.parse(over)))
    expect((await loadPurchase(ticket.id)).status).toBe('expired')
  })

  it('works in batches, and expires each purchase once while several sweeps run', async () => {
    const shop = await seedShop()
    await givenTicket(shop, { valid_until: over, quantity: 50 })
    const now = Date.now()
    await Promise.all([1, 2, 3].map(() => sweepPurchases(createJobAt(now), 7)))
    await expectExpiredOnce(shop, 50)
  })

  it('expires every purchase although it crashes before or after any of its transactions', async () => {
    const shop = await seedShop()
    await givenTicket(shop, { valid_until: over, quantity: 10 })
    let transactions = 0
    const dying = createJobAt(Date.now(), async () => {
      if (++transactions === 2) throw new Error('the sweep dies')
    })
    await expect(sweepPurchases(dying, 4)).rejects.toThrow('the sweep dies')
    expect(await countStatuses(shop)).toEqual({ expired: 4, active: 6 })
    await sweepPurchases(createJob())
    await expectExpiredOnce(shop, 10)
  })

  it('does not expire a purchase that was cancelled or extended at the same time', async () => {
    const shop = await seedShop()
    const [cancelled, extended, due] = [
      await givenTicket(shop, { valid_until: over }),
      await givenTicket(shop, { valid_until: over }),
      await givenTicket(shop, { valid_until: over }),
    ]
    let happened = false
    const job = createJobAt(Date.now(), async () => {
      if (happened) return
      happened = true
      await cancelled.again({ status: 'cancelled' })
      const item = { product: 'Day ticket', quantity: 1, unit_price: 225 }
      await extended.again({ items: [{ ...item, valid_until: '2100-01-01T00:00:00Z' }] })
    })
    await sweepPurchases(job)
    expect((await loadPurchase(cancelled.id)).status).toBe('cancelled')
    expect((await loadPurchase(extended.id)).status).toBe('active')
    expect((await loadPurchase(due.id)).status).toBe('expired')
    expect([await listAnnounced(cancelled), await listAnnounced(extended)]).toEqual([['cancelled:cancelled'], []])
    expect(await listAnnounced(due)).toEqual(['expired:expired'])
  })

  it('reads only due rows', async () => {
    const shop = await seedShop()
    await givenTicket(shop, { valid_until: '2100-01-01T00:00:00Z', quantity: 300 })
    await givenTicket(shop, { valid_until: over, quantity: 200 }, { status: 'cancelled' })
    const job = createJobAt(Date.now())
    await sweepPurchases(job)
    expect(job.db.meter).toMatchObject({ queries: 1, rows_written: 0 })
    // The walk of the index ends at the first purchase that is still valid.
    expect(job.db.meter.rows_read).toBeLessThanOrEqual(1)
  })
})
