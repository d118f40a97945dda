import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { recountEntries, settleEntries } from '../../src/modules/audit-log/jobs.ts'
import { recountDeliveries, settleDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { addDeliveries, begin, expectPages, expectPartsToAddUp, minute } from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { count, seedPlace } from '../support/retention.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

const night = Date.UTC(2026, 5, 1, 3)

describe('parts of spans of deliveries', () => {
  const seedMany = async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint({ organization: place.organization, edition: null })).id
    for (let hour = 0; hour < 24; hour++)
      await addDeliveries(place, endpoint, place.edition, { at: begin + hour * 60 * minute, many: 90 })
    return { place, endpoint }
  }
  const expectAllPages = (endpoint: string): Promise<void> =>
    expectPages(
      `/v1/webhooks/${endpoint}/deliveries?`,
      sql<{
        id: string
      }>`select id from webhook_deliveries where endpoint_id = ${endpoint} order by created_at desc, id desc`,
      60,
    )

  it('lead to a page in few rows', async () => {
    const { endpoint } = await seedMany()
    await settleDeliveries(contextAt(begin + 3 * dayMs))
    expect(await expectPartsToAddUp('webhook_deliveries', endpoint)).toBeGreaterThan(20)
    for (const page of [9, 18, 27]) {
      const reply = await readAs(rootToken, `/v1/webhooks/${endpoint}/deliveries?page_size=60&page=${page}`)
      expect(costOf(reply).rows_read).toBeLessThan(400)
    }
    await expectAllPages(endpoint)
  })

  it('lead nowhere where the version before counted rows in spans alone, until a night brings them', async () => {
    const { place, endpoint } = await seedMany()
    await settleDeliveries(contextAt(begin + 3 * dayMs))
    const at = begin + 30 * 60 * minute
    await addDeliveries(place, endpoint, null, { at, many: 50 })
    await write(
      sql`update list_spans set total = total + 50, counts = json_set(counts, '$."success -"', 50)
        where scope = ${endpoint} and span = ${at} >> 28`,
      sql`update webhook_deliveries set status = 'success' where endpoint_id = ${endpoint} and created_at = ${at}`,
      sql`update settled_lists set until = ${at + 1} where scope = ${endpoint}`,
    )
    await expectAllPages(endpoint)
    await expect(recountDeliveries(contextAt(night))).rejects.toThrow('Counts of webhook_deliveries were wrong')
    await expectPartsToAddUp('webhook_deliveries', endpoint)
    await expectAllPages(endpoint)
  })

  it('write few rows for many deliveries, and nothing for few', async () => {
    const { endpoint } = await seedMany()
    const job = contextAt(begin + 3 * dayMs)
    await settleDeliveries(job)
    expect(job.db.meter.rows_written).toBeLessThan((24 * 90) / 20)
    const place = await seedPlace()
    const small = (await seedEndpoint({ organization: place.organization, edition: null })).id
    for (let day = 0; day < 30; day++) await addDeliveries(place, small, null, { at: begin + day * dayMs, many: 10 })
    await settleDeliveries(contextAt(begin + 40 * dayMs))
    expect(await count(sql`select 1 from list_spans where scope = ${small}`)).toBeGreaterThan(5)
    expect(await count(sql`select 1 from list_span_parts where scope = ${small}`)).toBe(0)
    expect(await count(sql`select 1 from list_span_parts where scope = ${endpoint}`)).toBeGreaterThan(0)
  })
})

describe.each([
  { bits: 31, many: 4 },
  { bits: 34, many: 2 },
])('sums of $bits bits of spans of the audit log', ({ bits, many }) => {
  const seedLog = async () => {
    const { organization } = await seedPlace()
    for (let span = 0; span < 20; span++)
      await seedEntries(organization, 40, {
        created_at: begin + span * 4 * dayMs,
        action: span % 3 ? 'updateOrder' : 'createOrder',
      })
    for (let minutes = 0; minutes < 3; minutes++) await settleEntries(contextAt(begin + 90 * dayMs))
    const sums = sql`list_span_parts where scope = ${organization} and bits = ${bits}`
    return { organization, stored: () => db.all(sql`select * from ${sums} order by span`) }
  }

  it('are read in place of the spans', async () => {
    const { organization, stored } = await seedLog()
    expect(await stored()).toHaveLength(many)
    for (const filter of ['', '&action=updateOrder', '&action=createOrder']) {
      const reply = await readAs(rootToken, `/v1/audit-log?organization_id=${organization}&page_size=1${filter}`)
      expect(costOf(reply).rows_read).toBeLessThan(60)
    }
  })

  it('are repaired at night', async () => {
    const { organization, stored } = await seedLog()
    const right = await stored()
    await write(sql`update list_span_parts set total = total + 1, counts = json_set(counts, '$."*,*,*"', 7)
      where scope = ${organization} and bits = ${bits}`)
    const faults: string[] = []
    for (let minutes = 0; minutes < 6; minutes++)
      await recountEntries(contextAt(night + bits * dayMs + minutes * minute)).catch((fault: unknown) =>
        faults.push(String(fault)),
      )
    expect(faults.some((fault) => fault.includes('Counts of audit_log were wrong'))).toBe(true)
    expect(await stored()).toEqual(right)
  })

  it('follow spans that change, and go with them', async () => {
    const { organization, stored } = await seedLog()
    await write(sql`update list_spans set counts = '{}', total = 0 where list = 'audit_log' and scope = ${organization}
      and span = (select min(span) from list_spans where scope = ${organization})`)
    const total = async () =>
      (
        await db.first(sql<{ n: number }>`select sum(total) as n from list_span_parts
      where scope = ${organization} and bits = ${bits}`)
      )?.n
    expect(await total()).toBe(19 * 40)
    await write(sql`delete from list_spans where list = 'audit_log' and scope = ${organization}`)
    expect(await stored()).toEqual([])
  })
})
