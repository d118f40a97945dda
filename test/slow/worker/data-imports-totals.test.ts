import { describe, expect, it } from 'vitest'
import { post } from '../../support/api.ts'
import { readColumns, encodeCsv, mapColumns, pathOf } from '../../support/data-imports.ts'
import { summariseOrders, previewOrders, startImport } from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const tableOf = (rows: readonly string[]) => encodeCsv(rows.map((row) => `${row}\r\n`).join(''))
const header = 'Order ID;Email;Order date;Ticket type;Unit price;Gebyrsum;Order total'

/** Validates the columns, and answers what it warns of. */
async function validate(id: string) {
  const { body } = await post(pathOf(id, '/column-mappings/validate'), {})
  expect(body).toMatchObject({ is_valid: true, errors: [] })
  return body.warnings as { row: number; code: string; target_field: string; message: string }[]
}

const rows = [
  'A;ane@example.dk;2026-05-01;Partout;100,00;12,50;112,50',
  'B;bo@example.dk;2026-05-01;Partout;100,00;;100,00',
]

describe('a total of the file that differs from the sum of the mapped columns', () => {
  it('makes a warning with the difference, before the rows are processed and in the preview', async () => {
    const { id } = await givenImport(await seedShop(), tableOf([header, ...rows]))
    const message = 'The total is 112.50 DKK in the source, but items and fees add up to 100.00 DKK, 12.50 DKK away.'
    const warning = { row: 2, code: 'amount_mismatch', target_field: 'order.amount', message }
    expect(await validate(id)).toMatchObject([warning])
    expect((await previewOrders(id)).results).toMatchObject([{ warnings: [warning] }, { warnings: [] }])
  })

  it.each([{ target_field: null }, { is_ignored: true }])(
    'makes a warning when nobody mapped its column: %j',
    async (change) => {
      const shop = await seedShop()
      const { id } = await givenImport(shop, tableOf([header, ...rows]))
      expect((await mapColumns(id, [{ source_column: 'Order total', ...change }])).status).toBe(200)
      const message =
        '"Order total" has 112.50 DKK, but the mapped columns add up to 100.00 DKK, 12.50 DKK away. ' +
        'Map what is missing, for example fees to order.service_fee.'
      expect(await validate(id)).toMatchObject([{ row: 2, code: 'amount_mismatch', message }])
      const { results } = await previewOrders(id)
      expect(results).toMatchObject([{ warnings: [{ row: 2, code: 'amount_mismatch', message }] }, { warnings: [] }])
      expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2 })
      expect(await summariseOrders(shop)).toMatchObject([{ amount: '100 dkk' }, { amount: '100 dkk' }])
    },
  )

  it('makes no warning once the missing fee is mapped', async () => {
    const { id } = await givenImport(await seedShop(), tableOf([header, ...rows]))
    await mapColumns(id, [
      { source_column: 'Order total', is_ignored: true },
      { source_column: 'Gebyrsum', target_field: 'order.service_fee' },
    ])
    expect(await validate(id)).toEqual([])
    expect((await previewOrders(id)).results).toMatchObject([{ warnings: [] }, { warnings: [] }])
  })

  it.each([
    ['the total of the order in each row', '150,00', '150,00'],
    ['the amount of each row', '100,00', '50,00'],
    ['the total of the order in its first row', '150,00', ''],
    ['a text that is no amount', 'ja', 'nej'],
  ])('makes no warning when its column has %s', async (_, first, second) => {
    const table = [
      header,
      `A;ane@example.dk;2026-05-01;Partout;100,00;;${first}`,
      `A;ane@example.dk;2026-05-01;Camping;50,00;;${second}`,
    ]
    const { id } = await givenImport(await seedShop(), tableOf(table))
    await mapColumns(id, [{ source_column: 'Order total', is_ignored: true }])
    expect(await validate(id)).toEqual([])
    expect((await previewOrders(id)).results).toMatchObject([{ action: 'create', warnings: [] }])
  })

  it('makes no warning when it includes or leaves out cancelled tickets', async () => {
    const cancelled = (total: string) => [
      `${header};Ticket status`,
      `A;ane@example.dk;2026-05-01;Partout;100,00;;${total};active`,
      `A;ane@example.dk;2026-05-01;Camping;50,00;;${total};cancelled`,
    ]
    for (const total of ['100,00', '150,00']) {
      const { id } = await givenImport(await seedShop(), tableOf(cancelled(total)))
      await mapColumns(id, [{ source_column: 'Order total', is_ignored: true }])
      expect(await validate(id)).toEqual([])
    }
  })
})

describe('the first rows of a longer file', () => {
  it('are checked as orders, except the last order, whose rows may go on', async () => {
    const order = (number: number) => [
      `${number};p${number}@example.dk;2026-05-01;Partout;100,00;;150,00`,
      `${number};;;Camping;50,00;;`,
    ]
    const many = Array.from({ length: 700 }, (_, index) => order(index)).flat()
    // The thousandth row is the first one of an order.
    const table = [header, 'X;x@example.dk;;Partout;100,00;;100,00', ...many]
    const { id } = await givenImport(await seedShop(), tableOf(table))
    const { body } = await post(pathOf(id, '/column-mappings/validate'), {})
    expect(body).toMatchObject({ checked_rows: 1000, warnings: [] })
    expect(body.errors).toMatchObject([{ row: 2, target_field: 'order.created', code: 'missing_required' }])
    expect((await readColumns(id)).results[6]).toMatchObject({ target_field: 'order.amount' })
  })
})
