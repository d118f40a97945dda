import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstIdAt } from '../../src/domain/ids.ts'
import { refundReasons, refundSources, refundStatuses } from '../../src/domain/refunds/refunds.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { recountEntries, settleEntries, sweepAuditLog } from '../../src/modules/audit-log/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import {
  batch,
  begin,
  expectCount,
  expectPages,
  expectPartsToAddUp,
  queryOf,
  settle,
  settled,
  stored,
  sweep,
  wait,
} from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { count, seedPlace } from '../support/retention.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { seedRefunds } from '../support/seeding/sales/refunds.ts'
import { db, freshId, write } from '../support/seeding/rows.ts'

interface AskedEntries {
  actor_id: string
  action: string
  resource_type: string
  resource_id: string
  created_after: number
  created_before: number
}

describe('counts of the audit log', () => {
  it('are exact for every filter, through settling and retention', async () => {
    let wereCounted = 0
    let ofResources = 0
    let parts = 0
    const moment = fc.option(
      fc.nat({ max: 450 * 24 }).map((hours) => begin + hours * 3_600_000),
      { nil: undefined },
    )
    const asked = fc.record({
      actor_id: fc.constantFrom('usr_a', 'usr_b', undefined, undefined),
      action: fc.constantFrom('updateOrder', 'create*', undefined, undefined),
      resource_type: fc.constantFrom('order', '-', undefined, undefined),
      resource_id: fc.constantFrom('ord_many', 'ord_few', undefined, undefined),
      created_after: moment,
      created_before: moment,
    })
    const acts = fc.array(fc.oneof(batch, wait, wait, settle, sweep), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(acts, fc.array(asked, { minLength: 6, maxLength: 6 }), async (all, questions) => {
        const { organization } = await seedPlace()
        let now = begin
        for (const one of [...settled, ...all]) {
          if (one.act === 'wait') now += one.ms
          if (one.act === 'add') {
            const time = firstIdAt('audit_entry', now)
            await write(sql`insert into audit_log (organization_id, id, action, actor_id, resource_type, resource_id, changes,
                request_id, created_at)
              with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${one.many})
              select ${organization}, ${time} || ${freshId('request').slice(-10)} || printf('%06d', i),
                iif(i % 3, 'updateOrder', 'createOrder'), ${`usr_${one.kind ?? 'c'}`}, iif(i % 4, 'order', null),
                iif(i % 20, iif(i % 9, 'ord_many', 'ord_few'), null), '[]',
                'req_1', ${now} from numbers`)
          }
          if (one.act === 'settle') await settleEntries(contextAt(now))
          if (one.act === 'sweep') await sweepAuditLog(contextAt(now))
        }
        wereCounted += (await stored('audit_log', organization))?.n ?? 0
        for (const scope of [organization, `${organization}/ord_many`])
          parts += await expectPartsToAddUp(scope === organization ? 'audit_log' : 'audit_log_resources', scope)
        ofResources += (await stored('audit_log_resources', `${organization}/ord_many`))?.n ?? 0
        for (const { created_after, created_before, ...facets } of [{}, ...questions] as Partial<AskedEntries>[]) {
          const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
          const times = { created_after: iso(created_after), created_before: iso(created_before) }
          await expectCount(
            `/v1/audit-log?${queryOf({ organization_id: organization, page_size: '1', ...facets, ...times })}`,
            sql`select 1 from audit_log where organization_id = ${organization}
              and coalesce(actor_id = ${facets.actor_id ?? null}, 1)
              ${facets.action ? sql`and action = ${facets.action}` : sql``}
              ${facets.resource_id ? sql`and resource_id = ${facets.resource_id}` : sql``}
              ${facets.resource_type ? sql`and resource_type = ${facets.resource_type}` : sql``}
              and created_at >= ${created_after ?? 0} and created_at < ${created_before ?? 9e15}`,
          )
        }
        for (const [ordering, order] of [
          ['created', sql`asc`],
          ['-created', sql`desc`],
        ] as const)
          for (const [filter, condition] of [
            [{ action: 'updateOrder' }, sql`action = 'updateOrder'`],
            [{ resource_id: 'ord_many' }, sql`resource_id = 'ord_many'`],
            [{ actor_id: 'usr_a' }, sql`actor_id = 'usr_a'`],
            [{ actor_id: 'usr_b', resource_type: 'order' }, sql`actor_id = 'usr_b' and resource_type = 'order'`],
            [{ actor_id: 'usr_b', resource_id: 'ord_many' }, sql`actor_id = 'usr_b' and resource_id = 'ord_many'`],
            ...questions.slice(0, 3).map(
              ({ created_after: from = begin, created_before: until = now }) =>
                [
                  {
                    actor_id: 'usr_a',
                    created_after: new Date(from).toISOString(),
                    created_before: new Date(until).toISOString(),
                  },
                  sql`actor_id = 'usr_a' and created_at >= ${from} and created_at < ${until}`,
                ] as const,
            ),
            ...questions
              .slice(0, 3)
              .map(
                ({ created_after: from = begin + 1 }) =>
                  [{ created_after: new Date(from).toISOString() }, sql`created_at >= ${from}`] as const,
              ),
            ...questions
              .slice(0, 3)
              .map(
                ({ created_before: until = begin + 1 }) =>
                  [{ created_before: new Date(until).toISOString() }, sql`created_at < ${until}`] as const,
              ),
          ] as const)
            await expectPages(
              `/v1/audit-log?${queryOf({ organization_id: organization, ...filter, ordering })}`,
              sql<{ id: string }>`select id from audit_log where organization_id = ${organization} and ${condition}
                order by id ${order}`,
              60,
            )
        await write(
          sql`delete from audit_log`,
          sql`delete from list_spans`,
          sql`delete from list_span_parts`,
          sql`delete from settled_lists`,
        )
      }),
      { numRuns: dearRuns(8, 2) },
    )
    expect(wereCounted).toBeGreaterThan(200)
    expect(ofResources).toBeGreaterThan(200)
    expect(parts).toBeGreaterThan(20)
  })

  it('lose the spans that have no rows any more, at night', async () => {
    const { organization } = await seedPlace()
    const spans = () => count(sql`select 1 from list_spans where scope = ${organization}`)
    await seedEntries(organization, 300, { created_at: begin })
    await settleEntries(contextAt(begin + dayMs))
    expect(await spans()).toBe(1)
    await sweepAuditLog(contextAt(begin + 401 * dayMs))
    expect([await spans(), (await stored('audit_log', organization))?.n]).toEqual([1, 0])
    await recountEntries(contextAt(Date.UTC(2026, 5, 1, 3)))
    expect(await spans()).toBe(0)
  })

  const filters = [
    '',
    '&actor_id=usr_7',
    '&action=updateOrder',
    '&resource_type=order',
    '&actor_id=usr_7&action=updateOrder',
  ]

  it('take one row of each span, however many actors and actions there are', async () => {
    const { organization } = await seedPlace()
    const spans = 12
    for (let span = 0; span < spans; span++)
      for (let actor = 0; actor < 20; actor++)
        await seedEntries(organization, 15, {
          created_at: begin + span * 4 * dayMs,
          actor_id: `usr_${actor}`,
          action: actor % 2 ? 'updateOrder' : 'createOrder',
          resource_type: 'order',
        })
    await settleEntries(contextAt(begin + 60 * dayMs))
    expect(await stored('audit_log', organization)).toMatchObject({ n: spans * 300, spans })
    for (const filter of filters) {
      const reply = await readAs(rootToken, `/v1/audit-log?organization_id=${organization}&page_size=1${filter}`)
      expect([filter, reply.status]).toEqual([filter, 200])
      // Entries of a moment have no order of their own: some of other actions are read before one of this action.
      expect([filter, costOf(reply).rows_read < spans + 60]).toEqual([filter, true])
    }
  })

  it('are exact where the version before added rows, and a night brings the sums', async () => {
    const { organization } = await seedPlace()
    await seedEntries(organization, 300, {
      created_at: begin,
      actor_id: 'usr_7',
      action: 'updateOrder',
      resource_type: 'order',
    })
    await settleEntries(contextAt(begin + dayMs))
    const spans = sql`select counts, total from list_spans where scope = ${organization}`
    const right = await db.all(spans)
    await write(sql`update list_spans set counts = json_patch(counts, '{"*,*,*":290,"usr_7,*,*":290,"*,*,order":null}')
      where scope = ${organization}`)
    for (const filter of filters.slice(1))
      await expectCount(
        `/v1/audit-log?organization_id=${organization}&page_size=1${filter}`,
        sql`select 1 from audit_log where organization_id = ${organization} and actor_id = 'usr_7'`,
      )
    const night = Date.UTC(2026, 6, 1, 3)
    await expect(recountEntries(contextAt(night))).rejects.toThrow('Counts of audit_log were wrong')
    expect(await db.all(spans)).toEqual(right)
  })
})

