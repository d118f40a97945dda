import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook, type WorkbookDraft } from '../../packages/table-reader/test/support/xlsx.ts'
import { get, patch } from '../support/api.ts'
import { pathOf, work } from '../support/data-imports.ts'
import { summariseOrders, previewOrders, startImport } from '../support/imported-tables.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const upload = { name: 'orders.xlsx', type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' }
const givenWorkbook = (shop: Shop, sheets: WorkbookDraft['sheets']) =>
  givenImport(shop, buildWorkbook({ sheets }) as Uint8Array<ArrayBuffer>, {}, upload)

const merges = (...ranges: string[]): string =>
  `<mergeCells>${ranges.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`
const header = buildTextRow(1, ['Order ID', 'Name', 'Email', 'Order date', 'Ticket type', 'Unit price', 'Order total'])

describe('a sheet whose orders are merged over the rows of their tickets', () => {
  const rows =
    header +
    buildTextRow(2, ['A', 'Ane Holm', 'ane@example.dk', '2026-05-01', 'Partout', '100', '150']) +
    buildTextRow(3, ['', '', '', '', 'Camping', '50', '']) +
    buildTextRow(4, ['B', 'Bo Dahl', 'bo@example.dk', '2026-05-02', 'Partout', '100', '100'])
  const ofOrder = ['A2:A3', 'B2:B3', 'C2:C3', 'D2:D3', 'G2:G3']

  it('is imported as it looks', async () => {
    const shop = await seedShop()
    const { id, file_format } = await givenWorkbook(shop, [{ name: 'Orders', rows, after: merges(...ofOrder) }])
    expect(file_format.warnings).toEqual([
      { code: 'merged_cells', message: '1 row takes values of merged cells above. Check them in the preview.' },
    ])
    expect((await previewOrders(id)).results).toMatchObject([
      { external_id: 'A', row_numbers: [2, 3], amount: 150, warnings: [] },
      { external_id: 'B', row_numbers: [4], amount: 100 },
    ])
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2 })
    expect(await summariseOrders(shop)).toMatchObject([
      { tickets: ['Camping 50 Ane Holm', 'Partout 100 Ane Holm'] },
      { tickets: ['Partout 100 Bo Dahl'] },
    ])
  })

  it('charges no ticket twice: a merged price is refused, because it may be that of all tickets', async () => {
    const shop = await seedShop()
    const oneDay = rows.replace(/<c r="F3".*?<\/c>/, '')
    const sheet = { name: 'Orders', rows: oneDay, after: merges(...ofOrder, 'F2:F3') }
    const { id } = await givenWorkbook(shop, [sheet])
    const { results } = await previewOrders(id)
    const error = { row: 3, column: 'Unit price', target_field: 'item.unit_price', code: 'merged_amount', value: '100' }
    expect(results).toMatchObject([{ action: 'error', errors: [error] }, { action: 'create' }])
    expect((await get(pathOf(id))).body).toMatchObject({ invalid_rows: 1 })
  })
})

describe('the answer about a workbook', () => {
  const order = (number: number) =>
    buildTextRow(number, [`A-${number}`, '', `a${number}@example.dk`, '2026-05-01', 'Partout', '100', '100'])
  const hidden = (number: number) => order(number).replace('<row ', '<row hidden="1" ')

  it('says how many rows are hidden, and that they are read', async () => {
    const shop = await seedShop()
    const rows = header + order(2) + hidden(3) + hidden(4)
    const { id, file_format, total_rows } = await givenWorkbook(shop, [{ name: 'Orders', rows }])
    expect(total_rows).toBe(3)
    const message =
      '2 rows are hidden in the sheet, by hand or by a filter, and read like the others. Delete them from the sheet ' +
      'if they are not to be imported.'
    expect(file_format.warnings).toEqual([{ code: 'hidden_rows', message }])
    expect((await previewOrders(id)).totals).toMatchObject({ create: 3 })
    expect((await get(pathOf(id))).body.file_format.warnings).toHaveLength(1)
  })

  it('says which sheet was read, and drops what it said about another sheet', async () => {
    const shop = await seedShop()
    const { id, file_format } = await givenWorkbook(shop, [
      { name: 'Draft', rows: header + order(2), state: 'hidden' },
      { name: 'Orders', rows: header + hidden(2) },
      { name: 'More', rows: header + order(2) + order(3) },
    ])
    expect(file_format).toMatchObject({ sheet: 'Orders', sheets: ['Orders', 'More'] })
    const other = {
      code: 'other_sheets',
      message: 'Only the sheet "Orders" is read. To read another one, set the option sheet.',
    }
    expect(file_format.warnings).toMatchObject([{ code: 'hidden_rows' }, other])
    expect((await patch(pathOf(id), { options: { sheet: 'More' } })).status).toBe(200)
    await work(id)
    const again = (await get(pathOf(id))).body
    expect(again).toMatchObject({ total_rows: 2, file_format: { sheet: 'More' } })
    expect(again.file_format.warnings).toMatchObject([{ code: 'other_sheets' }])
  })
})
