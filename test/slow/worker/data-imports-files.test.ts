import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../../support/api.ts'
import {
  buildBody,
  readColumns,
  encodeCsv,
  giveDate,
  mapColumns,
  pathOf,
  process,
  loadStagedRows,
  loadImport,
  readTargets,
  work,
  joinCsvLines,
} from '../../support/data-imports.ts'
import { queryRows, listStoredKeys } from '../../support/files.ts'
import pretix from '../../support/import-mapping/pretix-german.json'
import shopify from '../../support/import-mapping/shopify.json'
import { givenImport, givenTable } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const buildTable = (rows: readonly string[]) => joinCsvLines(['Order ID;E-mail;Product;Quantity;Price', ...rows])
const twoOrders = buildTable(['A-1;ana@example.dk;Day ticket;2;225,00', 'A-2;bo@example.dk;Day ticket;1;225,00'])

async function givenAmbiguous(): Promise<string> {
  const table = encodeCsv('Order ID;E-mail;Product;Price;Created at\r\nA-1;a@b.dk;Ticket;1.234;03/04/2026\r\n')
  return (await givenImport(await seedShop(), table)).id
}

describe('createDataImport', () => {
  it('reads an uploaded file, suggests its mapping and counts its rows', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, twoOrders)
    const created = await post('/v1/data-imports', buildBody(tenant, file))
    expect(created.body).toMatchObject({ status: 'parsing', name: 'orders.csv', total_rows: 0, progress: 0 })
    const inspectedImport = await work(created.body.id)
    expect(inspectedImport).toMatchObject({ status: 'mapping_columns', total_rows: 2, phase: null, heartbeat_at: null })
    const readReply = await get(pathOf(created.body.id))
    expect(readReply.body).toMatchObject({
      file: { id: file, name: 'orders.csv', size: twoOrders.length },
      external_source: expect.stringMatching(/^file-[0-9a-f]{8}$/),
      source_suggested_by: 'headers',
      detected_source: null,
      file_format: {
        type: 'csv',
        encoding: 'utf-8',
        delimiter: ';',
        quotes: 'double',
        sheet: null,
        sheets: [],
        files: [],
        header_line: 1,
        warnings: [],
      },
      options: { group_by: 'external_id' },
      column_summary: { total: 5, mapped: 5, ignored: 0, missing_required: ['order.created'] },
      allowed_actions: ['update', 'cancel', 'update_column_mappings', 'validate', 'process'],
    })
    expect(await readTargets(created.body.id)).toEqual({
      'Order ID': 'order.external_id',
      'E-mail': 'customer.email',
      Product: 'item.product',
      Quantity: 'item.quantity',
      Price: 'item.unit_price',
    })
  })

  it('makes a draft that waits when no file is named', async () => {
    const tenant = await seedShop()
    const { body } = await post('/v1/data-imports', buildBody(tenant))
    expect(body).toMatchObject({ status: 'draft', file: null, allowed_actions: ['update', 'cancel'] })
    const file = await givenTable(tenant.organization_id, twoOrders)
    expect((await patch(pathOf(body.id), { file_id: file })).body.status).toBe('parsing')
    expect(await work(body.id)).toMatchObject({ status: 'mapping_columns', total_rows: 2 })
  })

  it('refuses files of other organisations, of other purposes and of other editions', async () => {
    const [tenant, other] = [await seedShop(), await seedShop()]
    const foreign = await givenTable(other.organization_id, twoOrders)
    const refusal = await post('/v1/data-imports', buildBody(tenant, foreign))
    expect(refusal.body.errors).toMatchObject([{ code: 'does_not_exist', attr: 'file_id' }])
    const otherPurpose = await givenTable(tenant.organization_id, buildTable(['x;y;z;1;1']), {
      query: { purpose: 'other' },
    })
    expect((await post('/v1/data-imports', buildBody(tenant, otherPurpose))).body.errors).toMatchObject([
      { code: 'invalid_choice', attr: 'file_id' },
    ])
    expect(await queryRows('select id from data_imports where organization_id = ?', tenant.organization_id)).toEqual([])
  })

  it('lets two imports of an organisation run at the same time, and refuses a third', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, twoOrders)
    const [one, two, three] = [
      await post('/v1/data-imports', buildBody(tenant, file)),
      await post('/v1/data-imports', buildBody(tenant, file)),
      await post('/v1/data-imports', buildBody(tenant, file)),
    ]
    expect([one.status, two.status, three.status]).toEqual([201, 201, 409])
    expect(three.body.code).toBe('import_limit')
    await work(one.body.id)
    expect((await post('/v1/data-imports', buildBody(tenant, file))).status).toBe(201)
  })

  it('prevents the deletion of its file', async () => {
    const tenant = await seedShop()
    const { id, file } = await givenImport(tenant, twoOrders)
    const reply = await remove(`/v1/files/${file.id}`)
    expect(reply.body).toMatchObject({
      code: 'file_in_use',
      related_objects: [{ type: 'data_import', id, field: 'file_id' }],
    })
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['without a row', encodeCsv('a;b;c\r\n'), 'empty_file'],
    [
      'with more columns than there may be',
      encodeCsv(`${Array.from({ length: 201 }, (_, at) => `Name ${'abcdefghij'[at % 10]}${at}x`).join(';')}\r\n`),
      'too_many_columns',
    ],
  ])('makes the import fail with the reason: a file %s', async (_, bytes, code) => {
    const tenant = await seedShop()
    const failed = await givenImport(tenant, bytes)
    expect(failed).toMatchObject({ status: 'failed', error_code: code })
    expect(failed.error_message).not.toBe('')
  })
})