describe('counts of refund requests', () => {
  it('are exact for every filter, through changes and deletions', async () => {
    const place = await seedPlace()
    const made = await seedRefunds(place, 60)
    const member = <T extends readonly string[]>(words: T) => fc.constantFrom<T[number]>(...words)
    const moment = fc.nat({ max: 20 }).map((days) => begin + days * dayMs)
    const changed = fc.record({
      refund: fc.constantFrom(...made.map(({ refund }) => refund)),
      status: member(refundStatuses),
      reason: member(refundReasons),
      source: member(refundSources),
      at: fc.option(moment),
      isGone: fc.nat({ max: 15 }).map((n) => n === 0),
    })
    const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
    const asked = fc.record({
      status: maybe(member(refundStatuses)),
      reason: maybe(member(refundReasons)),
      source: maybe(member(refundSources)),
      created_after: maybe(moment),
      created_before: maybe(moment),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(changed, { maxLength: 12 }), asked, async (changes, question) => {
        for (const { refund, status, reason, source, at, isGone } of changes)
          await write(
            ...(isGone ? [sql`delete from refund_items where refund_request_id = ${refund}`] : []),
            isGone
              ? sql`delete from refund_requests where id = ${refund}`
              : sql`update refund_requests set status = ${status}, reason = ${reason}, source = ${source},
                  created_at = coalesce(${at}, created_at) where id = ${refund}`,
          )
        const { created_after: after, created_before: before, ...facets } = question
        const times = {
          created_after: after === undefined ? undefined : new Date(after).toISOString(),
          created_before: before === undefined ? undefined : new Date(before).toISOString(),
        }
        const conditions = Object.entries(facets).flatMap(([name, value]) =>
          value === undefined ? [] : [sql`and ${sql.raw(name)} = ${value}`],
        )
        for (const scope of [{ edition_id: place.edition }, { organization_id: place.organization }])
          await expectCount(
            `/v1/refund-requests?${queryOf({ ...scope, ...facets, ...times, page_size: '1' })}`,
            sql`select 1 from refund_requests where edition_id = ${place.edition} ${sql.join(conditions, sql` `)}
              and created_at >= ${after ?? 0} and created_at <= ${before ?? 9e15}`,
          )
      }),
      { numRuns: dearRuns(25, 8) },
    )
  })
})
