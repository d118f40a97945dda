import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliveryStatuses, eventKindNames } from '../../../src/domain/webhooks/webhooks.ts'
import { rootToken } from '../../support/api.ts'
import { readAs, walkAs } from '../../support/lists.ts'
import { seedPlace } from '../../support/retention.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedEndpoint } from '../../support/seeding/webhooks.ts'

const begin = Date.parse('2026-01-01T00:00:00Z')
const minute = 60_000

interface SeededDelivery {
  created_at: number
  modified_at: number
  status: string
  kind: string
}

/** Times repeat, and a delivery may have changed before it was created when a clock ran behind. */
const changedAfter = fc.oneof(fc.constantFrom(-3, 0, minute, 180 * minute), fc.nat({ max: 6 * minute }))
const arbitraryDeliveries = fc
  .record({
    at: fc.oneof(fc.nat({ max: 12 * minute }), fc.constantFrom(0, minute)),
    after: changedAfter,
    status: fc.constantFrom(...deliveryStatuses),
    kind: fc.constantFrom(...eventKindNames),
  })
  .map(({ at, after, status, kind }): SeededDelivery => {
    const created_at = begin + at
    return { created_at, modified_at: created_at + after, status, kind }
  })

async function seed(
  { organization, edition }: Awaited<ReturnType<typeof seedPlace>>,
  all: readonly SeededDelivery[],
): Promise<string> {
  const endpoint = (await seedEndpoint({ organization, edition: null })).id
  const rows = sql`json_each(${JSON.stringify(all)}) as one`
  const mark = endpoint.slice(4)
  await write(
    sql`insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at)
      select 'evn_' || ${mark} || one.key, ${organization}, iif(one.key % 3, ${edition}, null), value ->> 'kind', '{}',
        value ->> 'created_at' from ${rows}`,
    sql`insert into webhook_deliveries (id, endpoint_id, event_id, edition_id, kind, status, created_at, modified_at)
      select 'whd_' || ${mark} || printf('%05d', one.key * 7 % 100003), ${endpoint}, 'evn_' || ${mark} || one.key,
        iif(one.key % 3, ${edition}, null), value ->> 'kind', value ->> 'status', value ->> 'created_at', value ->> 'modified_at' from ${rows}`,
  )
  return endpoint
}

const orders = [
  ['created', sql`created_at, id`],
  ['-created', sql`created_at desc, id desc`],
  ['name', sql`kind, created_at, id`],
  ['-name', sql`kind desc, created_at desc, id desc`],
  ['modified', sql`modified_at, id`],
  ['-modified', sql`modified_at desc, id desc`],
] as const

describe('listWebhookDeliveries', () => {
  it('sorts in every order, with and without filters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryDeliveries, { maxLength: 60, size: 'max' }),
        fc.integer({ min: 3, max: 12 }),
        async (all, page_size) => {
          const place = await seedPlace()
          const endpoint = await seed(place, all)
          for (const [ordering, order] of orders)
            for (const filter of [
              {},
              { status: 'success' },
              { status: 'exhausted' },
              { status: 'pending' },
              { edition_id: place.edition },
            ]) {
              const { status, edition_id } = filter as { status?: string; edition_id?: string }
              const parameters = Object.entries({ ordering, page_size: String(page_size), ...filter })
              const query = new URLSearchParams(parameters).toString()
              const expected = await db.all(sql<{
                id: string
              }>`select id from webhook_deliveries where endpoint_id = ${endpoint}
              ${status ? sql`and status = ${status}` : sql``}
              ${edition_id ? sql`and event_id in (select id from webhook_events where edition_id = ${edition_id})` : sql``}
              order by ${order}`)
              const { ids, count } = await walkAs(rootToken, `/v1/webhooks/${endpoint}/deliveries?${query}`)
              expect([query, ids]).toEqual([query, expected.map(({ id }) => id)])
              expect(count).toBe(expected.length)
              const second = await readAs(rootToken, `/v1/webhooks/${endpoint}/deliveries?${query}&page=2`)
              const after = expected.slice(page_size, 2 * page_size).map(({ id }) => id)
              if (after.length > 0)
                expect([query, (second.body.results as { id: string }[]).map(({ id }) => id)]).toEqual([query, after])
            }
        },
      ),
      { numRuns: 8 },
    )
  })
})
