import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ImportRow } from '../../../src/modules/data-imports/background/steps.ts'
import { sweepImportData } from '../../../src/modules/data-imports/jobs.ts'
import { importStep } from '../../../src/modules/data-imports/run/import-step.ts'
import { get, patch, post } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { givenReadyImport, work } from '../../support/imported-files.ts'
import { countContents } from '../../support/orders.ts'
import { finishErasures } from '../../support/personal-data.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { loadImport, loadImportOrders, loadRows } from '../../support/staged-imports.ts'

const dayMs = 86_400_000

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

let rowCount = 0
/** Rows of a person with two orders, of a person who holds another person's ticket, and a row with an error. */
const buildCsv = (mark: string) =>
  [
    'Order ID;E-mail;First name;Product;Quantity;Unit price',
    `A-1${mark};ane-${mark}@example.dk;Ane${mark};Day ticket;1;225,00`,
    `A-2${mark};bo-${mark}@example.dk;Bo${mark};Day ticket;1;225,00`,
    `A-3${mark};Ane-${mark}@Example.dk;Ane${mark};Day ticket;1;abc`,
    `A-4${mark};bo-${mark}@example.dk;Bo${mark};Day ticket;1;xyz`,
  ].join('\r\n')
const freshMark = () => `m${++rowCount}${crypto.randomUUID().slice(0, 6)}`

async function importTable(mark: string, tenant = shop): Promise<string> {
  const id = await givenReadyImport(tenant, buildCsv(mark))
  expect((await post(`/v1/data-imports/${id}/start`, { skip_invalid_rows: true })).status).toBe(200)
  expect(await work(id)).toMatchObject({ status: 'completed_with_errors', created_orders: 2, failed_orders: 2 })
  return id
}

const findUser = async (email: string) =>
  (await db.first(sql<{ id: string }>`select id from users where email = ${email}`))?.id ?? ''

/** Lists the keys under which the store still has the import's file and its copy. */
async function kept(id: string): Promise<{ copies: number; original: boolean }> {
  const row = await loadImport(id)
  const waiting = new Set(
    (await db.all(sql<{ storage_key: string }>`select storage_key from objects_to_delete`)).map(
      (object) => object.storage_key,
    ),
  )
  const { objects } = await env.FILES.list({ prefix: `imports/${id}/` })
  const file = await db.first(
    sql<{ storage_key: string | null }>`select storage_key from files where id = ${row.file_id}`,
  )
  return { copies: objects.filter(({ key }) => !waiting.has(key)).length, original: file?.storage_key != null }
}

const dumpImport = async (id: string): Promise<string> => {
  const columns = await db.all(sql`select * from import_columns where import_id = ${id}`)
  return JSON.stringify([await loadRows(id), await loadImportOrders(id), columns])
}

const sweepAfter = (days: number) => sweepImportData(createJob({ now: () => Date.now() + days * dayMs + 1000 }))

describe('an import that has ended', () => {
  it('keeps its file and rows for 30 days, and then deletes them with the lists that read them', async () => {
    const mark = freshMark()
    const id = await importTable(mark)
    await sweepAfter(29)
    expect(await kept(id)).toEqual({ copies: 1, original: true })
    expect(await loadRows(id)).toHaveLength(4)
    expect((await get(`/v1/data-imports/${id}`)).body).toMatchObject({ files_deleted_at: null, rows_deleted_at: null })
    await sweepAfter(30)
    expect(await kept(id)).toEqual({ copies: 0, original: false })
    expect(await dumpImport(id)).not.toContain(mark)
    const { body } = await get(`/v1/data-imports/${id}`)
    expect(body).toMatchObject({
      status: 'completed_with_errors',
      created_orders: 2,
      failed_orders: 2,
      files_deleted_at: expect.any(String),
      rows_deleted_at: expect.any(String),
      error_report_url: null,
      allowed_actions: [],
    })
    for (const path of ['rows', 'error-report'])
      expect(await get(`/v1/data-imports/${id}/${path}`)).toMatchObject({
        status: 410,
        body: { code: 'import_data_deleted' },
      })
    for (const verb of ['undo', 'start', 'cancel'])
      expect(await post(`/v1/data-imports/${id}/${verb}`, {})).toMatchObject({ body: { code: 'invalid_transition' } })
    expect((await get(`/v1/data-imports/${id}/preview`)).body.code).toBe('invalid_transition')
    expect(await countContents(shop)).toMatchObject({ orders: 2, users: 2 })
    const secondReply = await post('/v1/data-imports', { ...shop, file_id: body.file.id })
    expect(secondReply).toMatchObject({ status: 400, body: { errors: [{ attr: 'file_id', code: 'invalid_choice' }] } })
    await sweepAfter(31)
    expect((await get(`/v1/data-imports/${id}`)).body.rows_deleted_at).toBe(body.rows_deleted_at)
  })

  it('keeps the bytes of its file while another import uses them, and imports that wait keep everything', async () => {
    const mark = freshMark()
    const id = await importTable(mark)
    const { file_id } = await loadImport(id)
    const other = await post('/v1/data-imports', { ...shop, file_id })
    await work(other.body.id)
    await sweepAfter(30)
    expect(await kept(id)).toEqual({ copies: 0, original: true })
    expect(await kept(other.body.id)).toEqual({ copies: 1, original: true })
    const renamed = await patch(`/v1/data-imports/${other.body.id}`, { options: { delimiter: ';' } })
    expect(renamed.status).toBe(200)
    expect((await work(other.body.id)).status).toBe('mapping_columns')
  })
})

