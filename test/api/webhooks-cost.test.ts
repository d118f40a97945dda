import { describe, expect, it } from 'vitest'
import { commit } from '../../src/db/commit.ts'
import { listWebhookDeliveries } from '../../src/modules/webhooks/delivery/list.ts'
import { recoverWebhookDeliveries } from '../../src/modules/webhooks/delivery/manual-sends.ts'
import { exampleData } from '../../src/modules/webhooks/events/example-contract.ts'
import { announceAll, type Announcement } from '../../src/modules/webhooks/index.ts'
import { listWebhooks } from '../../src/modules/webhooks/list.ts'
import { findDelivery, findEndpoint } from '../../src/modules/webhooks/queries.ts'
import { createContextAt } from '../support/context.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { seedDeliveries, seedEndpoint, seedEndpoints } from '../support/seeding/webhooks.ts'
import { loadDeliveries } from '../support/webhook-rows.ts'
import { answers, engine } from '../support/webhooks.ts'

const page = { page: 1, size: 100, after: null }

/** Authentication adds one statement to each request. */
describe('the database', () => {
  it('answers getWebhook with one query, and a page of listWebhooks with two at once', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const endpoint = await seedEndpoint(place)
    const [delivery] = await seedDeliveries(place, endpoint.id, 50)
    const ctx = createContextAt(Date.now(), {
      is_superuser: false,
      grants: [{ organization_id: shop.organization_id, edition_id: null, role: 'admin' }],
    })
    const loadedEndpoint = await findEndpoint(ctx, endpoint.id)
    await findDelivery(ctx, endpoint.id, delivery?.id ?? '')
    expect(ctx.db.meter).toMatchObject({ queries: 2, round_trips: 2 })
    expect(ctx.db.meter.rows_read).toBeLessThan(10)
    await listWebhookDeliveries(ctx, page, { ordering: [] }, loadedEndpoint)
    await listWebhooks(ctx, page, { ordering: [], organization_id: shop.organization_id })
    expect(ctx.db.meter).toMatchObject({ queries: 6, round_trips: 4 })
  })

  it('reads no deliveries of other endpoints for a page of deliveries', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const [mine, busy] = [await seedEndpoint(place), await seedEndpoint(place)]
    await seedDeliveries(place, busy.id, 500)
    await seedDeliveries(place, mine.id, 2)
    const ctx = createContextAt(Date.now())
    await listWebhookDeliveries(ctx, page, { ordering: [], status: 'failed' }, await findEndpoint(ctx, mine.id))
    expect(ctx.db.meter.rows_read).toBeLessThan(30)
    const before = ctx.db.meter.rows_read
    await recoverWebhookDeliveries(ctx, mine, { since: 0, include_missed: false })
    expect(ctx.db.meter.rows_read - before).toBeLessThan(40)
  })

  it('claims the deliveries of a request in one round trip, together with what it leaves to the queue', async () => {
    const { organization_id, edition_id } = await seedShop()
    const place = { organization: organization_id, edition: edition_id }
    const slow = await seedEndpoints(place, 5, { is_active: true, is_slow: true, breaker_until: null })
    const machine = engine(() => answers(200))
    let clock = Date.now()
    // A delivery that is due at once is claimed although the clock moves while its statement is built.
    const ctx = { ...createContextAt(clock), now: () => clock++, openJobAfterResponse: () => machine.job }
    const event = {
      kind: 'purchase.action' as const,
      organization_id,
      edition_id,
      data: exampleData['purchase.action'],
    }
    const works: (() => Promise<unknown>)[] = []
    await commit({ ...ctx, afterCommit: (work) => works.push(work) }, null, announceAll(ctx, [event, event]))
    for (const work of works) await work()
    expect([ctx.db.meter.round_trips, machine.job.db.meter.round_trips]).toEqual([1, 0])
    expect(machine.enqueued.map(({ endpoint_id }) => endpoint_id).toSorted()).toEqual(
      slow.map(({ id }) => id).toSorted(),
    )
  })

  it('stores a thousand events in four statements', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const listening = await seedEndpoint(place)
    await seedEndpoints({ ...place, organization: (await seedShop()).organization_id }, 50)
    const ctx = createContextAt(Date.now())
    const announcement: Announcement = {
      kind: 'purchase.action',
      organization_id: shop.organization_id,
      edition_id: shop.edition_id,
      data: exampleData['purchase.action'],
    }
    const statements = announceAll(
      ctx,
      Array.from({ length: 1000 }, () => announcement),
    )
    expect(statements.length).toBeLessThanOrEqual(4)
    await commit(ctx, null, statements)
    expect(ctx.db.meter.round_trips).toBe(1)
    // Each event writes its row, its index entries and a delivery for the organisation's one endpoint.
    expect(ctx.db.meter.rows_read).toBeLessThan(10_000)
    expect(await loadDeliveries(listening.id)).toHaveLength(1000)
    expect(announceAll(ctx, [])).toEqual([])
  })
})
