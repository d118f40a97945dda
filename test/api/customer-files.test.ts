import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { joinCsvLines, pathOf, process, readColumns, readTargets, work } from '../support/data-imports.ts'
import { startImport } from '../support/imported-tables.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenNewsletter, listStoredAnswers, listStoredSuppressions } from '../support/seeding/imported-users.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const givenCustomerFile = (shop: Shop, lines: readonly string[], more: object = {}) =>
  givenImport(shop, joinCsvLines(lines), { kind: 'customers', ...more })

const listPeople = (shop: Shop) =>
  db.all(
    sql<{ email: string; name: string; metadata: string; messages: number }>`select email,
      trim(first_name || ' ' || last_name) as name, metadata,
      (select count(*) from transactional_emails where user_id = users.id) as messages
      from users where organization_id = ${shop.organization_id} order by email`,
  )

const listAnswers = async (shop: Shop, email: string) =>
  (await listStoredAnswers(shop.organization_id, email)).map(
    ({ status, occurred_at }) => `${status} ${new Date(occurred_at).toISOString().slice(0, 16)}`,
  )

const listSuppressions = async (shop: Shop) =>
  (await listStoredSuppressions(shop.organization_id)).map(
    ({ address, reason, created_at }) => `${address} ${reason} ${new Date(created_at).toISOString().slice(0, 10)}`,
  )

const mailchimp =
  'MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS'

const buildMailchimpRow = (person: string, left: string, time: string, id: number) =>
  `${person},2,"",,${time},203.0.113.7,55.1,9.1,1,2,Europe/Copenhagen,dk,84,"2025-01-01 10:00:00",${left}${id},e${id},,"""Gold"""`

