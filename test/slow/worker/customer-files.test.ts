import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post } from '../../support/api.ts'
import { listAnswers, listPeople, listSuppressions, mailchimpFiles } from '../../support/customer-files.ts'
import { joinCsvLines, pathOf, process, readColumns, readTargets, work } from '../../support/data-imports.ts'
import { startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenNewsletter, listStoredAnswers, listStoredSuppressions } from '../../support/seeding/imported-users.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

const givenCustomerFile = (shop: Shop, lines: readonly string[], more: object = {}) =>
  givenImport(shop, joinCsvLines(lines), { kind: 'customers', ...more })

const nameMailchimpPerson = (email: string, name: string) => ({
  email,
  name,
  metadata: '{"tags":"\\"Gold\\""}',
  messages: 0,
})

/** Imports a file of Mailchimp as it is, into an edition with a newsletter of its organisation. */
async function importMailchimp(file: keyof typeof mailchimpFiles): Promise<Shop> {
  const shop = await seedShop()
  await givenNewsletter(shop, 'news', false)
  const lines = mailchimpFiles[file]
  const count = lines.length - 1
  const row = await givenCustomerFile(shop, lines)
  expect(row).toMatchObject({ kind: 'customers', status: 'mapping_columns', external_source: 'mailchimp' })
  expect((await readColumns(row.id)).constants).toMatchObject([{ target_field: 'consent.news', value: 'true' }])
  expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0, total_orders: count })
  const preview = (await get(pathOf(row.id, '/preview'))).body
  expect(preview.totals).toEqual({ create: count, update: 0, skip: 0, error: 0, ignore: 0 })
  expect(preview.results[0]).toMatchObject({ action: 'create', customer: { is_new: true }, errors: [] })
  expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: count })
  return shop
}

const personLines = [
  'E-mail;Name;Telephone;City;Language',
  'a@example.dk;Ane Lund;32123456;Ribe;Danish',
  'A@example.dk;;;Vejle;',
  ';Bo Holm;32123457;;xx',
  'no address;Cai;;;',
]

/** Uploads a file with two rows of a customer, one of a new one and one with an error, and maps its columns. */
async function givenMappedFile(shop: Shop): Promise<string> {
  const { id } = await givenCustomerFile(shop, personLines)
  const mapped = await patch(pathOf(id, '/column-mappings'), {
    mappings: [{ source_column: 'City', target_field: 'customer.metadata.city' }],
  })
  expect(mapped.status, mapped.text).toBe(200)
  await process(id)
  return id
}

/** Imports an order of a customer, whose name an editor changes afterwards. */
async function givenEditedCustomer(): Promise<{ shop: Shop; user: string }> {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ customer: { email: 'a@example.dk', first_name: 'Ane' } })])
  const [user] = (await get(`/v1/user?edition_id=${shop.edition_id}`)).body.results
  await patch(`/v1/user/${user.id}`, { first_name: 'Anne' })
  return { shop, user: user.id }
}

const clubLines = [
  'Mail address,Nickname,Joined list',
  'a@example.dk,Ane,2024-01-01',
  'b@example.dk,Bo,2024-01-02',
  'c@example.dk,Cai,2024-01-03',
]

/** Imports a file whose columns nothing but its user knows. */
async function givenMappedClub(): Promise<Shop> {
  const shop = await seedShop()
  await givenNewsletter(shop, 'news')
  const { id } = await givenCustomerFile(shop, clubLines, { external_source: 'club' })
  const mapped = await patch(pathOf(id, '/column-mappings'), {
    mappings: [
      { source_column: 'Mail address', target_field: 'customer.email' },
      { source_column: 'Nickname', target_field: 'customer.first_name' },
      { source_column: 'Joined list', target_field: 'customer.subscribed_at' },
    ],
    constants: [{ target_field: 'consent.news', value: 'yes' }],
  })
  expect(mapped.status, mapped.text).toBe(200)
  await process(id)
  await startImport(id)
  return shop
}

