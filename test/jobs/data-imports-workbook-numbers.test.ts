import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../packages/table-reader/test/support/xlsx.ts'
import { get } from '../support/api.ts'
import { mapColumns, pathOf, process } from '../support/data-imports.ts'
import type { RawUpload } from '../support/files.ts'
import { queryRows } from '../support/files.ts'
import { startImport, summariseOrders } from '../support/imported-tables.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const upload: RawUpload = {
  name: 'orders.xlsx',
  type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
const columns = ['Order ID', 'E-mail', 'Product', 'Unit price', 'Ticket code', 'Order date']
const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`
const number = (value: string, style = 0) => `<c s="${style}"><v>${value}</v></c>`

interface NumberRow {
  id: string
  price?: string
  style?: number
  code?: string
}

/** Builds a workbook whose ids, prices and codes are numeric cells. */
const buildSheet = (rows: readonly NumberRow[], formats: (number | string)[] = [0]) =>
  buildWorkbook({
    formats,
    sheets: [
      {
        name: 'Orders',
        rows:
          buildTextRow(1, columns) +
          rows
            .map(
              ({ id, price = '5', style = 0, code = '' }, at) =>
                `<row r="${at + 2}">${number(id)}${text(`p${at}@example.test`)}${text('Day ticket')}` +
                `${number(price, style)}${code === '' ? text('') : number(code)}${text('2026-01-05')}</row>`,
            )
            .join(''),
      },
    ],
  }) as Uint8Array<ArrayBuffer>

async function importSheet(shop: Shop, bytes: Uint8Array<ArrayBuffer>) {
  const { id } = await givenImport(shop, bytes, {}, upload)
  const mapped = await mapColumns(id, [
    { source_index: 3, target_field: 'item.unit_price' },
    { source_index: 4, target_field: 'item.vendor_code' },
  ])
  expect(mapped.status, mapped.text).toBe(200)
  await process(id)
  return startImport(id, { skip_invalid_rows: true })
}

async function listErrors(id: string): Promise<string[]> {
  const { results } = (await get(pathOf(id, '/rows?has_errors=true'))).body
  return (results as { row: number; errors: { column: string; code: string; message: string }[] }[]).flatMap(
    ({ row, errors }) => errors.map(({ column, code, message }) => `${row} ${column} ${code} ${message}`),
  )
}

describe('a long number in a workbook', () => {
  it('never becomes another one: two ids are two orders with a ticket each', async () => {
    const shop = await seedShop()
    const rows = [
      { id: '1234567890123456', code: '9876543210987651' },
      { id: '1234567890123457', code: '9876543210987652' },
    ]
    const run = await importSheet(shop, buildSheet(rows))
    expect(run).toMatchObject({ status: 'completed', created_orders: 2 })
    expect(await summariseOrders(shop)).toMatchObject([{ id: '1234567890123456' }, { id: '1234567890123457' }])
    const codes = await queryRows<{ vendor_code: string }>(
      'select vendor_code from purchases where edition_id = ? order by vendor_code',
      shop.edition_id,
    )
    expect(codes.map(({ vendor_code }) => vendor_code)).toEqual(['9876543210987651', '9876543210987652'])
  })

  it('is refused as an id or a code when its last digits are lost, and says how to keep them', async () => {
    const shop = await seedShop()
    const rows = [
      { id: '1234567890123450' },
      { id: '1.23456789012345E+15' },
      { id: '1003', code: '9876543210987650' },
      { id: '1004', code: '987654321098765' },
    ]
    const run = await importSheet(shop, buildSheet(rows))
    expect(run).toMatchObject({ status: 'completed_with_errors', created_orders: 1 })
    expect(await summariseOrders(shop)).toMatchObject([{ id: '1004' }])
    const advice = 'was shortened by a spreadsheet. Format the column as text and save the file again.'
    expect(await listErrors(run.id)).toEqual([
      `2 Order ID invalid_value "1.23456789012345E+15" ${advice}`,
      `3 Order ID invalid_value "1.23456789012345E+15" ${advice}`,
      `4 Ticket code invalid_value "9.87654321098765E+15" ${advice}`,
    ])
  })
})

describe('a price in a workbook', () => {
  it('has the currency that its cell shows', async () => {
    const shop = await seedShop()
    const formats = [0, '"$"#,##0.00', '#,##0.00 "€"', '#,##0.00 "SEK"', '#,##0.00\\ [$zł-415]', '0.00\\ [$kr-414]']
    const rows = formats.map((_, style) => ({ id: `100${style}`, style }))
    expect(await importSheet(shop, buildSheet(rows, formats))).toMatchObject({ status: 'completed' })
    const orders = (await summariseOrders(shop)) as { amount: string }[]
    expect(orders.map(({ amount }) => amount)).toEqual(['5 dkk', '5 usd', '5 eur', '5 sek', '5 pln', '5 nok'])
  })

  it('is refused in a currency that is not supported, and as a percentage', async () => {
    const shop = await seedShop()
    const formats = [0, '[$¥-411]#,##0', '0%', '0.00"%"']
    const rows = formats.map((_, style) => ({ id: `100${style}`, price: '0.5', style }))
    const run = await importSheet(shop, buildSheet(rows, formats))
    expect(run).toMatchObject({ status: 'completed_with_errors', created_orders: 1 })
    expect(await listErrors(run.id)).toEqual([
      '3 Unit price invalid_number "0.5 ¥" is not an amount.',
      '4 Unit price invalid_number "50%" is not an amount.',
      '5 Unit price invalid_number "0.5%" is not an amount.',
    ])
  })
})
