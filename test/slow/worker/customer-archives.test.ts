import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { get, type Reply } from '../../support/api.ts'
import { listAnswers, listPeople, listSuppressions, mailchimpFiles } from '../../support/customer-files.ts'
import { encodeCsv, joinCsvLines, pathOf, process, readColumns, readTargets } from '../../support/data-imports.ts'
import { uploadRaw } from '../../support/files.ts'
import { startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenNewsletter } from '../../support/seeding/imported-users.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

type Files = Record<string, readonly string[] | Uint8Array>

const nameExport = (list: string): string => `${list}_email_audience_export_4f1.csv`
const [subscribedName, unsubscribedName, cleanedName] = ['subscribed', 'unsubscribed', 'cleaned'].map(nameExport)
const audience: Files = Object.fromEntries(
  Object.entries(mailchimpFiles).map(([list, lines]) => [nameExport(list), lines]),
)
const table: Files = { 'a.csv': ['Email,Name', 'a@example.dk,Ane'] }

const upload = { name: 'audience_export.zip', type: 'application/zip' }

const buildArchive = (files: Files): Uint8Array<ArrayBuffer> =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, lines]) => [name, lines instanceof Uint8Array ? lines : joinCsvLines(lines)]),
    ),
  )

const givenArchive = (shop: Shop, files: Files) => givenImport(shop, buildArchive(files), { kind: 'customers' }, upload)

async function seedList(): Promise<Shop> {
  const shop = await seedShop()
  await givenNewsletter(shop, 'news', false)
  return shop
}

/** Imports the archive of Mailchimp as it is, beside whose files macOS has put another one. */
async function importAudience(): Promise<{ shop: Shop; row: Reply['body'] }> {
  const shop = await seedList()
  const row = await givenArchive(shop, { ...audience, '__MACOSX/._x.csv': Uint8Array.of(0, 5, 22) })
  expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0, total_orders: 4 })
  return { shop, row }
}

/** Imports an archive whose only unsubscribed person has an address that is none. Returns the report of the row. */
async function reportWrongRow(): Promise<{ shop: Shop; id: string; report: string }> {
  const shop = await seedList()
  const wrong = mailchimpFiles.unsubscribed.map((line) =>
    line.replace('c@example.dk', 'c.example.dk').replace('Cai', '=Cai'),
  )
  const { id } = await givenArchive(shop, { ...audience, [nameExport('unsubscribed')]: wrong })
  expect(await process(id)).toMatchObject({ invalid_rows: 1 })
  expect(await startImport(id, { skip_invalid_rows: true })).toMatchObject({
    status: 'completed_with_errors',
    created_orders: 3,
  })
  return { shop, id, report: (await get(pathOf(id, '/error-report'))).text.replace('\ufeff', '') }
}

describe('createDataImport', () => {
  it('reads the archive of Mailchimp as one table, and names what it does not read', async () => {
    const { row } = await importAudience()
    expect(row).toMatchObject({
      name: 'audience_export.zip',
      source: 'csv',
      status: 'mapping_columns',
      external_source: 'mailchimp',
      total_rows: 4,
      file_format: {
        type: 'zip',
        encoding: null,
        delimiter: null,
        header_line: 1,
        files: [
          { name: subscribedName, first_line: 1 },
          { name: unsubscribedName, first_line: 4 },
          { name: cleanedName, first_line: 6 },
        ],
        warnings: [{ code: 'ignored_files', message: expect.stringContaining('"__MACOSX/._x.csv"') }],
      },
    })
    expect((await readColumns(row.id)).constants).toMatchObject([{ target_field: 'consent.news', value: 'true' }])
  })

  it('previews the people of an archive', async () => {
    const { row } = await importAudience()
    const { totals, results } = (await get(pathOf(row.id, '/preview'))).body
    expect(totals).toEqual({ create: 4, update: 0, skip: 0, error: 0, ignore: 0 })
    expect(results.map((one: { row_numbers: number[] }) => one.row_numbers)).toEqual([[2], [3], [5], [7]])
  })

  it('imports subscribed, unsubscribed and cleaned people of an archive in one go', async () => {
    const { shop, row } = await importAudience()
    expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: 4 })
    expect((await listPeople(shop)).map(({ email, messages }) => `${email} ${messages}`)).toEqual([
      'a@example.dk 0',
      'b@example.dk 0',
      'c@example.dk 0',
      'd@example.dk 0',
    ])
    expect(await listAnswers(shop, 'b@example.dk')).toEqual(['given 2024-01-03T10:00'])
    expect(await listAnswers(shop, 'c@example.dk')).toEqual(['given 2024-01-04T10:00', 'withdrawn 2024-06-01T08:00'])
    expect(await listSuppressions(shop)).toEqual([
      'c@example.dk unsubscribed 2024-06-01',
      'd@example.dk hard_bounce 2024-07-01',
    ])
  })

  it('undoes the import of an archive without lifting a suppression', async () => {
    const { shop, row } = await importAudience()
    await startImport(row.id)
    expect(await undoToEnd(row.id)).toMatchObject({ status: 'undone', undone_orders: 3, kept_orders: 1 })
    expect((await listPeople(shop)).map(({ email }) => email)).toEqual(['c@example.dk'])
    expect(await listSuppressions(shop)).toHaveLength(2)
  })

  it.each<[name: string, files: Files, code: string, message: RegExp]>([
    ['a workbook called a table', { 'b.csv': buildArchive({ 'c.csv': ['a,b', '1,2'] }) }, 'unreadable_file', /^b\.csv/],
    ['a name twice', { 'A.csv': ['Email,Name', 'x@example.dk,X'] }, 'broken_xlsx', /twice/],
    ['a line without an end', { 'b.csv': ['Email,Name', 'x'.repeat(300_000)] }, 'line_too_long', /^b\.csv: Line 2/],
  ])('fails for an archive that cannot be read: %s', async (_, files, code, message) => {
    const row = await givenArchive(await seedShop(), { ...table, ...files })
    expect(row).toMatchObject({
      status: 'failed',
      error_code: code,
      error_message: expect.stringMatching(message),
      total_rows: 0,
      file_format: null,
    })
  })
})

