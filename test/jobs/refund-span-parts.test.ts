import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refundReasons, refundSources, refundStatuses } from '../../src/domain/refunds/refunds.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { divideRefundSpans, recountRefunds } from '../../src/modules/refunds/jobs.ts'
import { contextAt } from '../support/context.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { expectSpansOfRequests } from '../support/refund-spans.ts'
import { begin, expectCount, expectPages, expectPartsToAddUp, queryOf } from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { count, seedPlace } from '../support/retention.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, type Place, write } from '../support/seeding/rows.ts'
import { seedRefunds } from '../support/seeding/sales/refunds.ts'

const night = Date.UTC(2026, 5, 1, 3)

interface SeededRequests {
  place: Place
  other: Place
  /** Of another organisation. */
  foreign: Place
  requests: string[]
}

/** Requests of a large edition and two small ones, in nine days, some of them at one moment. */
async function seedRequests(): Promise<SeededRequests> {
  const place = await seedPlace()
  const other = { ...place, edition: (await seedEdition({ id: place.organization })).id }
  const foreign = await seedPlace()
  const made = [
    ...(await seedRefunds(place, 330)),
    ...(await seedRefunds(other, 45)),
    ...(await seedRefunds(foreign, 20)),
  ]
  await write(sql`update refund_requests set created_at = ${begin} + iif(seq.key % 3, seq.key * 1900000, 86400000)
    from json_each(${JSON.stringify(made.map(({ refund }) => refund))}) as seq where refund_requests.id = seq.value`)
  return { place, other, foreign, requests: made.map(({ refund }) => refund) }
}

