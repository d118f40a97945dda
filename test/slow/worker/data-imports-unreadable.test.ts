import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../../packages/table-reader/test/support/xlsx.ts'
import { workOnImport } from '../../../src/modules/data-imports/jobs.ts'
import { get, patch, post } from '../../support/api.ts'
import {
  buildBody,
  createJobAt,
  encodeCsv,
  loadImport,
  pathOf,
  process,
  work,
  joinCsvLines,
} from '../../support/data-imports.ts'
import { queryRows, type RawUpload, uploadRaw } from '../../support/files.ts'
import { startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenTable, givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const xlsx: RawUpload = {
  name: 'orders.xlsx',
  type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
const header = buildTextRow(1, ['Order', 'Name', 'E-mail'])
const sheet = (rows: string) => buildWorkbook({ sheets: [{ name: 'Orders', rows }] })
const people = Array.from({ length: 50 }, (_, at) => buildTextRow(at + 2, [`R-${at}`, 'Ane', 'ane@example.dk'])).join(
  '',
)
const loadUsedBytes = async (organization: string): Promise<number> => {
  const [row] = await queryRows<{ used_bytes: number }>(
    'select used_bytes from organization_storage where organization_id = ?',
    organization,
  )
  return row?.used_bytes ?? 0
}
const columnNames = (count: number) => Array.from({ length: count }, (_, at) => `Name${'abcdefghij'[at % 10]}${at}x`)

const unreadable: [name: string, bytes: Uint8Array, code: string, message: string, upload?: RawUpload][] = [
  [
    'without a header',
    joinCsvLines(['1001;ane@example.dk;695,00', '1002;bo@example.dk;100,00']),
    'no_header',
    'line 1',
  ],
  ['with nothing below its header', joinCsvLines(['Order;Name;E-mail']), 'empty_file', ''],
  ['of 201 columns', joinCsvLines([columnNames(201).join(';'), columnNames(201).join(';')]), 'too_many_columns', '201'],
  [
    'with a line that does not end',
    joinCsvLines(['Order;Name', 'R-1;Ane', `R-2;${'x'.repeat(400_000)}`]),
    'line_too_long',
    'Line 3',
  ],
  [
    'with a quotation mark that opens on every line',
    joinCsvLines([
      'id,name,email',
      '1,"Ane",a@example.dk',
      ...Array.from({ length: 400 }, () => '1,"open,a@example.dk'),
    ]),
    'too_many_open_quotes',
    'line',
  ],
  ['that is a workbook cut off', sheet(header + people).subarray(0, 900), 'broken_xlsx', '', xlsx],
  [
    'that is a workbook which unpacks to more than it may',
    buildWorkbook({ sheets: [{ name: 'x', rows: header }], parts: { 'xl/styles.xml': new Uint8Array(9_000_000) } }),
    'broken_xlsx',
    'larger than 8388608 bytes',
    xlsx,
  ],
  ['that is a workbook without rows', sheet('<row r="1"/>'), 'empty_file', '', xlsx],
  [
    'that is a workbook with a cell beyond the last column',
    sheet(`${header}<row r="2"><c r="GS2" t="str"><v>x</v></c></row>`),
    'too_many_columns',
    'line 2, column 201',
    xlsx,
  ],
]

describe('a file that cannot be read', () => {
  it.each(unreadable)(
    'makes the import fail with the code and the place: a file %s',
    async (_, bytes, code, ...[message, upload = {}]) => {
      const tenant = await seedShop()
      const file = await givenTable(tenant.organization_id, bytes as Uint8Array<ArrayBuffer>, upload)
      const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
      await work(id)
      const { body } = await get(pathOf(id))
      expect(body).toMatchObject({ status: 'failed', error_code: code, total_rows: 0, total_orders: 0 })
      expect(body.error_message).toContain(message)
      expect((await post(pathOf(id, '/column-mappings/process'), {})).status).toBe(409)
    },
  )

  it('is read once you correct the detection to no header', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, joinCsvLines(['1001;ane@example.dk;695,00']))
    const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
    expect(await work(id)).toMatchObject({ status: 'failed', error_code: 'no_header' })
    await patch(pathOf(id), { options: { has_header: false } })
    expect(await work(id)).toMatchObject({ status: 'mapping_columns', error_code: null, total_rows: 1 })
  })
})