describe('listImportRows', () => {
  it('says the file and the line of each row of an archive', async () => {
    const { row } = await importAudience()
    const rows = (await get(pathOf(row.id, '/rows'))).body.results
    expect(rows.map((one: { row: number; place: string }) => [one.row, one.place])).toEqual([
      [2, `${subscribedName}:2`],
      [3, `${subscribedName}:3`],
      [5, `${unsubscribedName}:2`],
      [7, `${cleanedName}:2`],
    ])
  })
})

describe('downloadErrorReport', () => {
  it('has all columns of an archive, and the file and the line of each row', async () => {
    const { id, report } = await reportWrongRow()
    const [faultyRow] = (await get(pathOf(id, '/rows?has_errors=true'))).body.results
    expect(faultyRow).toMatchObject({ row: 5, place: `${unsubscribedName}:2`, errors: [{ row: 5 }] })
    const [header, line, ...rest] = report.trimEnd().split('\r\n')
    expect(header).toMatch(
      /^_line,_errors,_file,Email Address,First Name,Last Name,MEMBER_RATING,.*,CLEAN_CAMPAIGN_TITLE$/,
    )
    expect(line).toContain(`,${unsubscribedName}:2,c.example.dk,'=Cai,Holm,`)
    expect(rest).toEqual([])
  })

  it('of an archive can be corrected and imported', async () => {
    const { shop, report } = await reportWrongRow()
    const corrected = report.replaceAll('c.example.dk', 'c@example.dk').replace("'=Cai", 'Cai')
    const row = await givenImport(shop, encodeCsv(corrected), { kind: 'customers' })
    expect(row).toMatchObject({ external_source: 'mailchimp', file_format: { type: 'csv', files: [] } })
    expect(Object.keys(await readTargets(row.id)).filter((name) => name.startsWith('_'))).toEqual([])
    expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0, total_orders: 1 })
    expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: 1 })
    expect(await listAnswers(shop, 'c@example.dk')).toEqual(['given 2024-01-04T10:00', 'withdrawn 2024-06-01T08:00'])
    expect((await get(pathOf(row.id, '/rows'))).body.results).toMatchObject([{ row: 2, place: null }])
  })
})

describe('uploadFile', () => {
  const uploadArchive = async (files: Files, purpose: string) =>
    uploadRaw((await seedShop()).organization_id, buildArchive(files), { ...upload, query: { purpose } })

  it('takes an archive of CSV files for an import', async () => {
    expect((await uploadArchive(table, 'import')).body).toMatchObject({
      mime_type: 'application/zip',
      purpose: 'import',
      name: 'audience_export.zip',
    })
  })

  it('refuses an archive for another purpose', async () => {
    expect(describeRefusal(await uploadArchive(table, 'attachment'))).toMatch(/^400/)
  })

  it('refuses an archive with anything but CSV files', async () => {
    const reply = await uploadArchive({ ...table, 'run.exe': ['MZ'] }, 'import')
    expect(describeRefusal(reply)).toMatch(/unsupported_file_type/)
  })
})