describe('updateDataImport', () => {
  it('reads the file again with another encoding, without a new upload, and shows its first rows', async () => {
    const tenant = await seedShop()
    const bytes = new Uint8Array([
      ...encodeCsv('Order ID;E-mail;Product;Price\r\nA-1;a@b.dk;'),
      0xd8,
      ...encodeCsv('l;10\r\n'),
    ])
    const { id } = await givenImport(tenant, bytes)
    expect((await readColumns(id)).sample_rows).toEqual([{ line: 2, cells: ['A-1', 'a@b.dk', 'Øl', '10'] }])
    expect((await patch(pathOf(id), { options: { encoding: 'macintosh' } })).body.status).toBe('parsing')
    await work(id)
    expect((await readColumns(id)).sample_rows[0].cells[2]).toBe('ÿl')
    expect((await patch(pathOf(id), { options: { encoding: 'auto', delimiter: ',' } })).status).toBe(200)
    await work(id)
    const columns = await readColumns(id)
    expect(columns.count).toBe(1)
    const keys = await listStoredKeys(`imports/${id}/`)
    const waiting = await queryRows<{ storage_key: string }>(
      "select storage_key from objects_to_delete where storage_key like 'imports/%'",
    )
    expect(keys.filter((key) => !waiting.some(({ storage_key }) => storage_key === key))).toHaveLength(1)
  })

  it('keeps the user’s decisions about columns that stay the same', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, twoOrders)
    await mapColumns(id, [{ source_index: 3, target_field: null, is_ignored: true }])
    await patch(pathOf(id), { options: { encoding: 'utf-8' } })
    await work(id)
    const { results } = await readColumns(id)
    expect(results[3]).toMatchObject({ is_ignored: true, target_field: null, filled_cells: 2 })
    expect(results[4]).toMatchObject({ target_field: 'item.unit_price', is_suggested: true })
  })

  it('returns to mapping_columns when an option changes what the cells mean', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, twoOrders)
    expect((await process(id)).status).toBe('ready')
    expect((await patch(pathOf(id), { options: { on_duplicate: 'update' } })).body.status).toBe('ready')
    const { body } = await patch(pathOf(id), { options: { group_by: 'row' } })
    expect(body).toMatchObject({ status: 'mapping_columns', valid_rows: 0, total_orders: 0 })
    expect(await process(id)).toMatchObject({ status: 'ready', total_orders: 2, valid_rows: 2 })
  })

  it('is refused while the import is reading or running', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, twoOrders)
    const { body } = await post('/v1/data-imports', buildBody(tenant, file))
    expect((await patch(pathOf(body.id), { name: 'x' })).body.code).toBe('invalid_transition')
  })
})

