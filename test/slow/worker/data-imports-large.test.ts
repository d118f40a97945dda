import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { get, patch } from '../../support/api.ts'
import { readCost } from '../../support/cost.ts'
import { preview, start, work } from '../../support/imported-files.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { aBadRow, aRow, seedStaged, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { createImporter, loadImport, runToEnd } from '../../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

describe('listImportRows by page number', () => {
  const expectPages = async (id: string, all: readonly number[]) => {
    for (const ordering of ['row_number', '-row_number'])
      for (const page of [1, 2, 11, Math.ceil(all.length / 20)]) {
        const { body } = await get(`/v1/data-imports/${id}/rows?ordering=${ordering}&page=${page}&page_size=20`)
        const numbers = (body.results as { row_number: number }[]).map(({ row_number }) => row_number)
        const expected = (ordering.startsWith('-') ? all.toReversed() : all).slice(20 * (page - 1), 20 * page)
        expect([ordering, page, body.count, numbers]).toEqual([ordering, page, all.length, expected])
      }
  }

  it('shows the rows of that page, also where an earlier row is missing', async () => {
    const id = await seedStaged(
      shop,
      Array.from({ length: 300 }, () => aRow()),
    )
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1)
    await expectPages(id, numbers)
    await write(sql`delete from import_rows where import_id = ${id} and row_number = 150`)
    await expectPages(id, numbers.toSpliced(149, 1))
  })
})

/** Lists the numbers of the orders on all pages of an action. */
async function walkPreview(id: string, query: string): Promise<number[]> {
  const numbers: number[] = []
  let next: string | null = `/v1/data-imports/${id}/preview${query}`
  while (next) {
    const { body, status, text } = await get(next)
    expect(status, text).toBe(200)
    numbers.push(...body.results.map((order: { id: string }) => Number(order.id)))
    next = body.next && new URL(body.next).pathname + new URL(body.next).search
  }
  return numbers
}

const largePreview = {
  totals: { create: 1, update: 3, skip: 0, error: 2, ignore: 1094 },
  totals_state: 'exact',
  previewed_orders: 1100,
}

/** Makes an import of 1100 orders, of which the rows 1041 and 1100 have errors and 1042 to 1044 are changed. */
async function seedLarge(place: Shop): Promise<string> {
  const existingRows = Array.from({ length: 3 }, () => aRow())
  await runToEnd(await seedStarted(place, existingRows))
  const shipping = (length: number) => Array.from({ length }, () => aRow({ 'item.product': 'Shipping' }))
  const changed = existingRows.map(({ values }) => ({ values: { ...values, 'item.unit_price': 30_000 } }))
  const rows = [...shipping(1040), aBadRow(), ...changed, aRow(), ...shipping(54), aBadRow()]
  const products = { Shipping: { action: 'ignore' as const } }
  return seedStaged(place, rows, { products, options: { on_duplicate: 'update' } })
}

const buildThousandRows = () => Array.from({ length: 1001 }, () => aRow())

describe('previewImportOrders', () => {
  it('counts the orders of a large import by what the import will do, and the import then does that', async () => {
    const id = await seedLarge(shop)
    expect(await preview(id)).toMatchObject({ count: 1100, total_orders: 1100, totals: null, totals_state: 'counting' })
    const message = { type: 'import.preview' as const, import_id: id }
    // A queue may deliver a message twice, to one consumer or to two.
    await createImporter().take(message, message)
    await Promise.all([createImporter().take(message), createImporter().take(message)])
    expect(await preview(id)).toMatchObject({ count: 1100, ...largePreview })
    expect((await start(id, { skip_invalid_rows: true })).status).toBe(200)
    await work(id)
    const { created_orders, updated_orders, skipped_orders, failed_orders, row_counts } = await loadImport(id)
    const { create, update, skip, error } = largePreview.totals
    expect({ create: created_orders, update: updated_orders, skip: skipped_orders, error: failed_orders }).toEqual({
      create,
      update,
      skip,
      error,
    })
    expect(row_counts).toEqual({ created: 1, updated: 3, error: 2, ignored: 1094 })
    expect(await preview(id)).toMatchObject({ totals: null, totals_state: 'none' })
  })

  describe('of a large import that is counted', () => {
    let id: string
    beforeAll(async () => {
      id = await seedLarge(await seedShop())
      await createImporter().take({ type: 'import.preview', import_id: id })
    })

    it('keeps all totals when it lists one action', async () => {
      expect(await preview(id, '?action=error')).toMatchObject({ count: 2, ...largePreview })
    })

    const ignored = [...Array(1040).keys(), ...Array.from({ length: 54 }, (_, index) => 1045 + index)]
    it.each([
      ['action=error', [1041, 1100]],
      ['action=error&ordering=-row', [1100, 1041]],
      ['action=error&page_size=1', [1041, 1100]],
      ['action=update&page_size=2', [1042, 1043, 1044]],
      ['action=ignore&page_size=500', ignored.map((index) => index + 1)],
    ])('lists the orders of an action on all pages: %s', async (query, expected) => {
      expect(await walkPreview(id, `?${query}`)).toEqual(expected)
    })

    it('has no page numbers among the orders of an action', async () => {
      const deep = await get(`/v1/data-imports/${id}/preview?action=ignore&page=2`)
      expect(describeRefusal(deep)).toBe('400 page_too_deep')
    })

    it('has page numbers among all orders, and writes nothing', async () => {
      const page = await get(`/v1/data-imports/${id}/preview?page=11&page_size=100`)
      expect(page.body.results).toHaveLength(100)
      expect(page.body.results[0].id).toBe('1001')
      expect(readCost(page)).toMatchObject({ rows_written: 0 })
    })
  })

  it('warns that most rows of a large import look like orders that exist, once all are counted', async () => {
    const existingRow = aRow({ 'order.external_id': undefined })
    const rows = Array.from({ length: 600 }, () => aRow({ 'order.external_id': undefined }))
    const options = { group_by: 'row' }
    await runToEnd(await seedStarted(shop, [existingRow, ...rows], { options }))
    const newRows = Array.from({ length: 590 }, () => aRow({ 'order.external_id': undefined }))
    const id = await seedStaged(shop, [existingRow, ...rows, ...newRows], { options })
    expect(await preview(id)).toMatchObject({ total_orders: 1191, totals_state: 'counting', warnings: [] })
    await createImporter().take({ type: 'import.preview', import_id: id })
    const counted = await preview(id)
    expect(counted).toMatchObject({ totals_state: 'exact', totals: { skip: 601, create: 590 } })
    expect(counted.warnings).toMatchObject([{ code: 'rows_look_imported' }])
    expect(counted.warnings[0].message).toContain('601 of 1191')
  })

  it('goes on counting after an interruption, without counting orders again', async () => {
    const id = await seedStaged(shop, buildThousandRows())
    const message = { type: 'import.preview' as const, import_id: id }
    const patient = createImporter({ tick: 20_000 })
    await patient.take(message)
    // This consumer had no time left after its first thousand orders.
    expect(patient.enqueued).toEqual([message])
    expect((await preview(id)).totals_state).toBe('counting')
    await write(sql`update import_previews set totals = json_set(totals, '$.skip', 7, '$.create', 993)
      where import_id = ${id}`)
    await createImporter().take(message)
    expect((await preview(id)).totals).toMatchObject({ create: 994, skip: 7 })
  })

  it('counts again after the import changes', async () => {
    const id = await seedStaged(shop, buildThousandRows())
    const message = { type: 'import.preview' as const, import_id: id }
    await createImporter().take(message)
    expect((await preview(id)).totals).toMatchObject({ create: 1001, error: 0 })
    const changeReply = await patch(`/v1/data-imports/${id}`, { options: { create_users: false } })
    expect([changeReply.status, changeReply.body.status]).toEqual([200, 'ready'])
    expect((await preview(id)).totals).toBeNull()
    await createImporter().take(message)
    expect((await preview(id)).totals).toMatchObject({ create: 0, error: 1001 })
  })
})