describe('parts of spans of refund requests', () => {
  it('are right through changes, moves and deletions, and lead to all pages', async () => {
    const { place, other, foreign, requests } = await seedRequests()
    const { token } = await givenMember({ id: place.organization }, 'viewer', other.edition)
    await divideRefundSpans(contextAt(begin + 30 * dayMs))
    await write(sql`update refund_requests set edition_id = ${foreign.edition}, organization_id = ${foreign.organization}
      where edition_id = ${place.edition} and unicode(substr(id, -1)) % 8 = 0`)
    const change = fc.record({
      refund: fc.constantFrom(...requests),
      status: fc.constantFrom(...refundStatuses),
      reason: fc.constantFrom(...refundReasons),
      source: fc.constantFrom(...refundSources),
      at: fc.option(
        fc.nat({ max: 9 * 24 }).map((hours) => begin + hours * 3_600_000),
        { freq: 1 },
      ),
      edition: fc.option(fc.constantFrom(place.edition, other.edition, foreign.edition), { freq: 1 }),
      act: fc.constantFrom('change', 'change', 'change', 'delete', 'divide', 'divide early', 'come again'),
    })
    let [parts, partsOfOrganizations] = [0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 10, maxLength: 25 }), async (changes) => {
        for (const { refund, status, reason, source, at, edition, act } of changes) {
          const isThis = sql`where id = ${refund}`
          if (act === 'divide') await divideRefundSpans(contextAt(begin + 30 * dayMs))
          if (act === 'divide early') await divideRefundSpans(contextAt(begin))
          if (act === 'change')
            await write(sql`update refund_requests set status = ${status}, reason = ${reason}, source = ${source},
              created_at = coalesce(${at}, created_at), edition_id = coalesce(${edition}, edition_id),
              organization_id = coalesce((select organization_id from editions where id = ${edition}), organization_id)
              ${isThis}`)
          if (act === 'delete')
            await write(
              sql`delete from refund_items where refund_request_id = ${refund}`,
              sql`delete from refund_requests ${isThis}`,
            )
          if (act === 'come again')
            await write(
              sql`create table if not exists again as select * from refund_requests where 0`,
              sql`insert into again select * from refund_requests ${isThis}`,
              sql`delete from refund_items where refund_request_id = ${refund}`,
              sql`delete from refund_requests ${isThis}`,
              sql`insert into refund_requests select * from again`,
              sql`drop table again`,
            )
        }
        for (const { edition } of [place, other, foreign]) parts += await expectPartsToAddUp('refund_requests', edition)
        for (const { organization } of [place, foreign]) {
          partsOfOrganizations += await expectPartsToAddUp('organization_refund_requests', organization)
          await expectSpansOfRequests(organization)
        }
        const seen = await readAs(token, `/v1/refund-requests?organization_id=${place.organization}&page_size=1`)
        expect(seen.body.count).toBe(
          await count(sql`select 1 from refund_requests where edition_id = ${other.edition}`),
        )
        for (const hours of [10, 24, 37, 75, 143]) {
          const at = begin + hours * 3_600_000 + 1234
          await expectCount(
            `/v1/refund-requests?${queryOf({ organization_id: place.organization, created_after: new Date(at).toISOString(), page_size: 1 })}`,
            sql`select 1 from refund_requests where organization_id = ${place.organization} and created_at >= ${at}`,
          )
        }
        for (const hours of [20, 66, 143])
          for (const [name, operator] of [
            ['created_after', '>='],
            ['created_before', '<='],
          ] as const)
            for (const ordering of ['created', '-created']) {
              const at = begin + hours * 3_600_000 + 1234
              const order = sql.raw(ordering === 'created' ? 'asc' : 'desc')
              await expectPages(
                `/v1/refund-requests?${queryOf({ organization_id: place.organization, [name]: new Date(at).toISOString(), ordering })}`,
                sql<{ id: string }>`select id from refund_requests where organization_id = ${place.organization}
                  and created_at ${sql.raw(operator)} ${at} order by created_at ${order}, id ${order}`,
                30,
              )
            }
        for (const filter of [
          {},
          { status: 'pending' },
          { reason: 'customer_request' },
          { status: 'pending', source: 'api' },
        ])
          for (const ordering of ['created', '-created', 'status', '-status']) {
            const order = sql.raw(ordering.startsWith('-') ? 'desc' : 'asc')
            const first = ordering.endsWith('status') ? sql`status ${order},` : sql``
            const conditions = Object.entries(filter).map(([name, value]) => sql`and ${sql.raw(name)} = ${value}`)
            await expectPages(
              `/v1/refund-requests?${queryOf({ organization_id: place.organization, ...filter, ordering })}`,
              sql<{ id: string }>`select id from refund_requests where organization_id = ${place.organization}
                ${sql.join(conditions, sql` `)} order by ${first} created_at ${order}, id ${order}`,
              30,
            )
          }
      }),
      { numRuns: dearRuns(2) },
    )
    expect(parts).toBeGreaterThan(50)
    expect(partsOfOrganizations).toBeGreaterThan(50)
    await recountRefunds(contextAt(night))
  })

  it('lead to pages of a range of time that begins and ends inside a span without parts', async () => {
    const place = await seedPlace()
    const made = await seedRefunds(place, 520)
    await write(sql`update refund_requests set created_at = ${begin} + seq.key * 5000
      from json_each(${JSON.stringify(made.map(({ refund }) => refund))}) as seq where refund_requests.id = seq.value`)
    const [from, until] = [begin + 200_000, begin + 2_300_000]
    for (const [ordering, order] of [
      ['created', sql`asc`],
      ['-created', sql`desc`],
    ] as const)
      await expectPages(
        `/v1/refund-requests?${queryOf({
          organization_id: place.organization,
          created_after: new Date(from).toISOString(),
          created_before: new Date(until).toISOString(),
          ordering,
        })}`,
        sql<{ id: string }>`select id from refund_requests where organization_id = ${place.organization}
          and created_at between ${from} and ${until} order by created_at ${order}, id ${order}`,
        30,
      )
  })

  it('are made once a span has ended, or has many requests, and not of few', async () => {
    const { place, other } = await seedRequests()
    const parts = async () =>
      Promise.all(
        [place.edition, other.edition, place.organization].map((scope) =>
          count(sql`select 1 from list_span_parts where scope = ${scope} and bits < 28`),
        ),
      )
    await write(
      sql`update refund_requests set created_at = ${begin} + created_at % 10 where edition_id = ${other.edition}`,
    )
    await divideRefundSpans(contextAt(begin + dayMs))
    const [early = 0, ofFew, ofAll = 0] = await parts()
    expect(ofFew).toBe(0)
    expect(Math.min(early, ofAll)).toBeGreaterThan(10)
    await divideRefundSpans(contextAt(begin + 30 * dayMs))
    const [late = 0, afterwards, ofAllLate = 0] = await parts()
    expect(late).toBeGreaterThan(early)
    expect(afterwards).toBeGreaterThan(0)
    expect(ofAllLate).toBeGreaterThanOrEqual(ofAll)
    const few = await seedPlace()
    await seedRefunds(few, 30, { created_at: begin })
    await divideRefundSpans(contextAt(begin + 30 * dayMs))
    expect(await count(sql`select 1 from list_span_parts where scope = ${few.edition} and bits < 28`)).toBe(0)
  })

  it('are repaired at night', async () => {
    const { place } = await seedRequests()
    await divideRefundSpans(contextAt(begin + 30 * dayMs))
    const stored = sql`select * from list_span_parts where scope = ${place.edition} order by bits, span`
    const right = await db.all(stored)
    await write(sql`update list_span_parts set total = total + 1 where scope = ${place.edition} and bits = 21`)
    await write(sql`delete from list_span_parts where scope = ${place.edition} and bits = 24
      and span = (select max(span) from list_span_parts where scope = ${place.edition} and bits = 24)`)
    const errors: string[] = []
    for (let minutes = 0; minutes < 4; minutes++)
      await recountRefunds(contextAt(night + dayMs)).catch((error: unknown) => errors.push(String(error)))
    expect(errors.join()).toContain('Counts of refund_requests were wrong')
    expect(await db.all(stored)).toEqual(right)
    await recountRefunds(contextAt(night + 2 * dayMs))
  })
})