describe('createDataImport', () => {
  it('imports the export of Mailchimp for subscribed people as it is', async () => {
    const shop = await importMailchimp('subscribed')
    expect(await listPeople(shop)).toEqual([
      nameMailchimpPerson('a@example.dk', 'Ane Lund'),
      nameMailchimpPerson('b@example.dk', ''),
    ])
    expect(await listAnswers(shop, 'a@example.dk')).toEqual(['given 2024-01-02T10:00'])
    const [record] = await listStoredAnswers(shop.organization_id, 'a@example.dk')
    expect(JSON.parse(record?.evidence ?? '')).toEqual({ source: 'mailchimp', place: '203.0.113.7' })
    expect(await listSuppressions(shop)).toEqual([])
  })

  it('imports the export of Mailchimp for unsubscribed people as it is', async () => {
    const shop = await importMailchimp('unsubscribed')
    expect(await listPeople(shop)).toEqual([nameMailchimpPerson('c@example.dk', 'Cai Holm')])
    expect(await listAnswers(shop, 'c@example.dk')).toEqual(['given 2024-01-04T10:00', 'withdrawn 2024-06-01T08:00'])
    expect(await listSuppressions(shop)).toEqual(['c@example.dk unsubscribed 2024-06-01'])
  })

  it('imports the export of Mailchimp for cleaned people as it is', async () => {
    const shop = await importMailchimp('cleaned')
    expect(await listPeople(shop)).toEqual([nameMailchimpPerson('d@example.dk', 'Dan Berg')])
    expect(await listAnswers(shop, 'd@example.dk')).toEqual(['given 2024-01-05T10:00'])
    expect(await listSuppressions(shop)).toEqual(['d@example.dk hard_bounce 2024-07-01'])
  })

  it('imports the export of listmonk as it is', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const row = await givenCustomerFile(shop, [
      'uuid,email,name,attributes,status,created_at,updated_at',
      '5f1,a@example.dk,Ane Lund,"{""city"": ""Ribe"", ""n"": 2}",enabled,2024-02-03 10:11:12.123456 +0000 UTC,2024-02-03 10:11:12.123456 +0000 UTC',
      '5f2,b@example.dk,Bo Holm,{},blocklisted,2024-02-04 10:11:12 +0000 UTC,2024-05-04 10:11:12 +0000 UTC',
      '5f3,c@example.dk,Cai,{},disabled,2024-02-05 10:11:12 +0000 UTC,2024-05-05 10:11:12 +0000 UTC',
    ])
    expect(row.external_source).toBe('listmonk')
    expect(await readTargets(row.id)).toEqual({
      email: 'customer.email',
      name: 'customer.full_name',
      attributes: 'customer.metadata',
      status: 'customer.status',
      created_at: 'customer.subscribed_at',
      updated_at: 'customer.status_at',
    })
    expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0 })
    expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: 3 })
    expect((await listPeople(shop)).map(({ name, metadata }) => [name, metadata])).toEqual([
      ['Ane Lund', '{"city":"Ribe","n":2}'],
      ['Bo Holm', '{}'],
      ['Cai', '{}'],
    ])
    expect(await listAnswers(shop, 'a@example.dk')).toEqual(['given 2024-02-03T10:11'])
    expect(await listAnswers(shop, 'b@example.dk')).toEqual(['given 2024-02-04T10:11', 'withdrawn 2024-05-04T10:11'])
    expect(await listSuppressions(shop)).toEqual([
      'b@example.dk unsubscribed 2024-05-04',
      'c@example.dk unsubscribed 2024-05-05',
    ])
  })

  it('imports the export of Keila as it is', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const row = await givenCustomerFile(shop, [
      'Email,First name,Last name,Data,Status,External ID',
      'a@example.dk,Ane,Lund,"{""tags"":[""vip""]}",active,x-1',
      'b@example.dk,Bo,Holm,,unsubscribed,x-2',
      'c@example.dk,Cai,Berg,,unreachable,',
    ])
    expect(row.external_source).toBe('keila')
    expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0 })
    expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: 3 })
    expect((await listPeople(shop))[0]).toMatchObject({ metadata: '{"tags":["vip"],"external_id":"x-1"}' })
    expect((await listAnswers(shop, 'b@example.dk')).map((text) => text.split(' ')[0])).toEqual(['skipped'])
    expect((await listStoredSuppressions(shop.organization_id)).map(({ reason }) => reason)).toEqual([
      'unsubscribed',
      'hard_bounce',
    ])
  })

  it('refuses rows that need a role of the organisation, and withdraws the consents of the edition', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const { token } = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    const row = await givenCustomerFile(shop, [
      'Email,First name,Last name,Data,Status,Inserted at,Updated at',
      'a@example.dk,Ane,Lund,,active,2024-01-01 10:00,2024-01-01 10:00',
      'b@example.dk,Bo,Holm,,unsubscribed,2024-01-01 10:00,2024-03-01 10:00',
      'c@example.dk,Cai,Berg,,unreachable,2024-01-01 10:00,2024-03-01 10:00',
    ])
    await process(row.id)
    const preview = (await get(pathOf(row.id, '/preview'), token)).body
    expect(preview.results.map((one: { action: string }) => one.action)).toEqual(['create', 'create', 'error'])
    expect(preview.results[2].errors).toMatchObject([
      { row: 4, target_field: 'customer.status', code: 'organization_role_required' },
    ])
    expect((await post(pathOf(row.id, '/start'), {}, token)).status).toBe(200)
    await work(row.id)
    expect((await get(pathOf(row.id))).body).toMatchObject({
      status: 'completed_with_errors',
      created_orders: 2,
      failed_orders: 1,
    })
    const report = await get(pathOf(row.id, '/rows?has_errors=true'))
    expect(report.body.results).toMatchObject([{ row: 4, errors: [{ code: 'organization_role_required' }] }])
    expect(await listAnswers(shop, 'b@example.dk')).toEqual(['given 2024-01-01T10:00', 'withdrawn 2024-03-01T10:00'])
    expect(await listSuppressions(shop)).toEqual([])
    expect((await listPeople(shop)).map(({ email }) => email)).toEqual(['a@example.dk', 'b@example.dk'])
  })

  it('completes customers who exist, and joins rows of a person', async () => {
    const { shop, user } = await givenEditedCustomer()
    const id = await givenMappedFile(shop)
    const preview = (await get(pathOf(id, '/preview'))).body
    expect(preview.results).toMatchObject([
      {
        action: 'update',
        row_numbers: [2, 3],
        customer: { id: user, is_new: false },
        changes: [
          { field: 'phone_number', before: null, after: '+4532123456' },
          { field: 'last_name', before: '', after: 'Lund' },
          { field: 'metadata', before: '{}', after: '{"city":"Ribe"}' },
        ],
      },
      { action: 'create', warnings: [{ code: 'unsupported_language' }] },
    ])
    expect(await startImport(id, { skip_invalid_rows: true })).toMatchObject({
      status: 'completed_with_errors',
      updated_orders: 1,
      created_orders: 1,
    })
    expect((await get(`/v1/user/${user}`)).body).toMatchObject({ first_name: 'Anne', last_name: 'Lund' })
  })

  it('changes nothing the second time', async () => {
    const { shop, user } = await givenEditedCustomer()
    await startImport(await givenMappedFile(shop), { skip_invalid_rows: true })
    const before = await listPeople(shop)
    const again = await givenMappedFile(shop)
    expect(await startImport(again, { skip_invalid_rows: true })).toMatchObject({ skipped_orders: 2 })
    expect(await listPeople(shop)).toEqual(before)
    const rows = (await get(pathOf(again, '/rows'))).body.results
    expect(rows.map((one: { outcome: string }) => one.outcome)).toEqual(['skipped', 'skipped', 'skipped', 'error'])
    expect(rows[0].user_id).toBe(user)
    expect((await get(pathOf(again, '/error-report'))).text).toContain('no address')
  })

  it('is undone without lifting a withdrawal or a suppression', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const row = await givenCustomerFile(shop, [
      'Email,First name,Last name,Data,Status,Inserted at,Updated at',
      'a@example.dk,Ane,Lund,,active,2024-01-01,2024-01-01',
      'b@example.dk,Bo,Holm,,unsubscribed,2024-01-01,2024-03-01',
      'c@example.dk,Cai,Berg,,unreachable,2024-01-01,2024-03-01',
    ])
    await process(row.id)
    await startImport(row.id)
    expect(await undoToEnd(row.id)).toMatchObject({ status: 'undone', undone_orders: 2, kept_orders: 1 })
    expect((await listPeople(shop)).map(({ email }) => email)).toEqual(['b@example.dk'])
    expect(await listAnswers(shop, 'b@example.dk')).toEqual(['given 2024-01-01T00:00', 'withdrawn 2024-03-01T00:00'])
    expect(await listSuppressions(shop)).toEqual([
      'b@example.dk unsubscribed 2024-03-01',
      'c@example.dk hard_bounce 2024-03-01',
    ])
    const rows = (await get(pathOf(row.id, '/rows'))).body.results
    expect(
      rows.map((one: { undo_outcome: string; undo_reason: string }) => [one.undo_outcome, one.undo_reason]),
    ).toEqual([
      ['undone', null],
      ['kept', 'still_referenced'],
      ['undone', null],
    ])
  })

  it('remembers the mapping for the next file of customers', async () => {
    const shop = await givenMappedClub()
    const second = await givenCustomerFile(shop, clubLines, { external_source: 'club' })
    const columns = await readColumns(second.id)
    expect(
      columns.results.map((one: { target_field: string; suggested_by: string }) => [
        one.target_field,
        one.suggested_by,
      ]),
    ).toEqual([
      ['customer.email', 'memory'],
      ['customer.first_name', 'memory'],
      ['customer.subscribed_at', 'memory'],
    ])
    expect(columns.constants).toMatchObject([{ target_field: 'consent.news', value: 'yes', suggested_by: 'memory' }])
  })

  it('does not remember the mapping of customers for orders', async () => {
    const shop = await givenMappedClub()
    const orders = await givenImport(shop, joinCsvLines(clubLines), { external_source: 'club' })
    expect(Object.values(await readTargets(orders.id))).not.toContain('customer.subscribed_at')
    expect((await readColumns(orders.id)).constants).toEqual([])
  })
})

describe('a file of customers', () => {
  const listKeys = (fields: { key: string }[]) => fields.map(({ key }) => key)
  let id: string
  beforeAll(async () => {
    id = (await givenCustomerFile(await seedShop(), ['Email,Ticket', 'a@example.dk,Day'])).id
  })

  it('takes no targets of orders', async () => {
    const refusal = await patch(pathOf(id, '/column-mappings'), {
      mappings: [{ source_column: 'Ticket', target_field: 'item.product' }],
    })
    expect(describeRefusal(refusal)).toBe('400 validation_error: unknown_target_field #/mappings/0/target_field')
  })

  it('offers the targets of customers, as their list does', async () => {
    const keys = listKeys((await readColumns(id)).target_fields)
    expect(keys).toContain('customer.status')
    expect(keys).not.toContain('order.external_id')
    expect(listKeys((await get('/v1/data-imports/target-fields?kind=customers')).body.results)).toEqual(keys)
  })
})

describe('listImportTargetFields', () => {
  it('has no targets of customers among those of orders', async () => {
    const { results } = (await get('/v1/data-imports/target-fields')).body
    expect(results.map(({ key }: { key: string }) => key)).not.toContain('customer.status')
  })
})
