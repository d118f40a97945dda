import { encodeText } from '@ecms/table-reader'
import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { get, post, buildRequest } from '../../support/api.ts'
import { dump } from '../../support/dump.ts'
import { givenReadyImport, preview, start, work } from '../../support/imported-files.ts'
import { countContents } from '../../support/orders.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { aBadRow, aRow, type FileRow, seedStaged, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { write } from '../../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop } from '../../support/seeding/sales/orders.ts'
import { loadImport, loadImportOrders, runToEnd } from '../../support/staged-imports.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const actionOf: Record<string, string> = {
  created: 'create',
  updated: 'update',
  skipped: 'skip',
  error: 'error',
  ignored: 'ignore',
}

/** Rows of few orders and few people, of which some have errors. */
const table = fc.array(
  fc.record({
    order: fc.integer({ min: 1, max: 6 }),
    email: fc.constantFrom('ane@example.dk', 'bo@example.dk', undefined),
    product: fc.constantFrom('Day ticket', 'Camping', 'Shipping'),
    quantity: fc.constantFrom(1, 2, -1, 2000),
    unit: fc.constantFrom(0, 10_000, undefined),
    amount: fc.constantFrom(undefined, undefined, 10_000),
    status: fc.constantFrom(undefined, 'completed', 'cancelled', 'pending'),
    refunded: fc.constantFrom(undefined, undefined, undefined, 5000),
    isBad: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 12 },
)

function buildRows(cells: typeof table extends fc.Arbitrary<infer T> ? T : never): FileRow[] {
  return cells.map((cell): FileRow => {
    const values = {
      'order.external_id': `P-${cell.order}`,
      'order.status': cell.status,
      'order.amount': cell.amount,
      'order.refunded_amount': cell.refunded,
      'customer.email': cell.email,
      'item.product': cell.product,
      'item.quantity': cell.quantity,
      'item.unit_price': cell.unit,
    }
    return cell.isBad ? aBadRow(values) : { values }
  })
}

describe('previewImportOrders', () => {
  it('says for every order what the import then does, for any table, and writes nothing', async () => {
    const policies = fc.constantFrom('skip', 'update', 'error')
    const users = fc.constantFrom(true, true, false)
    await fc.assert(
      fc.asyncProperty(table, table, policies, users, async (before, cells, on_duplicate, create_users) => {
        shop = await seedShop()
        await runToEnd(await seedStarted(shop, buildRows(before)))
        const products = { Shipping: { action: 'ignore' as const } }
        const id = await seedStaged(shop, buildRows(cells), { options: { on_duplicate, create_users }, products })
        const was = await dump()
        const previewed = await preview(id, '?page_size=500')
        expect(await dump()).toEqual(was)
        expect((await start(id, { skip_invalid_rows: true })).status).toBe(200)
        await work(id)
        const orders = await loadImportOrders(id)
        expect(previewed.results.map((item: { action: string }) => item.action)).toEqual(
          orders.map(({ outcome }) => actionOf[outcome ?? '']),
        )
        const codes = (list: { code: string; row: number }[]) => list.map(({ code, row }) => `${row} ${code}`)
        expect(previewed.results.map((item: { errors: [] }) => codes(item.errors))).toEqual(
          orders.map(({ errors }) => codes(JSON.parse(errors))),
        )
        expect(previewed.results.map((item: { warnings: [] }) => codes(item.warnings))).toEqual(
          orders.map(({ warnings }) => codes(JSON.parse(warnings))),
        )
        const row = await loadImport(id)
        expect(previewed.totals).toMatchObject({
          create: row.created_orders,
          update: row.updated_orders,
          skip: row.skipped_orders,
          error: row.failed_orders,
        })
      }),
      { numRuns: 12 },
    )
  })

  it('says whether customers are new, and shows items, amounts, and each field that an update changes', async () => {
    await importOrders(shop, [anOrder({ external_id: 'U-1', customer: { email: 'known@example.dk' } })], {
      source: 'shop',
    })
    const existingRow = aRow({
      'order.external_id': 'U-1',
      'customer.email': 'known@example.dk',
      'order.order_number': '77',
    })
    const id = await seedStaged(shop, [existingRow, aRow()], { options: { on_duplicate: 'update' } })
    const { results, totals, count } = await preview(id)
    expect([count, totals]).toEqual([2, { create: 1, update: 1, skip: 0, error: 0, ignore: 0 }])
    expect(results[0]).toMatchObject({
      row_numbers: [2],
      action: 'update',
      order_id: expect.stringMatching(/^ord_/),
      customer: { id: expect.stringMatching(/^usr_/), is_new: false, email: 'known@example.dk' },
      amount: 225,
      currency: 'dkk',
    })
    expect(results[0].changes).toEqual([
      { field: 'order_number', before: null, after: '77' },
      { field: 'amount', before: 450, after: 225 },
      { field: 'items_count', before: 2, after: 1 },
      { field: 'purchases', before: 2, after: 1 },
    ])
    expect(results[1]).toMatchObject({
      action: 'create',
      order_id: null,
      customer: { id: null, is_new: true, full_name: 'Ægir' },
      items: [{ product: { name: 'Day ticket' }, quantity: 1, unit_price: 225, row: 3 }],
      changes: [],
    })
    expect((await preview(id, '?action=update')).results).toHaveLength(1)
  })
})

const csv = [
  'Order ID;E-mail;Product;Quantity;Unit price',
  'A-1;ane@example.dk;Day ticket;1;225,00',
  'A-2;bo@example.dk;Day ticket;1;abc',
  'A-2;bo@example.dk;"Camp;ing";2;100,50',
  'A-3;cæcilie@example.dk;Day ticket;1;225,00',
].join('\r\n')

describe('startDataImport', () => {
  it('refuses a file that has rows with errors', async () => {
    const id = await givenReadyImport(shop, csv)
    const refusal = await start(id)
    expect([describeRefusal(refusal), refusal.body.invalid_rows]).toEqual(['409 import_has_invalid_rows', 1])
    expect(await loadImport(id)).toMatchObject({ status: 'ready', phase: null })
  })

  it('imports the file without them where you ask for that, and refuses a second start', async () => {
    const id = await givenReadyImport(shop, csv)
    const started = await start(id, { skip_invalid_rows: true })
    expect([started.status, started.body]).toMatchObject([200, { status: 'importing' }])
    const refusal = await start(id)
    expect([describeRefusal(refusal), refusal.body.current_status]).toEqual(['409 import_running', 'importing'])
    expect(await work(id)).toMatchObject({
      status: 'completed_with_errors',
      progress: 1,
      total_orders: 3,
      created_orders: 2,
      failed_orders: 1,
      processed_rows: 4,
    })
  })

  it('imports the corrected report of rows with errors', async () => {
    const id = await givenReadyImport(shop, csv)
    await start(id, { skip_invalid_rows: true })
    await work(id)
    const report = await get(`/v1/data-imports/${id}/error-report`)
    expect(report.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const lines = report.text.split('\r\n')
    expect(lines[0]).toBe('_line;_errors;Order ID;E-mail;Product;Quantity;Unit price')
    expect(lines[1]).toMatch(/^3;.*;A-2;bo@example.dk;Day ticket;1;abc$/)
    expect(lines[2]).toMatch(/^4;"?Line 3 of the same order: .*"?;A-2;bo@example.dk;"Camp;ing";2;100,50$/)
    expect(lines.slice(3)).toEqual([''])
    const correctedImport = await givenReadyImport(shop, report.text.replace(';abc', ';99,00'))
    expect((await start(correctedImport)).status).toBe(200)
    expect(await work(correctedImport)).toMatchObject({ status: 'completed', created_orders: 1, failed_orders: 0 })
    expect(await countContents(shop)).toMatchObject({ orders: 3, purchases: 5, users: 3 })
  })

  it('leaves out an ambiguous language', { timeout: 60_000 }, async () => {
    const hostile = [`uk${'_a'.repeat(40)}%`, `uk${'_a'.repeat(100_000)}!!!`]
    const languages = ['da', 'en', 'da', 'nl', 'da', 'pl', 'da', 'en', ...hostile]
    const rows = languages.map((language, index) => `A-${index};a${index}@example.dk;Day ticket;1;225,00;${language}`)
    const id = await givenReadyImport(shop, [`${csv.split('\r\n')[0]};Language`, ...rows].join('\r\n'))
    const { results } = (await get(`/v1/data-imports/${id}/rows?has_errors=true`)).body
    expect(results.map((row: { errors: object[] }) => row.errors)).toMatchObject(
      [10, 11].map((row) => [{ row, target_field: 'customer.locale', code: 'invalid_value' }]),
    )
    expect((await start(id)).status).toBe(200)
    expect(await work(id)).toMatchObject({ status: 'completed', created_orders: 10, failed_orders: 0 })
  })

  it('continues with the remaining orders after a failure in the middle', async () => {
    const id = await seedStarted(
      shop,
      Array.from({ length: 30 }, () => aRow()),
    )
    await write(sql`update data_imports set status = 'failed', phase = null, heartbeat_at = null where id = ${id}`)
    expect((await start(id)).status).toBe(200)
    expect(await work(id)).toMatchObject({ status: 'completed', created_orders: 30 })
  })

  it('is refused before the columns are processed', async () => {
    const draft = await post('/v1/data-imports', { ...shop })
    expect(describeRefusal(await start(draft.body.id))).toBe('409 invalid_transition')
  })

  it('is refused before all products are mapped', async () => {
    const id = await seedStaged(shop, [aRow()])
    await write(
      sql`update data_imports set status = 'mapping_products', product_summary = '{"total":3,"mapped":1,"ignored":0,"unmapped":2}'
        where id = ${id}`,
    )
    const refusal = await start(id)
    expect([describeRefusal(refusal), refusal.body.unmapped]).toEqual(['409 product_mapping_incomplete', 2])
    expect(await loadImport(id)).toMatchObject({ status: 'mapping_products', epoch: 0 })
  })

  it('is refused beside two other imports', async () => {
    const id = await seedStaged(shop, [aRow()])
    const running = [await seedStarted(shop, [aRow()]), await seedStarted(shop, [aRow()])]
    expect(describeRefusal(await start(id))).toBe('409 import_limit')
    expect(await loadImport(id)).toMatchObject({ status: 'ready', epoch: 0 })
    for (const importId of running) await runToEnd(importId)
  })

  it('is refused in an archived edition', async () => {
    const id = await seedStaged(shop, [aRow()])
    await write(sql`update editions set is_archived = 1 where id = ${shop.edition_id}`)
    expect(describeRefusal(await start(id))).toBe('409 edition_archived')
    expect(await loadImport(id)).toMatchObject({ status: 'ready', epoch: 0 })
  })
})

describe('downloadErrorReport', () => {
  it('uses the encoding of the file, and the report can be imported', async () => {
    const bytes = encodeText(csv.replace('bo@example.dk;Day', 'bo@example.dk;Dørbillet'), 'windows-1252')
    const id = await givenReadyImport(shop, bytes)
    expect((await start(id, { skip_invalid_rows: true })).status).toBe(200)
    await work(id)
    const response = await exports.default.fetch(buildRequest(`/v1/data-imports/${id}/error-report`))
    expect(response.headers.get('content-type')).toBe('text/csv; charset=windows-1252')
    const report = new TextDecoder('windows-1252').decode(await response.arrayBuffer())
    expect(report).toContain('Dørbillet')
    const correctedImport = await givenReadyImport(shop, encodeText(report.replace(';abc', ';99,00'), 'windows-1252'))
    expect((await start(correctedImport)).status).toBe(200)
    expect(await work(correctedImport)).toMatchObject({ status: 'completed', created_orders: 1 })
  })
})

describe('listImportRows', () => {
  it('lists every row with its outcome and reason, and filters by outcome, error and order', async () => {
    const id = await seedStarted(shop, [aRow(), aBadRow(), aRow(), { values: {}, is_ignored: true }])
    await runToEnd(id)
    const list = async (query: string) => (await get(`/v1/data-imports/${id}/rows${query}`)).body
    const numbers = async (query: string) => (await list(query)).results.map((row: { row: number }) => row.row)
    expect(await numbers('')).toEqual([2, 3, 4, 5])
    expect(await numbers('?outcome=created')).toEqual([2, 4])
    expect(await numbers('?outcome=ignored')).toEqual([5])
    expect(await numbers('?has_errors=true')).toEqual([3])
    expect(await numbers('?has_errors=false&ordering=-row_number')).toEqual([5, 4, 2])
    const [first] = (await list('?outcome=created')).results
    expect(first).toMatchObject({ outcome: 'created', order_id: expect.stringMatching(/^ord_/), errors: [] })
    expect(await numbers(`?order_id=${first.order_id}`)).toEqual([2])
    expect((await list(`?order_id=${first.order_id}`)).results).toMatchObject([{ order_id: first.order_id }])
    expect((await list('?outcome=error')).results).toMatchObject([
      {
        row: 3,
        order_id: null,
        errors: [{ row: 3, target_field: 'item.unit_price', code: 'invalid_number', value: 'x' }],
      },
    ])
  })
})

it('listImportRows finds the rows of an order by its id after an undo, and no rows of other imports', async () => {
  const [id, other] = [await seedStarted(shop, [aRow(), aRow()]), await seedStarted(shop, [aRow()])]
  await runToEnd(id)
  await runToEnd(other)
  const rowsOfOrder = async (orderId: string) =>
    (await get(`/v1/data-imports/${id}/rows?order_id=${orderId}`)).body.results
  const [first] = await loadImportOrders(id)
  const [stranger] = await loadImportOrders(other)
  await undoToEnd(id)
  expect(await rowsOfOrder(first?.order_id ?? '')).toMatchObject([
    { row: 2, outcome: 'created', order_id: first?.order_id, undo_outcome: 'undone' },
  ])
  expect(await rowsOfOrder(stranger?.order_id ?? '')).toEqual([])
})

describe('streamImportEvents', () => {
  it('sends the state, each change of it, and the end', async () => {
    const id = await seedStarted(
      shop,
      Array.from({ length: 3 }, () => aRow()),
    )
    const [reply] = await Promise.all([get(`/v1/data-imports/${id}/events`), work(id)])
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(reply.headers.get('cache-control')).toContain('no-transform')
    const events = reply.text.split('\n\n').filter((event) => event.startsWith('event'))
    expect(events.at(-1)).toContain('event: end')
    expect(JSON.parse(events.at(-1)?.split('data: ')[1] ?? '')).toMatchObject({
      status: 'completed',
      created_orders: 3,
    })
  })
})