describe('createDataImport', () => {
  it('imports the exports of Mailchimp for subscribed, unsubscribed and cleaned people as they are', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news', false)
    const files = [
      [
        `Email Address,First Name,Last Name,${mailchimp}`,
        buildMailchimpRow('a@example.dk,Ane,Lund', '', '"2024-01-02 10:00:00"', 1),
        buildMailchimpRow('b@example.dk,,', '', '"2024-01-03 10:00:00"', 2),
      ],
      [
        `Email Address,First Name,Last Name,${mailchimp.replace('LEID', 'UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON,LEID')}`,
        buildMailchimpRow(
          'c@example.dk,Cai,Holm',
          '"2024-06-01 08:00:00",Spring,"No longer interested",',
          '"2024-01-04 10:00:00"',
          3,
        ),
      ],
      [
        `Email Address,First Name,Last Name,${mailchimp.replace('LEID', 'CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,LEID')}`,
        buildMailchimpRow('d@example.dk,Dan,Berg', '"2024-07-01 08:00:00",Summer,', '"2024-01-05 10:00:00"', 4),
      ],
    ]
    for (const lines of files) {
      const row = await givenCustomerFile(shop, lines)
      expect(row).toMatchObject({ kind: 'customers', status: 'mapping_columns', external_source: 'mailchimp' })
      expect((await readColumns(row.id)).constants).toMatchObject([{ target_field: 'consent.news', value: 'true' }])
      expect(await process(row.id)).toMatchObject({ status: 'ready', invalid_rows: 0, total_orders: lines.length - 1 })
      const preview = (await get(pathOf(row.id, '/preview'))).body
      expect(preview.totals).toEqual({ create: lines.length - 1, update: 0, skip: 0, error: 0, ignore: 0 })
      expect(preview.results[0]).toMatchObject({ action: 'create', customer: { is_new: true }, errors: [] })
      expect(await startImport(row.id)).toMatchObject({ status: 'completed', created_orders: lines.length - 1 })
    }
    expect(await listPeople(shop)).toEqual(
      [
        ['a@example.dk', 'Ane Lund'],
        ['b@example.dk', ''],
        ['c@example.dk', 'Cai Holm'],
        ['d@example.dk', 'Dan Berg'],
      ].map(([email, name]) => ({ email, name, metadata: '{"tags":"\\"Gold\\""}', messages: 0 })),
    )
    expect(await listAnswers(shop, 'a@example.dk')).toEqual(['given 2024-01-02T10:00'])
    expect(await listAnswers(shop, 'c@example.dk')).toEqual(['given 2024-01-04T10:00', 'withdrawn 2024-06-01T08:00'])
    const [record] = await listStoredAnswers(shop.organization_id, 'a@example.dk')
    expect(JSON.parse(record?.evidence ?? '')).toEqual({ source: 'mailchimp', place: '203.0.113.7' })
    expect(await listSuppressions(shop)).toEqual([
      'c@example.dk unsubscribed 2024-06-01',
      'd@example.dk hard_bounce 2024-07-01',
    ])
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

  it('completes customers who exist, joins rows of a person, and changes nothing the second time', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [anOrder({ customer: { email: 'a@example.dk', first_name: 'Ane' } })])
    const [user] = (await get(`/v1/user?edition_id=${shop.edition_id}`)).body.results
    await patch(`/v1/user/${user.id}`, { first_name: 'Anne' })
    const lines = [
      'E-mail;Name;Telephone;City;Language',
      'a@example.dk;Ane Lund;32123456;Ribe;Danish',
      'A@example.dk;;;Vejle;',
      ';Bo Holm;32123457;;xx',
      'no address;Cai;;;',
    ]
    const map = async () => {
      const row = await givenCustomerFile(shop, lines)
      const mapped = await patch(pathOf(row.id, '/column-mappings'), {
        mappings: [{ source_column: 'City', target_field: 'customer.metadata.city' }],
      })
      expect(mapped.status, mapped.text).toBe(200)
      await process(row.id)
      return row
    }
    const row = await map()
    const preview = (await get(pathOf(row.id, '/preview'))).body
    expect(preview.results).toMatchObject([
      {
        action: 'update',
        row_numbers: [2, 3],
        customer: { id: user.id, is_new: false },
        changes: [
          { field: 'phone_number', before: null, after: '+4532123456' },
          { field: 'last_name', before: '', after: 'Lund' },
          { field: 'metadata', before: '{}', after: '{"city":"Ribe"}' },
        ],
      },
      { action: 'create', warnings: [{ code: 'unsupported_language' }] },
    ])
    expect(await startImport(row.id, { skip_invalid_rows: true })).toMatchObject({
      status: 'completed_with_errors',
      updated_orders: 1,
      created_orders: 1,
    })
    expect((await get(`/v1/user/${user.id}`)).body).toMatchObject({ first_name: 'Anne', last_name: 'Lund' })
    const again = await map()
    expect(await startImport(again.id, { skip_invalid_rows: true })).toMatchObject({ skipped_orders: 2 })
    const rows = (await get(pathOf(again.id, '/rows'))).body.results
    expect(rows.map((one: { outcome: string }) => one.outcome)).toEqual(['skipped', 'skipped', 'skipped', 'error'])
    expect(rows[0].user_id).toBe(user.id)
    const report = await get(pathOf(again.id, '/error-report'))
    expect(report.text).toContain('no address')
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

  it('remembers the mapping for the next file of customers, and not for orders', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const header = 'Mail address,Nickname,Joined list'
    const lines = [header, 'a@example.dk,Ane,2024-01-01', 'b@example.dk,Bo,2024-01-02', 'c@example.dk,Cai,2024-01-03']
    const first = await givenCustomerFile(shop, lines, { external_source: 'club' })
    const mapped = await patch(pathOf(first.id, '/column-mappings'), {
      mappings: [
        { source_column: 'Mail address', target_field: 'customer.email' },
        { source_column: 'Nickname', target_field: 'customer.first_name' },
        { source_column: 'Joined list', target_field: 'customer.subscribed_at' },
      ],
      constants: [{ target_field: 'consent.news', value: 'yes' }],
    })
    expect(mapped.status, mapped.text).toBe(200)
    await process(first.id)
    await startImport(first.id)
    const second = await givenCustomerFile(shop, lines, { external_source: 'club' })
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
    const orders = await givenImport(shop, joinCsvLines(lines), { external_source: 'club' })
    expect(Object.values(await readTargets(orders.id))).not.toContain('customer.subscribed_at')
    expect((await readColumns(orders.id)).constants).toEqual([])
  })

  it('takes the targets of customers alone', async () => {
    const shop = await seedShop()
    const row = await givenCustomerFile(shop, ['Email,Ticket', 'a@example.dk,Day'])
    const refused = await patch(pathOf(row.id, '/column-mappings'), {
      mappings: [{ source_column: 'Ticket', target_field: 'item.product' }],
    })
    expect(describeRefusal(refused)).toMatch(/^400/)
    const { target_fields } = await readColumns(row.id)
    const keys = target_fields.map(({ key }: { key: string }) => key)
    expect(keys).toContain('customer.status')
    expect(keys).not.toContain('order.external_id')
    const orderTargets = (await get('/v1/data-imports/target-fields')).body.results.map(
      ({ key }: { key: string }) => key,
    )
    expect(orderTargets).not.toContain('customer.status')
    const customerTargets = (await get('/v1/data-imports/target-fields?kind=customers')).body.results
    expect(customerTargets.map(({ key }: { key: string }) => key)).toEqual(keys)
  })
})
