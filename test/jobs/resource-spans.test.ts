import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { recountEntries, settleEntries } from '../../src/modules/audit-log/jobs.ts'
import { rootToken } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { costOf } from '../support/cost.ts'
import { begin, expectCount, expectPages, stored } from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { seedPlace } from '../support/retention.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { write } from '../support/seeding/rows.ts'

describe('counts of the audit log of a resource', () => {
  it('take one row of each span of a resource that has many entries, and nights repair them', async () => {
    const { organization } = await seedPlace()
    const spans = 5
    for (let span = 0; span < spans; span++) {
      const created_at = begin + span * 4 * dayMs
      await seedEntries(organization, 300, { created_at, resource_id: 'edt_many' })
      await seedEntries(organization, 30, { created_at, resource_id: 'edt_few' })
    }
    await settleEntries(contextAt(begin + 60 * dayMs))
    expect(await stored('audit_log_resources', `${organization}/edt_many`)).toMatchObject({ n: spans * 300, spans })
    expect((await stored('audit_log_resources', `${organization}/edt_few`))?.n ?? 0).toBe(0)
    const log = `/v1/audit-log?organization_id=${organization}&page_size=1`
    const rowsOf = async (filter: string) => costOf(await readAs(rootToken, `${log}&resource_id=${filter}`)).rows_read
    expect(await rowsOf('edt_many')).toBeLessThan(spans + 30)
    expect(await rowsOf('edt_few')).toBeLessThan(spans * 30 + 30)
    const many = sql`select 1 from audit_log where organization_id = ${organization} and resource_id = 'edt_many'`
    await expectCount(`${log}&resource_id=edt_many&action=updateOrganization`, many)
    await write(sql`update list_spans set counts = '{}', total = 0 where scope = ${`${organization}/edt_many`}`)
    await expect(recountEntries(contextAt(Date.UTC(2026, 7, 1, 3)))).rejects.toThrow('audit_log_resources were wrong')
    await expectCount(`${log}&resource_id=edt_many`, many)
  })

  it('lead to the few entries of a long resource by an actor or an action, and to none by no row of it', async () => {
    const { organization } = await seedPlace()
    const created_at = begin
    const ofResource = { created_at, resource_type: 'edition', resource_id: 'edt_many' }
    await seedEntries(organization, 1500, { ...ofResource, actor_id: 'usr_often', action: 'updateEdition' })
    await seedEntries(organization, 3, { ...ofResource, actor_id: 'usr_seldom', action: 'updateEdition' })
    await seedEntries(organization, 40, { created_at, resource_id: 'edt_other', actor_id: 'usr_seldom', action: 'x' })
    await seedEntries(organization, 30, {
      created_at,
      resource_type: 'order',
      resource_id: 'ord_1',
      actor_id: 'usr_order',
    })
    await settleEntries(contextAt(begin + 60 * dayMs))
    // Not counted yet.
    await seedEntries(organization, 2, {
      ...ofResource,
      created_at: begin + 60 * dayMs,
      actor_id: 'usr_seldom',
      action: 'updateEdition',
    })
    const log = `/v1/audit-log?organization_id=${organization}&resource_id=edt_many`
    for (const [filter, condition, most] of [
      ['&actor_id=usr_seldom', sql`actor_id = 'usr_seldom'`, 200],
      ['&actor_id=usr_seldom&action=updateEdition', sql`actor_id = 'usr_seldom'`, 200],
      ['&actor_id=usr_often', sql`actor_id = 'usr_often'`, 600],
      ['&action=updateOrder', sql`0`, 60],
      ['&actor_id=usr_order&resource_type=edition', sql`0`, 60],
    ] as const)
      for (const [ordering, order] of [
        ['created', sql`asc`],
        ['-created', sql`desc`],
      ] as const) {
        const list = `${log}${filter}&ordering=${ordering}`
        const all = sql<{ id: string }>`select id from audit_log where organization_id = ${organization}
          and resource_id = 'edt_many' and ${condition} order by id ${order}`
        await expectPages(list, all, 100)
        await expectCount(list, all)
        const { rows_read } = costOf(await readAs(rootToken, `${list}&page_size=50`))
        expect([filter, Math.max(most, rows_read)]).toEqual([filter, most])
      }
  })
})
