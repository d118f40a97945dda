import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ImportRow } from '../../../src/modules/data-imports/background/steps.ts'
import { sweepImportData } from '../../../src/modules/data-imports/jobs.ts'
import { importStep } from '../../../src/modules/data-imports/run/import-step.ts'
import { get, patch, post } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { givenReadyImport, work } from '../../support/imported-files.ts'
import { countContents } from '../../support/orders.ts'
import { finishErasures } from '../../support/personal-data.ts'
import { describeRefusal } from '../../support/refusals.ts'
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
  it('keeps its file and rows for 30 days, and then deletes them once', async () => {
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
    expect(body).toMatchObject({ files_deleted_at: expect.any(String), rows_deleted_at: expect.any(String) })
    await sweepAfter(31)
    expect((await get(`/v1/data-imports/${id}`)).body.rows_deleted_at).toBe(body.rows_deleted_at)
  })

  describe('after 30 days', () => {
    let place: Shop
    let id: string
    beforeAll(async () => {
      place = await seedShop()
      id = await importTable(freshMark(), place)
      await sweepAfter(30)
    })

    it('keeps its counts and orders', async () => {
      expect((await get(`/v1/data-imports/${id}`)).body).toMatchObject({
        status: 'completed_with_errors',
        created_orders: 2,
        failed_orders: 2,
        error_report_url: null,
        allowed_actions: [],
      })
      expect(await countContents(place)).toMatchObject({ orders: 2, users: 2 })
    })

    it.each(['rows', 'error-report'])('answers 410 instead of its %s', async (path) => {
      expect(describeRefusal(await get(`/v1/data-imports/${id}/${path}`))).toBe('410 import_data_deleted')
    })

    it.each(['undo', 'start', 'cancel'])('refuses %s', async (verb) => {
      expect((await post(`/v1/data-imports/${id}/${verb}`, {})).body.code).toBe('invalid_transition')
    })

    it('has no preview', async () => {
      expect((await get(`/v1/data-imports/${id}/preview`)).body.code).toBe('invalid_transition')
    })

    it('leaves no file that another import could read', async () => {
      const { body } = await get(`/v1/data-imports/${id}`)
      const reply = await post('/v1/data-imports', { ...place, file_id: body.file.id })
      expect(describeRefusal(reply)).toBe('400 validation_error: invalid_choice #/file_id')
    })
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
  describe('of a person in a file', () => {
    const mark = freshMark()
    let id: string
    let elsewhere: string
    let order: string
    let before: Awaited<ReturnType<typeof loadRows>>
    let others: string
    beforeAll(async () => {
      id = await importTable(mark, await seedShop())
      elsewhere = await importTable(mark, await seedShop())
      others = await dumpImport(elsewhere)
      before = await loadRows(id)
      order = (await loadImportOrders(id))[0]?.order_id ?? ''
      const owner = await db.first(sql<{ user_id: string }>`select user_id from orders where id = ${order}`)
      expect((await post(`/v1/user/${owner?.user_id}/erase`, {})).status).toBe(200)
      await finishErasures()
      expect((await post(`/v1/user/${owner?.user_id}/erase`, {})).body.status).toBe('completed')
    })

    it('blanks all rows of the person', async () => {
      const text = await dumpImport(id)
      expect(text.toLowerCase()).not.toContain(`ane-${mark}`)
      expect(text).not.toContain(`Ane${mark}`)
      const { body } = await get(`/v1/data-imports/${id}/rows`)
      expect(body.results[0]).toMatchObject({ outcome: 'created', order_id: order, values: {}, errors: [] })
      expect(body.results[2]).toMatchObject({ outcome: 'error', values: {}, errors: [{ code: 'person_erased' }] })
    })

    it('keeps what the undo of the import needs, without the person', async () => {
      const undoData = (await loadImportOrders(id)).slice(0, 2).map(({ undo_data }) => JSON.parse(undo_data ?? '{}'))
      expect(undoData).toMatchObject([
        { catalogue: { products: [expect.any(String)] } },
        { people: [{ is_new: true }] },
      ])
      expect(undoData[0]).not.toHaveProperty('people')
    })

    it('keeps the rows of others, and the outcome of all', async () => {
      const after = await loadRows(id)
      expect(after.map(({ outcome }) => outcome)).toEqual(before.map(({ outcome }) => outcome))
      expect([after[1], after[3]]).toEqual([before[1], before[3]])
    })

    it('deletes the file and its report', async () => {
      expect(await kept(id)).toEqual({ copies: 0, original: false })
      expect(describeRefusal(await get(`/v1/data-imports/${id}/error-report`))).toBe('410 import_data_deleted')
    })

    it('changes no import of another organisation with the same addresses', async () => {
      expect(await dumpImport(elsewhere)).toBe(others)
      expect(await kept(elsewhere)).toEqual({ copies: 1, original: true })
      expect((await get(`/v1/data-imports/${elsewhere}/error-report`)).status).toBe(200)
    })
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
