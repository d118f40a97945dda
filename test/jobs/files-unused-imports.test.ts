import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Ctx } from '../../src/context.ts'
import { firstIdAt } from '../../src/domain/ids.ts'
import { sweepObjects, sweepUnusedImports } from '../../src/modules/files/jobs.ts'
import { callWith, get, patch, post } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { createContextAt } from '../support/context.ts'
import { checkAccount, queryRows, listStoredKeys, uploadRaw } from '../support/files.ts'
import { db, next } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const dayMs = 86_400_000
const keptMs = 30 * dayMs

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
  await env.DB.prepare("delete from sweep_positions where name = 'unused-imports'").run()
})

const table = (content = `Order,Email\nA-${next()},ane@example.dk\n`) => new TextEncoder().encode(content)

async function uploadTable(bytes = table(), purpose = 'import', tenant = shop): Promise<string> {
  const query = { purpose, edition_id: tenant.edition_id }
  const reply = await uploadRaw(tenant.organization_id, bytes, { name: 'orders.csv', type: 'text/csv', query })
  expect(reply.status, reply.text).toBe(201)
  return reply.body.id
}

const importOf = (file_id: string, tenant = shop) => post('/v1/data-imports', { ...tenant, file_id })
const readStatus = async (id: string): Promise<number> => (await get(`/v1/files/${id}`)).status
const createLaterContext = (ms = keptMs + 60_000): Ctx => createContextAt(Date.now() + ms)

/** Runs sweeps until no old file is left. */
async function sweepAll(ms?: number): Promise<void> {
  const place = "select after_key from sweep_positions where name = 'unused-imports'"
  for (let before: unknown; ;) {
    await sweepUnusedImports(createLaterContext(ms))
    const [now] = await queryRows<{ after_key: string }>(place)
    if (now?.after_key === before) return
    before = now?.after_key
  }
}

