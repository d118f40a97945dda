import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { csv, pathOf } from '../support/data-imports.ts'
import { ordersOf, previewed, started, type Answers } from '../support/imported-tables.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'

const tableOf = (rows: readonly string[]) => csv(rows.map((row) => `${row}\r\n`).join(''))

interface ListedRow {
  row: number
  outcome: string
  warnings: { code: string }[]
}

/** Imports a table and answers its preview, its end and what its rows say. */
async function importTable(shop: Shop, rows: readonly string[], more: object = {}, answers: Answers = {}) {
  const { id } = await givenImport(shop, tableOf(rows), more)
  const preview = await previewed(id, answers)
  const { status, created_orders, skipped_orders, updated_orders } = await started(id)
  const { body } = await get(pathOf(id, '/rows'))
  return {
    id,
    preview,
    ended: { status, created_orders, skipped_orders, updated_orders },
    rows: (body.results as ListedRow[]).map(
      ({ row, outcome, warnings }) => `${row} ${[outcome, ...warnings.map(({ code }) => code)].join(' ')}`,
    ),
  }
}

describe('a list without ids', () => {
  const header = 'Navn;E-mail;Billettype;Pris;Købt den'
  const list = [
    'Ane Holm;ane@example.dk;Partout;100,00;15-01-2026',
    'Bo Dahl;bo@example.dk;Partout;100,00;15-01-2026',
    'Ane Holm;ane@example.dk;Partout;100,00;15-01-2026',
  ]
  const more = ['Ida Lund;ida@example.dk;Camping;50,00;16-01-2026', 'Ane Holm;ane@example.dk;Partout;100,00;17-01-2026']

  it('adds only its new rows when it is imported again after it has grown', async () => {
    const shop = await seedShop()
    expect((await importTable(shop, [header, ...list])).ended).toMatchObject({ created_orders: 3, skipped_orders: 0 })
    const again = await importTable(shop, [header, ...more.slice(0, 1), ...list, ...more.slice(1)])
    expect(again.preview.totals).toMatchObject({ create: 2, skip: 3 })
    expect(again.ended).toMatchObject({ status: 'completed', created_orders: 2, skipped_orders: 3 })
    expect(again.rows).toEqual([
      '2 created',
      '3 skipped looks_imported',
      '4 skipped looks_imported',
      '5 skipped looks_imported',
      '6 created',
    ])
    expect(await ordersOf(shop)).toHaveLength(5)
  })

  it('keeps the orders of its rows whatever format the file has', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, ...list])
    const rewritten = ['E-mail,Navn,Billettype,Pris,Købt den', 'ANE@example.dk,Ane Holm,partout,100.00,2026-01-15']
    expect((await importTable(shop, rewritten, { external_source: 'file' })).preview.totals).toMatchObject({
      create: 0,
    })
  })

  it('says in the preview that most of its rows look like orders that exist', async () => {
    const shop = await seedShop()
    const first = await importTable(shop, [header, ...list])
    expect(first.preview.warnings).toEqual([])
    const grown = await importTable(shop, [header, ...list, ...more.slice(0, 1)])
    expect(grown.preview.warnings).toMatchObject([{ code: 'rows_look_imported' }])
    expect(grown.preview.warnings[0].message).toContain('3 of 4')
  })

  it('says so too if the orders exist under the name of another system', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, ...list], { external_source: 'old shop' })
    const moved = await importTable(shop, [header, ...list], { external_source: 'new shop' })
    expect(moved.preview.warnings).toMatchObject([{ code: 'rows_look_imported' }])
    expect(moved.preview.results[0].warnings).toMatchObject([{ code: 'similar_order' }])
    expect(moved.ended).toMatchObject({ created_orders: 3 })
  })

  it('gives every equal row an order of its own across the steps of a large file', async () => {
    const shop = await seedShop()
    const equal = Array.from({ length: 1200 }, () => `${list[0]};${'x'.repeat(300)}`)
    const { id } = await givenImport(shop, tableOf([`${header};Bemærkning`, ...equal]))
    await previewed(id)
    expect((await get(pathOf(id))).body).toMatchObject({ total_rows: 1200, total_orders: 1200 })
  })
})