describe('a fault behind the first part of the copy', () => {
  const manyRows = Array.from({ length: 12_000 }, (_, at) => `R-${at};Ane Example;${'x'.repeat(90)}@example.test`)
  const longText = 'x'.repeat(30_000)
  const repeatedTexts = Array.from({ length: 2000 }, (_, at) => `<row r="${at + 2}"><c t="s"><v>0</v></c></row>`)

  it.each<[name: string, bytes: Uint8Array, code: string, upload?: RawUpload]>([
    [
      'a line that does not end',
      joinCsvLines(['Order;Name;E-mail', ...manyRows, `R-x;${'x'.repeat(400_000)}`]),
      'line_too_long',
    ],
    [
      'more text than a workbook of its size may have',
      buildWorkbook({
        sharedStrings: `<si><t>${longText}</t></si>`,
        sheets: [{ name: 'x', rows: header + repeatedTexts.join('') }],
      }),
      'too_much_text',
      xlsx,
    ],
  ])(
    'ends the import at once, and nothing that was copied fills the storage: %s',
    async (_, bytes, code, upload = {}) => {
      const tenant = await seedShop()
      const file = await givenTable(tenant.organization_id, bytes as Uint8Array<ArrayBuffer>, upload)
      const used = await loadUsedBytes(tenant.organization_id)
      const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
      const { epoch } = await loadImport(id)
      await workOnImport(createJobAt(), id, epoch)
      expect(await loadImport(id)).toMatchObject({
        status: 'failed',
        error_code: code,
        phase: null,
        heartbeat_at: null,
      })
      expect(await loadUsedBytes(tenant.organization_id)).toBe(used)
    },
  )

  it('is told when the bytes of the file are deleted while they are read', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, joinCsvLines(['Order;Name', 'R-1;Ane']))
    const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
    const { epoch } = await loadImport(id)
    const job = createJobAt()
    await workOnImport({ ...job, files: { ...job.files, open: () => Promise.resolve(null) } }, id, epoch)
    expect(await loadImport(id)).toMatchObject({ status: 'failed', error_code: 'unreadable_file', phase: null })
  })
})

const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
const wide = (text: string) => Array.from(text).flatMap((letter) => [letter.charCodeAt(0), 0])

describe('a file that is not a table', () => {
  it.each<[name: string, bytes: Uint8Array, status: number, code: string, detail: RegExp, upload?: RawUpload]>([
    ['no bytes', new Uint8Array(), 400, 'empty_file', /no bytes/],
    ['blank lines', encodeCsv('\r\n  \r\n'), 400, 'empty_file', /no text/],
    [
      'a workbook with a password',
      Uint8Array.from([...compound, ...new Uint8Array(600), ...wide('EncryptedPackage')]),
      415,
      'unsupported_file_type',
      /password/i,
      xlsx,
    ],
    ['bytes', Uint8Array.from({ length: 700 }, (_, at) => (at * 7) % 32), 415, 'unsupported_file_type', /Upload PNG/],
    [
      'a web page',
      encodeCsv('<html><table><tr><td>Order;Name</td></tr></table>'),
      415,
      'unsupported_file_type',
      /HTML/i,
    ],
  ])('is refused at the upload: %s', async (_, bytes, status, ...[code, detail, upload = {}]) => {
    const { organization_id } = await seedShop()
    const reply = await uploadRaw(organization_id, bytes as Uint8Array<ArrayBuffer>, {
      name: 'orders.csv',
      type: 'text/csv',
      query: { purpose: 'import' },
      ...upload,
    })
    expect(describeRefusal(reply)).toBe(`${status} ${code}: ${code} #/file`)
    expect(reply.body.detail).toMatch(detail)
    expect((await get(`/v1/files?organization_id=${organization_id}`)).body.count).toBe(0)
  })
})

describe('a row that cannot be read', () => {
  it('has one error with its line and column, and its neighbours become orders', async () => {
    const tenant = await seedShop()
    const id = (
      await givenImport(
        tenant,
        joinCsvLines([
          'Order ID;E-mail;Product;Price',
          'A-1;ane@example.dk;Ticket;10,00',
          'A-2;bo@example.dk;Ticket;10,00;and more',
          'A-3;not an address;Ticket;10,50',
          'A-4;dan@example.dk;"Two',
          'lines";12,00',
          'A-5;eva@example.dk;"never closed;10,00',
          'A-6;fie@example.dk;Ticket;10,00',
        ]),
      )
    ).id
    expect(await process(id)).toMatchObject({ status: 'ready', total_rows: 6, valid_rows: 3, invalid_rows: 3 })
    expect(await startImport(id, { skip_invalid_rows: true })).toMatchObject({
      status: 'completed_with_errors',
      created_orders: 3,
      failed_orders: expect.any(Number),
    })
    const { results } = (await get(pathOf(id, '/rows?has_errors=true'))).body
    const faults = (results as { row: number; errors: { row: number; column: string; code: string }[] }[]).map(
      ({ row, errors }) => [row, ...errors.map((error) => `${error.row} ${error.column} ${error.code}`)],
    )
    expect(faults).toEqual([
      [3, '3 null column_count'],
      [4, '4 E-mail invalid_email'],
      [7, '7 Product open_quote'],
    ])
    const created = (await get(pathOf(id, '/rows?outcome=created'))).body.results
    expect(created.map(({ row }: { row: number }) => row)).toEqual([2, 5, 8])
  })

  it('has a clear message when its order only returns items', async () => {
    const tenant = await seedShop()
    const id = (
      await givenImport(
        tenant,
        joinCsvLines(['Order ID;E-mail;Product;Quantity;Price', 'C-1;ane@example.dk;Ticket;-1;10,00']),
      )
    ).id
    await process(id)
    const { errors } = (await get(pathOf(id, '/preview'))).body.results[0]
    expect(errors).toMatchObject([{ row: 2, message: expect.stringContaining('only return items') }])
  })
})
