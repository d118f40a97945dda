import { encodeText } from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { readColumns, encodeCsv, pathOf, loadStagedRows, work } from '../support/data-imports.ts'
import { summariseOrders, previewOrders, startImport } from '../support/imported-tables.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const lines = (rows: readonly string[]) => rows.map((row) => `${row}\r\n`).join('')

describe('a file that was detected wrongly', () => {
  it('can be corrected after the upload: encoding, delimiter, quotation marks and header', async () => {
    const tenant = await seedShop()
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXY'
    const rows = Array.from(
      { length: 25 },
      (_, at) => `A-${at + 1}|Søren ${letters.charAt(at)}ås|s${at}@example.dk|Øl 5"|10,50`,
    )
    const header = 'Ordrenr.|Navn|E-mail|Billettype|Stykpris'
    const bytes = encodeText(lines([header, ...rows]), 'macintosh')
    const id = (await givenImport(tenant, bytes, { options: { encoding: 'windows-1252', delimiter: ';' } })).id
    const readSampleRows = async () => (await readColumns(id)).sample_rows as { line: number; cells: string[] }[]
    expect((await readSampleRows())[0]?.cells).toEqual(['A-1|S¿ren AŒs|s0@example.dk|¯l 5"|10,50'])
    const change = async (options: object) => {
      expect((await patch(pathOf(id), { options })).body).toMatchObject({ status: 'parsing' })
      await work(id)
      return readSampleRows()
    }
    expect((await change({ delimiter: 'pipe' }))[0]?.cells).toEqual([
      'A-1',
      'S¿ren AŒs',
      's0@example.dk',
      '¯l 5"',
      '10,50',
    ])
    const read = await change({ encoding: 'macintosh', quotes: 'none' })
    expect(read).toHaveLength(20)
    expect(read[19]).toEqual({
      line: 21,
      cells: ['A-20', 'Søren Tås', 's19@example.dk', 'Øl 5"', '10,50'],
    })
    const headless = await change({ has_header: false })
    expect(headless[0]).toEqual({ line: 1, cells: header.split('|') })
    expect((await get(pathOf(id))).body.total_rows).toBe(26)
    await change({ has_header: true })
    await previewOrders(id)
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 25 })
    expect((await summariseOrders(tenant))[0]).toEqual({
      id: 'A-1',
      status: 'completed',
      amount: '10.5 dkk',
      created: expect.stringMatching(/^20/),
      customer: 'Søren Aås <s0@example.dk>',
      tickets: ['Øl 5" 10.5 Søren Aås'],
    })
  })
})

describe('the mapping of a column', () => {
  it('can use two columns, a default for blank cells, a constant, a transform and a map of values', async () => {
    const tenant = await seedShop()
    const rows = [
      'Nr;Fornavn;Efternavn;Mail;Mobil;Billet;Beløb;Betalt?;Dato',
      'M-1;Ane;Holm;Ane@Example.dk;20 12 34 56;Partout;100,00;x;15-01-2026',
      'M-2;Bo;;bo@example.dk;;;50,50;;16-01-2026',
      'M-3;Test;Test;test@example.dk;;Partout;0,00;prøve;16-01-2026',
    ]
    const id = (await givenImport(tenant, encodeCsv(lines(rows)))).id
    const value_map = { x: { to: 'completed' }, prøve: { ignore_row: true } }
    const mappings = [
      { source_index: 0, target_field: 'order.external_id' },
      { source_index: 1, target_field: 'customer.full_name', target_position: 0 },
      { source_index: 2, target_field: 'customer.full_name', target_position: 1 },
      { source_index: 3, target_field: 'customer.email', transform: { type: 'lower' } },
      {
        source_index: 4,
        target_field: 'customer.phone_number',
        transform: { type: 'phone', args: { country_code: '+45' } },
      },
      { source_index: 5, target_field: 'item.product', default_value: 'Dagsbillet' },
      { source_index: 6, target_field: 'item.unit_price', transform: { type: 'number', args: { decimal: ',' } } },
      { source_index: 7, target_field: 'order.status', value_map, default_value: 'pending' },
      {
        source_index: 8,
        target_field: 'order.created',
        transform: { type: 'date', args: { order: 'dmy', time_zone: 'UTC' } },
      },
    ]
    const constants = [{ target_field: 'order.currency', value: 'EUR' }]
    const { totals } = await previewOrders(id, { mappings, constants })
    expect(totals).toEqual({ create: 2, update: 0, skip: 0, error: 0, ignore: 0 })
    expect((await loadStagedRows(id)).map(({ outcome }) => outcome)).toEqual([null, null, 'ignored'])
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2 })
    expect(await summariseOrders(tenant)).toEqual([
      {
        id: 'M-1',
        status: 'completed',
        amount: '100 eur',
        created: '2026-01-15T00:00:00.000Z',
        customer: 'Ane Holm <ane@example.dk>',
        tickets: ['Partout 100 Ane Holm'],
      },
      {
        id: 'M-2',
        status: 'pending',
        amount: '50.5 eur',
        created: '2026-01-16T00:00:00.000Z',
        customer: 'Bo <bo@example.dk>',
        tickets: ['Dagsbillet 50.5 Bo'],
      },
    ])
  })
})
