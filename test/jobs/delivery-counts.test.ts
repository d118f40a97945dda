import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { deliveryStatuses } from '../../src/domain/webhooks/webhooks.ts'
import { recountRefunds } from '../../src/modules/refunds/jobs.ts'
import { recountDeliveries, settleDeliveries, sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import {
  addDeliveries,
  batch,
  begin,
  expectCount,
  expectPages,
  expectPartsToAddUp,
  minute,
  queryOf,
  settle,
  settled,
  stored,
  sweep,
  wait,
} from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { seedPlace } from '../support/retention.ts'
import { seedRefunds } from '../support/seeding/sales/refunds.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

/** So many rows a sweep leaves uncounted. */
const few = 200

const change = fc.record({
  act: fc.constant('change' as const),
  from: fc.constantFrom(...deliveryStatuses),
  to: fc.constantFrom(...deliveryStatuses),
  /** Of those that have the status. */
  part: fc.nat({ max: 2 }),
})
describe('counts of deliveries', () => {
  it('are exact through changes, retries, settling and retention', async () => {
    let wereCounted = 0
    let parts = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(batch, wait, wait, change, settle, settle, sweep), { maxLength: 14 }),
        async (acts) => {
          const place = await seedPlace()
          const other = { ...place, edition: (await seedPlace()).edition }
          const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
          let now = begin
          for (const one of [...settled, ...acts]) {
            if (one.act === 'wait') now += one.ms
            if (one.act === 'add') {
              const edition = one.kind === 'a' ? place.edition : one.kind === 'b' ? other.edition : null
              await addDeliveries(place, endpoint, edition, { at: now, many: one.many })
              now++
            }
            if (one.act === 'change')
              await write(sql`update webhook_deliveries set status = ${one.to}, modified_at = ${now}
              where endpoint_id = ${endpoint} and status = ${one.from} and substr(id, -3) % 3 = ${one.part}`)
            if (one.act === 'settle') await settleDeliveries(contextAt(now))
            if (one.act === 'sweep') await sweepEvents(contextAt(now))
          }
          wereCounted += (await stored('webhook_deliveries', endpoint))?.n ?? 0
          parts += await expectPartsToAddUp('webhook_deliveries', endpoint)
          const ofEndpoint = sql`select 1 from webhook_deliveries join webhook_events on webhook_events.id = event_id
          where endpoint_id = ${endpoint}`
          for (const status of [undefined, ...deliveryStatuses])
            for (const edition_id of [undefined, place.edition])
              await expectCount(
                `/v1/webhooks/${endpoint}/deliveries?${queryOf({ status, edition_id, page_size: '1' })}`,
                sql`${ofEndpoint} ${status ? sql`and status = ${status}` : sql``}
                ${edition_id ? sql`and edition_id = ${edition_id}` : sql``}`,
              )
          for (const [ordering, order] of [
            ['created', sql`asc`],
            ['-created', sql`desc`],
          ] as const)
            for (const status of [undefined, 'success'])
              await expectPages(
                `/v1/webhooks/${endpoint}/deliveries?${queryOf({ ordering, status })}`,
                sql<{ id: string }>`select id from webhook_deliveries where endpoint_id = ${endpoint}
                  ${status ? sql`and status = ${status}` : sql``} order by created_at ${order}, id ${order}`,
                60,
              )
          await write(sql`delete from webhook_endpoints where id = ${endpoint}`)
          expect(await stored('webhook_deliveries', endpoint)).toMatchObject({ n: null })
          expect(await expectPartsToAddUp('webhook_deliveries', endpoint)).toBe(0)
          await write(sql`delete from webhook_events where organization_id = ${place.organization}`)
        },
      ),
      { numRuns: dearRuns(15, 4) },
    )
    expect(wereCounted).toBeGreaterThan(500)
    expect(parts).toBeGreaterThan(20)
  })

  it('take few rows of many deliveries, once these are some minutes old', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
    for (let day = 0; day < 10; day++)
      await addDeliveries(place, endpoint, place.edition, { at: begin + day * dayMs, many: 900 })
    const path = `/v1/webhooks/${endpoint}/deliveries?page_size=50`
    const rows = async (more = '') => costOf(await readAs(rootToken, path + more)).rows_read
    expect(await rows()).toBeGreaterThan(9000)
    await settleDeliveries(contextAt(begin + 9 * dayMs + 14 * minute))
    // The newest are too young.
    expect([await rows()].every((read) => read > 900 && read < 1200)).toBe(true)
    await settleDeliveries(contextAt(begin + 9 * dayMs + 16 * minute))
    for (const filter of ['', '&status=failed', '&status=success', `&edition_id=${place.edition}`])
      expect([filter, (await rows(filter)) < 600]).toEqual([filter, true])
  })
})

describe('at night', () => {
  const night = Date.UTC(2026, 5, 1, 3)

  it('counts that are wrong are repaired, and differences are reported', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
    await addDeliveries(place, endpoint, place.edition, { at: begin, many: 300 })
    await addDeliveries(place, endpoint, null, { at: begin + 20 * dayMs, many: 300 })
    await settleDeliveries(contextAt(begin + 21 * dayMs))
    await seedRefunds(place, 5)
    await recountDeliveries(contextAt(night))
    await recountRefunds(contextAt(night))
    const spans = sql`list_spans where scope in (${endpoint}, ${place.edition})`
    const right = await db.all(sql`select * from ${spans} order by list, scope, span`)
    expect(right).toHaveLength(3)
    await write(
      sql`update list_spans set counts = json_set(counts, '$."lost -"', 7) where scope = ${endpoint}`,
      sql`delete from ${spans} and list = 'refund_requests'`,
    )
    const later = night + dayMs
    await recountDeliveries(contextAt(later - 3_600_000))
    await expect(recountDeliveries(contextAt(later))).rejects.toThrow('Counts of webhook_deliveries were wrong')
    await expect(recountRefunds(contextAt(later))).rejects.toThrow('Counts of refund_requests were wrong')
    expect(await db.all(sql`select * from ${spans} order by list, scope, span`)).toEqual(right)
    await recountDeliveries(contextAt(later + dayMs))
    await recountRefunds(contextAt(later + dayMs))
  })
})

it('leaves few rows uncounted', async () => {
  const place = await seedPlace()
  const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
  await addDeliveries(place, endpoint, null, { at: begin, many: few })
  await settleDeliveries(contextAt(begin + dayMs))
  expect(await stored('webhook_deliveries', endpoint)).toMatchObject({ n: null })
  await addDeliveries(place, endpoint, null, { at: begin + 1, many: 1 })
  await settleDeliveries(contextAt(begin + dayMs))
  expect(await stored('webhook_deliveries', endpoint)).toMatchObject({ n: few + 1, spans: 1 })
})