describe('the count of listImportRows', () => {
  it('is exact before and after an import with ignored rows', async () => {
    const rows = [...Array.from({ length: 30 }, () => aRow()), aRow({ 'item.product': 'Shipping' })]
    const id = await seedStaged(shop, rows, { products: { Shipping: { action: 'ignore' } } })
    await start(id)
    await work(id)
    const ignored = await get(`/v1/data-imports/${id}/rows?outcome=ignored`)
    expect(ignored.body).toMatchObject({ count: 1, results: [{ row_number: 31, outcome: 'ignored' }] })
    expect((await get(`/v1/data-imports/${id}/rows?outcome=created&page_size=5`)).body.count).toBe(30)
  })

  it('is exact while the import runs, for all rows, for rows with errors and for the rows of an order', async () => {
    const key = { 'order.external_id': 'ONE', 'customer.email': 'one@example.dk' }
    const id = await seedStarted(shop, [
      aRow(key),
      ...Array.from({ length: 30 }, () => aRow()),
      aRow(key),
      ...Array.from({ length: 30 }, () => aBadRow()),
    ])
    const expectCounts = async (filters: Record<string, number>) => {
      for (const [filter, expected] of Object.entries(filters)) {
        const { body } = await get(`/v1/data-imports/${id}/rows?page_size=5${filter}`)
        expect([filter, body.count]).toEqual([filter, expected])
      }
    }
    await expectCounts({
      '': 62,
      '&has_errors=true': 30,
      '&has_errors=false': 32,
      '&ordering=-row_number&has_errors=true': 30,
      '&outcome=error': 0,
    })
    await runToEnd(id)
    const order = await db.first(
      sql<{ order_id: string }>`select order_id from import_orders where import_id = ${id} and number = 1`,
    )
    await expectCounts({
      '&has_errors=true': 30,
      '&has_errors=false': 32,
      '&has_errors=false&outcome=error': 0,
      '&has_errors=true&outcome=error': 30,
      [`&order_id=${order?.order_id}`]: 2,
    })
  })
})

it('the count of rows with errors is exact while the import runs and after a second processing', async () => {
  const act = fc.record({
    at: fc.integer({ min: 1, max: 12 }),
    many: fc.integer({ min: 1, max: 4 }),
    bad: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), fc.array(act), async (bad, acts) => {
      const id = await seedStaged(
        shop,
        bad.map((isBad) => (isBad ? aBadRow() : aRow())),
      )
      const expectCounts = async () => {
        const real = sql`select count(*) as n from import_rows where import_id = ${id} and errors <> '[]'`
        const { body } = await get(`/v1/data-imports/${id}/rows?has_errors=true`)
        expect([{ n: body.count }]).toEqual(await db.all(real))
      }
      for (const one of acts)
        await write(sql`update import_rows set outcome = 'skipped', errors = ${one.bad ? '[{"code":"required","message":"It is missing."}]' : '[]'}
          where import_id = ${id} and row_number between ${one.at} and ${one.at + one.many}`)
      await expectCounts()
      await write(
        sql`delete from import_rows where import_id = ${id}`,
        sql`update data_imports set invalid_rows = 0, total_rows = 0 where id = ${id}`,
      )
      await expectCounts()
    }),
    { numRuns: 15 },
  )
})