describe('eraseUser', () => {
  it('blanks all rows of the person and deletes the file; other rows stay', async () => {
    const mark = freshMark()
    const [id, elsewhere] = [await importTable(mark), await importTable(mark, await seedShop())]
    const others = await dumpImport(elsewhere)
    const before = await loadRows(id)
    const user = await findUser(`ane-${mark}@example.dk`)
    const mine = (await loadImportOrders(id))[0]?.order_id ?? ''
    const owner = await db.first(sql<{ user_id: string }>`select user_id from orders where id = ${mine}`)
    expect((await post(`/v1/user/${owner?.user_id ?? user}/erase`, {})).status).toBe(200)
    await finishErasures()
    expect((await post(`/v1/user/${owner?.user_id ?? user}/erase`, {})).body.status).toBe('completed')
    const text = await dumpImport(id)
    expect(text.toLowerCase()).not.toContain(`ane-${mark}`)
    expect(text).not.toContain(`Ane${mark}`)
    const forUndo = (await loadImportOrders(id)).slice(0, 2).map((order) => JSON.parse(order.undo_data ?? '{}'))
    expect(forUndo).toMatchObject([{ catalogue: { products: [expect.any(String)] } }, { people: [{ is_new: true }] }])
    expect(forUndo[0]).not.toHaveProperty('people')
    const after = await loadRows(id)
    expect(after.map(({ outcome }) => outcome)).toEqual(before.map(({ outcome }) => outcome))
    expect([after[1], after[3]]).toEqual([before[1], before[3]])
    const { body } = await get(`/v1/data-imports/${id}/rows`)
    expect(body.results[0]).toMatchObject({ outcome: 'created', order_id: mine, values: {}, errors: [] })
    expect(body.results[2]).toMatchObject({ outcome: 'error', values: {}, errors: [{ code: 'person_erased' }] })
    expect(await kept(id)).toEqual({ copies: 0, original: false })
    expect(await get(`/v1/data-imports/${id}/error-report`)).toMatchObject({
      status: 410,
      body: { code: 'import_data_deleted' },
    })
    expect(await dumpImport(elsewhere)).toBe(others)
    expect(await kept(elsewhere)).toEqual({ copies: 1, original: true })
    expect((await get(`/v1/data-imports/${elsewhere}/error-report`)).status).toBe(200)
  })

  it('lets a waiting import start without the person, and prevents reading its file again', async () => {
    const mark = freshMark()
    await importTable(mark)
    const other = freshMark()
    const id = await givenReadyImport(
      shop,
      buildCsv(other)
        .replaceAll(`ane-${other}`, `ane-${mark}`)
        .replaceAll(`Ane-${other}`, `Ane-${mark}`)
        .replaceAll(';xyz', ';5')
        .replaceAll(';abc', ';5'),
    )
    const user = await db.first(
      sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}
        and email = ${`ane-${mark}@example.dk`}`,
    )
    expect((await post(`/v1/user/${user?.id}/erase`, {})).status).toBe(200)
    await finishErasures()
    const waiting = await get(`/v1/data-imports/${id}`)
    expect(waiting.body.allowed_actions).toEqual(['cancel', 'update_product_mappings', 'preview', 'start'])
    expect((await post(`/v1/data-imports/${id}/column-mappings/process`, {})).body.code).toBe('invalid_transition')
    expect((await post(`/v1/data-imports/${id}/start`, {})).status).toBe(200)
    expect(await work(id)).toMatchObject({ status: 'completed_with_errors', created_orders: 2, failed_orders: 2 })
    expect((await dumpImport(id)).toLowerCase()).not.toContain(`ane-${mark}`)
    const customer = await db.first(sql`select 1 from users where email = ${`ane-${mark}@example.dk`}
      and organization_id = ${shop.organization_id}`)
    expect(customer).toBeUndefined()
  })

  it('prevents an order of the person from rows that a consumer has already read', async () => {
    const mark = freshMark()
    await importTable(mark)
    const email = `ane-${mark}@example.dk`
    const lines = Array.from({ length: 60 }, (_, index) => {
      const buyer = index === 50 ? email : `guest-${index}-${mark}@example.dk`
      return `B-${index}${mark};${buyer};Guest;Day ticket;1;225,00`
    })
    const id = await givenReadyImport(
      shop,
      ['Order ID;E-mail;First name;Product;Quantity;Unit price', ...lines].join('\r\n'),
    )
    expect((await post(`/v1/data-imports/${id}/start`, {})).status).toBe(200)
    const job = createJob()
    let row: ImportRow | null = await loadImport(id)
    while (row && row.created_orders === 0) row = await importStep(job, row)
    expect(row?.created_orders).toBe(25)
    expect((await post(`/v1/user/${await findUser(email)}/erase`, {})).status).toBe(200)
    await finishErasures()
    expect(row && (await importStep(job, row))).toBeNull()
    expect(await work(id)).toMatchObject({ status: 'completed_with_errors', created_orders: 59, failed_orders: 1 })
    expect(await findUser(email)).toBe('')
    expect(await dumpImport(id)).not.toContain(`ane-${mark}`)
  })
})