describe('processColumnMappings', () => {
  describe('of a file with errors and rows of one order that are not adjacent', () => {
    let id: string
    let processed: Awaited<ReturnType<typeof process>>
    let staged: Awaited<ReturnType<typeof loadStagedRows>>
    beforeAll(async () => {
      const table = buildTable([
        'A-1;ana@example.dk;Day ticket;2;225,00',
        'A-2;bo@example.dk;Camping;1;150,00',
        'A-1;;T-shirt;1;99,00',
        'A-3;not an address;Day ticket;1;10,00',
        ';x@y.dk;Day ticket;1;10',
        ';;;;',
        'Total;;;4;474,00',
      ])
      id = (await givenImport(await seedShop(), table)).id
      processed = await process(id)
      staged = await loadStagedRows(id)
    })

    it('counts rows, orders and products', () => {
      expect(processed).toMatchObject({
        status: 'ready',
        total_rows: 6,
        valid_rows: 3,
        invalid_rows: 2,
        total_orders: 3,
        product_summary: { total: 3, mapped: 3, ignored: 0, unmapped: 0 },
      })
    })

    it('groups rows with the same id into orders', async () => {
      expect(staged.map(({ file_line, group_key, outcome }) => [file_line, group_key, outcome])).toEqual([
        [2, 'A-1', null],
        [3, 'A-2', null],
        [4, 'A-1', null],
        [5, 'A-3', null],
        [6, null, 'error'],
        [8, null, 'ignored'],
      ])
      expect(
        await queryRows(
          'select number, group_key, rows_count from import_orders where import_id = ? order by number',
          id,
        ),
      ).toEqual([
        { number: 1, group_key: 'A-1', rows_count: 2 },
        { number: 2, group_key: 'A-2', rows_count: 1 },
        { number: 4, group_key: 'A-3', rows_count: 1 },
      ])
    })

    it('reads the values of each row', async () => {
      expect(JSON.parse(staged[0]?.data ?? '')).toMatchObject({
        values: { 'order.external_id': 'A-1', 'item.quantity': 2, 'item.unit_price': 22500 },
      })
      const { body } = await get(`/v1/data-imports/${id}/rows`)
      expect(body.results[0].values).toMatchObject({
        'item.unit_price': 225,
        'order.created': expect.stringMatching(/^2026-.*Z$/),
      })
    })

    it('says what is wrong with a row', () => {
      expect(JSON.parse(staged[3]?.errors ?? '')).toMatchObject([
        { code: 'invalid_email', target_field: 'customer.email' },
      ])
      expect(JSON.parse(staged[4]?.errors ?? '')).toMatchObject([{ code: 'missing_required' }])
      expect(JSON.parse(staged[5]?.warnings ?? '')).toMatchObject([{ code: 'total_row' }])
    })

    it('lists its products', async () => {
      const products = await get(pathOf(id, '/product-mappings'))
      expect(products.body.results).toMatchObject([
        { product: 'Day ticket', rows_count: 2, action: 'create', is_mapped: true, is_suggested: true },
        { product: 'Camping', rows_count: 1 },
        { product: 'T-shirt', rows_count: 1 },
      ])
    })
  })

  it.each([
    ['pretix', pretix, 'pretix'],
    ['Shopify', shopify, 'shopify'],
  ])('recognises an export of %s, whose suggestions make the import ready', async (_, { text }, source) => {
    const tenant = await seedShop()
    const read = await givenImport(tenant, encodeCsv(text))
    expect(read).toMatchObject({ status: 'mapping_columns', detected_source: { source }, external_source: source })
    expect(await process(read.id)).toMatchObject({ status: 'ready', invalid_rows: 0 })
  })

  it('refuses columns that can be read in two ways, and names both readings', async () => {
    const id = await givenAmbiguous()
    const refusal = await post(pathOf(id, '/column-mappings/process'), {})
    expect(refusal.body).toMatchObject({ code: 'column_mapping_incomplete' })
    const details = refusal.body.errors.map((error: { detail: string }) => error.detail).join('\n')
    expect(details).toContain('"1.234" is 1234 (decimal comma) or 1.234 (decimal point)')
    expect(details).toContain('"03/04/2026" is 2026-04-03 (dmy) or 2026-03-04 (mdy)')
  })

  it('reads such columns as you decide', async () => {
    const id = await givenAmbiguous()
    const decided = await mapColumns(id, [
      { source_column: 'Price', transform: { type: 'number', args: { decimal: ',' } } },
      { source_index: 4, transform: { type: 'date', args: { order: 'dmy' } } },
    ])
    expect(decided.status, decided.text).toBe(200)
    await process(id)
    const [row] = await loadStagedRows(id)
    expect(JSON.parse(row?.data ?? '').values).toMatchObject({
      'item.unit_price': 123400,
      'order.created': Date.UTC(2026, 3, 2, 22),
    })
  })

  it('uses the options of the import where cells are blank', async () => {
    const tenant = await seedShop()
    const table = encodeCsv('Order ID;E-mail;Product;Price;Created at\r\nA-1;a@b.dk;Ticket;1.234;03/04/2026\r\n')
    const options = { decimal_separator: '.', date_format: 'mdy', timezone: 'UTC' }
    const { id } = await givenImport(tenant, table, { options: { ...options, decimal_separator: ',' } })
    await process(id)
    const [row] = await loadStagedRows(id)
    expect(JSON.parse(row?.data ?? '').values).toMatchObject({
      'item.unit_price': 123400,
      'order.created': Date.UTC(2026, 2, 4),
    })
  })

  it('refuses a mapping without a product', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, twoOrders)
    await giveDate(id)
    await mapColumns(id, [{ source_column: 'Product', target_field: null }])
    const reply = await post(pathOf(id, '/column-mappings/process'), {})
    expect(reply.body.errors).toMatchObject([{ code: 'missing_target' }])
    expect((await get(pathOf(id))).body.column_summary.missing_required).toEqual(['item.product'])
    expect(await loadImport(id)).toMatchObject({ status: 'mapping_columns', phase: null })
  })
})
