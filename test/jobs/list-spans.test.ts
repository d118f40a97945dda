import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstIdAt, newId } from '../../src/domain/ids.ts'
import { refundReasons, refundSources, refundStatuses } from '../../src/domain/refunds/refunds.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { deliveryStatuses } from '../../src/domain/webhooks/webhooks.ts'
import { recountEntries, settleEntries, sweepAuditLog } from '../../src/modules/audit-log/jobs.ts'
import { recountRefunds } from '../../src/modules/refunds/jobs.ts'
import { recountDeliveries, settleDeliveries, sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { readAs } from '../support/lists.ts'
import { count, seedPlace } from '../support/retention.ts'
import { db, freshId, type Place, write } from '../support/seeding/rows.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { seedRefunds } from '../support/seeding/sales/refunds.ts'

const minute = 60_000
const begin = Date.UTC(2026, 0, 1)
/** So many rows a sweep leaves uncounted. */
const few = 200

const letters = ['a', 'b', undefined] as const
const batch = fc.record({
  act: fc.constant('add' as const),
  many: fc.constantFrom(1, 40, 260),
  kind: fc.constantFrom(...letters),
})
const wait = fc.record({
  act: fc.constant('wait' as const),
  ms: fc.constantFrom(minute, 9 * minute, 20 * minute, dayMs, 6 * dayMs, 40 * dayMs),
})
const change = fc.record({
  act: fc.constant('change' as const),
  from: fc.constantFrom(...deliveryStatuses),
  to: fc.constantFrom(...deliveryStatuses),
  part: fc.nat({ max: 4 }),
})
const settle = fc.record({ act: fc.constant('settle' as const) })
const sweep = fc.record({ act: fc.constant('sweep' as const) })

interface AskedEntries {
  actor_id: string
  action: string
  resource_type: string
  created_after: number
  created_before: number
}

const queryOf = (filter: object): string =>
  new URLSearchParams(Object.entries(filter).filter((entry) => entry[1] !== undefined)).toString()

async function expectCount(path: string, rows: ReturnType<typeof sql>): Promise<void> {
  const reply = await readAs(rootToken, path)
  expect([path, reply.status, reply.body.count]).toEqual([path, 200, await count(rows)])
}

const stored = (list: string, scope: string) =>
  db.first(sql<{ n: number | null; spans: number }>`select sum(facet.value) as n, count(distinct span) as spans
    from list_spans, json_each(counts) as facet where list = ${list} and scope = ${scope}`)

/** Deliveries of this moment, in turns of every status. */
async function addDeliveries(
  place: Place,
  endpoint: string,
  edition: string | null,
  one: { at: number; many: number },
) {
  const mark = newId('webhook_event', one.at, Math.random).slice(4, 24)
  const numbers = sql`with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${one.many})`
  await write(
    sql`insert into webhook_events (id, organization_id, edition_id, kind, payload, created_at) ${numbers}
      select 'evn_' || ${mark} || printf('%06d', i), ${place.organization}, ${edition}, 'purchase.action', '{}', ${one.at}
      from numbers`,
    sql`insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, created_at, modified_at) ${numbers}
      select 'whd_' || ${mark} || printf('%06d', i), ${endpoint}, 'evn_' || ${mark} || printf('%06d', i),
        'purchase.action', ${JSON.stringify(deliveryStatuses)} ->> (i % 5), ${one.at}, ${one.at} from numbers`,
  )
}

describe('counts of deliveries', () => {
  it('are exact through changes, retries, settling and retention', async () => {
    let wereCounted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(batch, wait, wait, change, settle, settle, sweep), { maxLength: 14 }),
        async (acts) => {
          const place = await seedPlace()
          const other = { ...place, edition: (await seedPlace()).edition }
          const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
          let now = begin
          for (const one of [{ act: 'add', many: 260, kind: 'a' } as const, ...acts]) {
            if (one.act === 'wait') now += one.ms
            if (one.act === 'add') {
              const edition = one.kind === 'a' ? place.edition : one.kind === 'b' ? other.edition : null
              await addDeliveries(place, endpoint, edition, { at: now, many: one.many })
              now++
            }
            if (one.act === 'change')
              await write(sql`update webhook_deliveries set status = ${one.to}, modified_at = ${now}
              where endpoint_id = ${endpoint} and status = ${one.from} and substr(id, -1) % 5 = ${one.part}`)
            if (one.act === 'settle') await settleDeliveries(contextAt(now))
            if (one.act === 'sweep') await sweepEvents(contextAt(now))
          }
          wereCounted += (await stored('webhook_deliveries', endpoint))?.n ?? 0
          const ofEndpoint = sql`select 1 from webhook_deliveries join webhook_events on webhook_events.id = event_id
          where endpoint_id = ${endpoint}`
          for (const status of [undefined, ...deliveryStatuses])
            for (const edition_id of [undefined, place.edition])
              await expectCount(
                `/v1/webhooks/${endpoint}/deliveries?${queryOf({ status, edition_id, page_size: '1' })}`,
                sql`${ofEndpoint} ${status ? sql`and status = ${status}` : sql``}
                ${edition_id ? sql`and edition_id = ${edition_id}` : sql``}`,
              )
          await write(sql`delete from webhook_endpoints where id = ${endpoint}`)
          expect(await stored('webhook_deliveries', endpoint)).toMatchObject({ n: null })
          await write(sql`delete from webhook_events where organization_id = ${place.organization}`)
        },
      ),
      { numRuns: 25 },
    )
    expect(wereCounted).toBeGreaterThan(1000)
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

describe('counts of the audit log', () => {
  it('are exact for every filter, through settling and retention', async () => {
    let wereCounted = 0
    const moment = fc.option(
      fc.nat({ max: 450 * 24 }).map((hours) => begin + hours * 3_600_000),
      { nil: undefined },
    )
    const asked = fc.record({
      actor_id: fc.constantFrom('usr_a', 'usr_b', undefined, undefined),
      action: fc.constantFrom('updateOrder', 'create*', undefined, undefined),
      resource_type: fc.constantFrom('order', '-', undefined, undefined),
      created_after: moment,
      created_before: moment,
    })
    const acts = fc.array(fc.oneof(batch, wait, wait, settle, sweep), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(acts, fc.array(asked, { minLength: 6, maxLength: 6 }), async (all, questions) => {
        const { organization } = await seedPlace()
        let now = begin
        for (const one of [{ act: 'add', many: 260, kind: 'a' } as const, ...all]) {
          if (one.act === 'wait') now += one.ms
          if (one.act === 'add') {
            const time = firstIdAt('audit_entry', now)
            await write(sql`insert into audit_log (organization_id, id, action, actor_id, resource_type, changes, request_id,
                created_at)
              with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${one.many})
              select ${organization}, ${time} || ${freshId('request').slice(-10)} || printf('%06d', i),
                iif(i % 3, 'updateOrder', 'createOrder'), ${`usr_${one.kind ?? 'c'}`}, iif(i % 4, 'order', null), '[]',
                'req_1', ${now} from numbers`)
          }
          if (one.act === 'settle') await settleEntries(contextAt(now))
          if (one.act === 'sweep') await sweepAuditLog(contextAt(now))
        }
        wereCounted += (await stored('audit_log', organization))?.n ?? 0
        for (const { created_after, created_before, ...facets } of [{}, ...questions] as Partial<AskedEntries>[]) {
          const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
          const times = { created_after: iso(created_after), created_before: iso(created_before) }
          await expectCount(
            `/v1/audit-log?${queryOf({ organization_id: organization, page_size: '1', ...facets, ...times })}`,
            sql`select 1 from audit_log where organization_id = ${organization}
              and coalesce(actor_id = ${facets.actor_id ?? null}, 1)
              ${facets.action ? sql`and action = ${facets.action}` : sql``}
              ${facets.resource_type ? sql`and resource_type = ${facets.resource_type}` : sql``}
              and created_at >= ${created_after ?? 0} and created_at < ${created_before ?? 9e15}`,
          )
        }
        await write(sql`delete from audit_log`, sql`delete from list_spans`, sql`delete from settled_lists`)
      }),
      { numRuns: 25 },
    )
    expect(wereCounted).toBeGreaterThan(1000)
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
      { numRuns: 60 },
    )
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

  it('spans that have no rows any more go', async () => {
    const { organization } = await seedPlace()
    const spans = () => count(sql`select 1 from list_spans where scope = ${organization}`)
    await seedEntries(organization, 300, { created_at: begin })
    await settleEntries(contextAt(begin + dayMs))
    expect(await spans()).toBe(1)
    await sweepAuditLog(contextAt(begin + 401 * dayMs))
    expect([await spans(), (await stored('audit_log', organization))?.n]).toEqual([1, 0])
    await recountEntries(contextAt(night))
    expect(await spans()).toBe(0)
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
