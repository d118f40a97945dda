import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, post } from '../../support/api.ts'
import { answer, listRecords } from '../../support/consents.ts'
import { readColumns, encodeCsv, mapColumns, pathOf, process } from '../../support/data-imports.ts'
import { summariseOrders, previewOrders, startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

const tableOf = (rows: readonly string[]) => encodeCsv(rows.map((row) => `${row}\r\n`).join(''))
const undated = ['Order ID;Email;Ticket type;Price', 'A;ane@example.dk;Partout;100,00']
const dateOf = (value: string) => [{ target_field: 'order.created', value }]
const createdAt = async (shop: Shop) =>
  (await summariseOrders(shop)).map((order) => (order as { created: string }).created)

/** Uploads a file with a blank date. */
async function givenUndated() {
  const shop = await seedShop({ timezone: 'UTC' })
  const table = tableOf(['Order ID;Email;Ticket type;Price;Order date', 'A;ane@example.dk;Partout;100,00;'])
  const { id } = await givenImport(shop, table)
  const setForAll = (value: string) =>
    mapColumns(id, [{ source_column: 'Order date', is_ignored: true }], dateOf(value))
  return { shop, id: id as string, setForAll }
}

describe('a file whose orders have no date', () => {
  it('needs a date before its rows are read', async () => {
    const shop = await seedShop()
    const { id, column_summary } = await givenImport(shop, tableOf(undated))
    expect(column_summary.missing_required).toEqual(['order.created'])
    const { body: checked } = await post(pathOf(id, '/column-mappings/validate'), {})
    const issue = { code: 'missing_target', message: 'Map a column to order.created, or set a constant for it.' }
    expect(checked).toMatchObject({ is_valid: false, missing_required: ['order.created'] })
    expect(checked.errors).toMatchObject([{ ...issue, target_field: 'order.created' }])
    const refused = await post(pathOf(id, '/column-mappings/process'), {})
    expect(describeRefusal(refused)).toBe(`409 column_mapping_incomplete: ${issue.code} #/mappings`)
    expect(refused.body.errors[0].detail).toBe(issue.message)
    expect(await summariseOrders(shop)).toEqual([])
  })

  it('is imported with the date that you set', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, tableOf(undated))
    await previewOrders(id, { constants: dateOf('2026-05-01 12:00') })
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 1 })
    expect(await createdAt(shop)).toEqual(['2026-05-01T10:00:00.000Z'])
  })

  it('needs a date again next time, because a date is not remembered', async () => {
    const shop = await seedShop()
    const first = await givenImport(shop, tableOf(undated))
    const mapped = [...dateOf('2026-05-01'), { target_field: 'order.currency', value: 'dkk' }]
    await previewOrders(first.id, { constants: mapped })
    await startImport(first.id)
    const next = await givenImport(shop, tableOf([undated[0] ?? '', 'B;bo@example.dk;Partout;100,00']))
    expect(next.column_summary.missing_required).toEqual(['order.created'])
    expect((await readColumns(next.id)).constants).toMatchObject([{ target_field: 'order.currency' }])
  })

  it('adds no row of a list twice when the list has grown, whatever date it gets then', async () => {
    const shop = await seedShop()
    const list = ['Email;Ticket type;Price', 'ane@example.dk;Partout;100,00']
    const first = await givenImport(shop, tableOf(list))
    await previewOrders(first.id, { constants: dateOf('2026-05-01') })
    await startImport(first.id)
    const grown = await givenImport(shop, tableOf([...list, 'bo@example.dk;Partout;100,00']))
    const { totals } = await previewOrders(grown.id, { constants: dateOf('2026-06-01') })
    expect(totals).toMatchObject({ create: 1, skip: 1 })
  })

  it('warns of similar orders of another system, whatever date it gets', async () => {
    const shop = await seedShop()
    const dated = ['Email;Ticket type;Price;Order date', 'ane@example.dk;Partout;100,00;2026-01-15']
    const first = await givenImport(shop, tableOf(dated), { external_source: 'old shop' })
    await previewOrders(first.id)
    await startImport(first.id)
    const list = ['Email;Ticket type;Price', 'ane@example.dk;Partout;100,00']
    const moved = await givenImport(shop, tableOf(list), { external_source: 'new shop' })
    const { results } = await previewOrders(moved.id, { constants: dateOf('2026-06-01') })
    expect(results).toMatchObject([{ action: 'create', warnings: [{ code: 'similar_order' }] }])
  })

  it('never gives a consent again that was withdrawn since, even with a later date', async () => {
    const shop = await seedShop()
    const consent = (await givenConsent(shop.organization_id, { key: 'newsletter' })) as { id: string; key: string }
    const table = tableOf(['Order ID;Email;Ticket type;Price;News', 'A;ane@example.dk;Partout;100,00;yes'])
    const mappings = [{ source_column: 'News', target_field: `consent.${consent.key}` }]
    const importWith = async (date: string) => {
      const { id } = await givenImport(shop, table, { options: { on_duplicate: 'update' } })
      await previewOrders(id, { mappings, constants: dateOf(date) })
      await startImport(id)
    }
    await importWith('2026-01-05')
    const user = await db.first(
      sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}`,
    )
    expect((await answer('withdraw', { user: user?.id ?? '', consent: consent.id })).status).toBe(200)
    await importWith(new Date(Date.now() + 3_600_000).toISOString())
    const records = await listRecords(user?.id ?? '', consent.id)
    expect(records.map(({ status }) => status)).toEqual(['given', 'withdrawn'])
  })
})

describe('an order without a date in a file with dates', () => {
  const table = [
    'Order ID;Email;Ticket type;Price;Order date',
    'A;ane@example.dk;Partout;100,00;2026-05-01',
    'A;ane@example.dk;Camping;50,00;',
    'B;bo@example.dk;Partout;100,00;',
  ]

  it('takes the date of its other rows, and is refused when they have none', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, tableOf(table))
    const { body: checked } = await post(pathOf(id, '/column-mappings/validate'), {})
    const error = { row: 4, target_field: 'order.created', code: 'missing_required' }
    expect(checked).toMatchObject({ is_valid: true, errors: [error] })
    const { results } = await previewOrders(id)
    const message = 'The order has no date. Fill the cell, or set a default_value for the column of order.created.'
    expect(results).toMatchObject([{ action: 'create' }, { action: 'error', errors: [{ ...error, message }] }])
    expect(await startImport(id)).toMatchObject({
      status: 'completed_with_errors',
      created_orders: 1,
      failed_orders: 1,
    })
    expect(await createdAt(shop)).toEqual(['2026-04-30T22:00:00.000Z'])
    expect((await get(pathOf(id, '/error-report'))).text).toContain('The order has no date.')
  })

  it('takes the date that you set for blank cells, which the next file does not', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, tableOf(table))
    const blank = { source_column: 'Order date', default_value: '2026-06-01' }
    expect((await mapColumns(id, [blank])).status).toBe(200)
    expect(await process(id)).toMatchObject({ status: 'ready', invalid_rows: 0 })
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2 })
    expect(await createdAt(shop)).toEqual(['2026-04-30T22:00:00.000Z', '2026-05-31T22:00:00.000Z'])
    const next = await givenImport(shop, tableOf([...table, 'C;cy@example.dk;Partout;100,00;']))
    expect((await readColumns(next.id)).results[4]).toMatchObject({
      target_field: 'order.created',
      suggested_by: 'memory',
      default_value: null,
    })
  })
})

describe('the year of an order', () => {
  const tableOfDates = (dates: readonly string[]) =>
    tableOf([
      'Order ID;Email;Ticket type;Price;Order date',
      ...dates.map((date, index) => `${index};guest-${index}@example.dk;Partout;100,00;${date}`),
    ])
  const importDates = async (shop: Shop, dates: readonly string[]) => {
    const { id } = await givenImport(shop, tableOfDates(dates))
    await previewOrders(id, {})
    return { id, ended: await startImport(id, { skip_invalid_rows: true }) }
  }

  it('is in the past where it has two digits', async () => {
    const shop = await seedShop({ timezone: 'UTC' })
    const { ended } = await importDates(shop, ['25/06/98', '25/06/25', '26-Jun-98'])
    expect(ended).toMatchObject({ status: 'completed', created_orders: 3 })
    expect((await createdAt(shop)).toSorted()).toEqual([
      '1998-06-25T00:00:00.000Z',
      '1998-06-26T00:00:00.000Z',
      '2025-06-25T00:00:00.000Z',
    ])
  })

  it('is not moved to the future, so that an order of 1969 is an error', async () => {
    const shop = await seedShop({ timezone: 'UTC' })
    const { id, ended } = await importDates(shop, ['25/06/25', '25/06/69'])
    expect(ended).toMatchObject({ status: 'completed_with_errors', created_orders: 1, invalid_rows: 1 })
    const { body } = await get(`${pathOf(id, '/rows')}?outcome=error`)
    expect(body.results).toMatchObject([{ errors: [{ code: 'invalid_date' }] }])
  })

  it.each([
    ['25/06/69', null],
    ['25.06.69', null],
    ['06/25/69', null],
    ['69-06-25', null],
    ['26-Jun-69', null],
    ['26. juni 69', null],
    ['Jun 26, 69', null],
    ['26/6-69', null],
    ['05/06/69', 'dmy'],
    ['05/06/69', 'mdy'],
    ['69-06-05', 'ymd'],
  ] as const)('is never in the future, however it is written: %s, read as %s', async (date, order) => {
    const shop = await seedShop({ timezone: 'UTC' })
    const { id } = await givenImport(shop, tableOfDates([date]))
    const transform = order && { transform: { type: 'date', args: { order } } }
    await mapColumns(id, [{ source_column: 'Order date', target_field: 'order.created', ...transform }])
    await process(id)
    const { body } = await get(pathOf(id, '/rows'))
    expect(body.results).toMatchObject([{ errors: [{ code: 'invalid_date' }], warnings: [] }])
  })

  it('is never in the future where it is set for blank cells', async () => {
    const { id } = await givenUndated()
    const default_value = '26-Jun-69'
    const reply = await mapColumns(id, [{ source_column: 'Order date', target_field: 'order.created', default_value }])
    expect(reply.status, reply.text).toBe(200)
    await process(id)
    expect((await get(pathOf(id, '/rows'))).body.results).toMatchObject([{ errors: [{ code: 'invalid_date' }] }])
  })

  it('is never in the future where it is set for all orders', async () => {
    const { setForAll } = await givenUndated()
    const refusal = await setForAll('26-Jun-69')
    expect([refusal.status, refusal.body.errors]).toMatchObject([
      400,
      [{ detail: '"26-Jun-69" is not between 1970 and 2100.' }],
    ])
  })

  it('is in the past where it is set for all orders', async () => {
    const { id, shop, setForAll } = await givenUndated()
    const reply = await setForAll('26-Jun-98')
    expect(reply.status, reply.text).toBe(200)
    await process(id)
    await startImport(id)
    expect(await createdAt(shop)).toEqual(['1998-06-26T00:00:00.000Z'])
  })

  it('is in the past in the question how a column is read', async () => {
    const { id } = await givenImport(await seedShop(), tableOfDates(['05/06/69', '01/02/25']))
    const { body } = await post(pathOf(id, '/column-mappings/process'), {})
    expect(body.errors).toMatchObject([
      {
        code: 'ambiguous_format',
        detail: expect.stringContaining('"05/06/69" is 1969-06-05 (dmy) or 1969-05-06 (mdy)'),
      },
    ])
  })

  it('is imported with a warning when it is written in full and ahead', async () => {
    const shop = await seedShop({ timezone: 'UTC' })
    const { id, ended } = await importDates(shop, ['25/06/2025', '01/06/2098'])
    expect(ended).toMatchObject({ status: 'completed', created_orders: 2 })
    const { body } = await get(pathOf(id, '/rows'))
    expect(body.results.map(({ warnings }: { warnings: object[] }) => warnings)).toMatchObject([
      [],
      [{ code: 'future_date' }],
    ])
  })
})