describe('an import file that no import uses', () => {
  it('is deleted after 30 days with its bytes, and not a minute earlier', async () => {
    const id = await uploadTable()
    const [row] = await queryRows<{ storage_key: string }>('select storage_key from files where id = ?', id)
    await sweepAll(keptMs - 60_000)
    expect(await readStatus(id)).toBe(200)
    await sweepAll()
    expect(await readStatus(id)).toBe(404)
    await sweepObjects(createLaterContext())
    expect(await listStoredKeys()).not.toContain(row?.storage_key)
    expect(await checkAccount(shop.organization_id)).toEqual({
      objects: 0,
      references: [],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
  })

  it('is deleted although its edition is archived', async () => {
    const id = await uploadTable()
    await env.DB.prepare('update editions set is_archived = 1 where id = ?').bind(shop.edition_id).run()
    await sweepAll()
    expect(await readStatus(id)).toBe(404)
  })

  it('is deleted after any number of days without a sweep, by as many sweeps as needed', async () => {
    const ids = []
    for (let at = 0; at < 3; at++) ids.push(await uploadTable())
    // There are twice as many older files that are due as a sweep deletes.
    await seedOthers(60, Date.now() - 400 * dayMs, 'import')
    await sweepUnusedImports(createLaterContext(365 * dayMs))
    expect(await Promise.all(ids.map(readStatus))).toEqual([200, 200, 200])
    await sweepAll(365 * dayMs)
    expect(await Promise.all(ids.map(readStatus))).toEqual([404, 404, 404])
    expect(await queryRows("select id from files where access_key = 'other'")).toEqual([])
  })

  it('is deleted without affecting equal bytes of another file or of another organisation', async () => {
    const bytes = table()
    const other = await seedShop()
    const due = await uploadTable(bytes)
    const attachment = await uploadTable(bytes, 'attachment')
    const theirs = await uploadTable(bytes, 'import', other)
    expect((await importOf(theirs, other)).status).toBe(201)
    await sweepAll()
    expect(await Promise.all([due, attachment, theirs].map(readStatus))).toEqual([404, 200, 200])
    await sweepObjects(createLaterContext())
    const intactAccount = { objects: 1, references: [1], isCounted: true, isStored: true, lost: 0 }
    expect(await checkAccount(shop.organization_id)).toEqual(intactAccount)
    expect(await checkAccount(other.organization_id)).toEqual(intactAccount)
  })
})

describe('a file that the sweep does not delete', () => {
  it('belongs to an import in any state, or has another purpose', async () => {
    const [draft, cancelled, replaced, attachment] = [
      await uploadTable(),
      await uploadTable(),
      await uploadTable(),
      await uploadTable(table(), 'attachment'),
    ]
    expect((await importOf(draft)).status).toBe(201)
    const { body } = await importOf(cancelled)
    expect((await post(`/v1/data-imports/${body.id}/cancel`, {})).status).toBe(200)
    expect((await patch(`/v1/files/${replaced}`, { purpose: 'attachment' })).status).toBe(200)
    await sweepAll()
    const keptFiles = [draft, cancelled, replaced, attachment]
    expect(await Promise.all(keptFiles.map(readStatus))).toEqual([200, 200, 200, 200])
  })

  it('may be one that an import begins to use while the sweep deletes it', async () => {
    const id = await uploadTable()
    const job = createLaterContext()
    const batch = job.db.batch.bind(job.db)
    let created: number | undefined
    job.db.batch = async (statements) => {
      created ??= (await importOf(id)).status
      return batch(statements)
    }
    await sweepUnusedImports(job)
    expect(created).toBe(201)
    expect(await readStatus(id)).toBe(200)
    await sweepAll()
    expect(await readStatus(id)).toBe(200)
  })
})

describe('createDataImport', () => {
  it('is refused when the sweep deletes its file before the commit', async () => {
    const id = await uploadTable()
    const bindings = interruptDatabase(/data_imports/, () => sweepAll())
    const reply = await callWith(bindings, '/v1/data-imports', { method: 'POST', body: { ...shop, file_id: id } })
    expect(reply.status).toBe(400)
    expect(reply.body.errors).toMatchObject([{ code: 'does_not_exist', attr: 'file_id' }])
    expect(await queryRows('select id from data_imports where organization_id = ?', shop.organization_id)).toEqual([])
    expect(await readStatus(id)).toBe(404)
  })
})

/** Seeds file rows, a second apart, with one statement. */
async function seedOthers(count: number, from: number, purpose: string): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `${firstIdAt('file', from + at * 1000)}${'0'.repeat(16)}`)
  await db.batch([
    sql`insert into files (id, organization_id, name, name_key, purpose, mime_type, size, access_key, created_at, modified_at)
      select value, ${shop.organization_id}, 'x', 'x', ${purpose}, 'text/csv', 1, 'other', ${from}, ${from}
      from json_each(${JSON.stringify(ids)})`,
  ])
}

describe('the sweep of unused import files', () => {
  it('reads and writes as many rows with thousands of other files as without them', async () => {
    await sweepAll()
    // The walk also reads the row after its end.
    await seedOthers(1, Date.now() + 60 * dayMs, 'import')
    const cost = async () => {
      // One minute later one more file is old enough.
      const id = await uploadTable()
      const idle = createLaterContext(keptMs - 60_000)
      await sweepUnusedImports(idle)
      const job = createLaterContext()
      await sweepUnusedImports(job)
      expect(await readStatus(id)).toBe(404)
      return [idle.db.meter, job.db.meter].map(({ rows_read, rows_written }) => [rows_read, rows_written])
    }
    const before = await cost()
    // The sweep skips rows that an earlier sweep has passed and rows that are too young.
    await seedOthers(2000, Date.now() - 300 * dayMs, 'import')
    await seedOthers(2000, Date.now() + 61 * dayMs, 'import')
    expect(await cost()).toEqual(before)
    expect(before).toEqual([
      [2, 0],
      [10, 5],
    ])
  })
})
