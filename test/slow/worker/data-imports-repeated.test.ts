import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get } from '../../support/api.ts'
import { answer, listRecords } from '../../support/consents.ts'
import { pathOf, joinCsvLines } from '../../support/data-imports.ts'
import { summariseOrders, previewOrders, startImport, type Answers } from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

interface ListedRow {
  row: number
  outcome: string
  warnings: { code: string }[]
}

/** Imports a table, and returns its preview, its end and its rows. */
async function importTable(shop: Shop, rows: readonly string[], more: object = {}, answers: Answers = {}) {
  const { id } = await givenImport(shop, joinCsvLines(rows), more)
  const preview = await previewOrders(id, answers)
  const { status, created_orders, skipped_orders, updated_orders } = await startImport(id)
  const { body } = await get(pathOf(id, '/rows'))
  return {
    id,
    preview,
    ended: { status, created_orders, skipped_orders, updated_orders },
    rows: (body.results as ListedRow[]).map(
      ({ row, outcome, warnings }) => `${row} ${[outcome, ...warnings.map(({ code }) => code)].join(' ')}`,
    ),
  }
}

describe('a list without order ids', () => {
  const header = 'Navn;E-mail;Billettype;Pris;Købt den'
  const list = [
    'Ane Holm;ane@example.dk;Partout;100,00;15-01-2026',
    'Bo Dahl;bo@example.dk;Partout;100,00;15-01-2026',
    'Ane Holm;ane@example.dk;Partout;100,00;15-01-2026',
  ]
  const more = ['Ida Lund;ida@example.dk;Camping;50,00;16-01-2026', 'Ane Holm;ane@example.dk;Partout;100,00;17-01-2026']

  it('adds only its new rows when it has grown and is imported again', async () => {
    const shop = await seedShop()
    expect((await importTable(shop, [header, ...list])).ended).toMatchObject({ created_orders: 3, skipped_orders: 0 })
    const secondImport = await importTable(shop, [header, ...more.slice(0, 1), ...list, ...more.slice(1)])
    expect(secondImport.preview.totals).toMatchObject({ create: 2, skip: 3 })
    expect(secondImport.ended).toMatchObject({ status: 'completed', created_orders: 2, skipped_orders: 3 })
    expect(secondImport.rows).toEqual([
      '2 created',
      '3 skipped looks_imported',
      '4 skipped looks_imported',
      '5 skipped looks_imported',
      '6 created',
    ])
    expect(await summariseOrders(shop)).toHaveLength(5)
  })

  it('has the same orders in every format of its file', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, ...list])
    const rewritten = ['E-mail,Navn,Billettype,Pris,Købt den', 'ANE@example.dk,Ane Holm,partout,100.00,2026-01-15']
    expect((await importTable(shop, rewritten)).preview.totals).toMatchObject({
      create: 0,
    })
  })

  it('says in the preview that most of its rows look like existing orders', async () => {
    const shop = await seedShop()
    const first = await importTable(shop, [header, ...list])
    expect(first.preview.warnings).toEqual([])
    const grown = await importTable(shop, [header, ...list, ...more.slice(0, 1)])
    expect(grown.preview.warnings).toMatchObject([{ code: 'rows_look_imported' }])
    expect(grown.preview.warnings[0].message).toContain('3 of 4')
  })

  it('says in the preview that its rows look like orders that exist under another source', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, ...list], { external_source: 'old shop' })
    const moved = await importTable(shop, [header, ...list], { external_source: 'new shop' })
    expect(moved.preview.warnings).toMatchObject([{ code: 'rows_look_imported' }])
    expect(moved.preview.results[0].warnings).toMatchObject([{ code: 'similar_order' }])
    expect(moved.ended).toMatchObject({ created_orders: 3 })
  })

  it('gives equal rows an order each, across the steps of a large file', async () => {
    const shop = await seedShop()
    const equal = Array.from({ length: 1200 }, () => `${list[0]};${'x'.repeat(300)}`)
    const { id } = await givenImport(shop, joinCsvLines([`${header};Bemærkning`, ...equal]))
    await previewOrders(id)
    expect((await get(pathOf(id))).body).toMatchObject({ total_rows: 1200, total_orders: 1200 })
  })
})

describe('files of different systems', () => {
  const ofShop = ['Order ID;Email;Product;Price', '1;ane@example.dk;Partout;100,00']
  const ofBar = ['Bon;Kunde;E-mail;Vare;Stykpris', '1;Bo Dahl;bo@example.dk;Øl;40,00']
  const barMapping = { mappings: [{ source_index: 0, target_field: 'order.external_id' }] }

  it('do not share the ids of their orders', async () => {
    const shop = await seedShop()
    expect((await importTable(shop, ofShop)).ended).toMatchObject({ created_orders: 1 })
    const bar = await importTable(shop, ofBar, { options: { on_duplicate: 'update' } }, barMapping)
    expect(bar.ended).toMatchObject({ created_orders: 1, updated_orders: 0 })
    expect(await summariseOrders(shop)).toHaveLength(2)
  })

  it('are recognised by their headers, even if a column is added', async () => {
    const shop = await seedShop()
    const first = await importTable(shop, ofBar, {}, barMapping)
    const wider = ['Bon;Kunde;E-mail;Vare;Stykpris;Note', '1;Bo Dahl;bo@example.dk;Øl;40,00;']
    const second = await importTable(shop, wider, {}, barMapping)
    const [one, other] = [(await get(pathOf(first.id))).body, (await get(pathOf(second.id))).body]
    expect(one.source_suggested_by).toBe('headers')
    expect(other).toMatchObject({ external_source: one.external_source, source_suggested_by: 'memory' })
    expect(second.ended).toMatchObject({ created_orders: 0, skipped_orders: 1 })
    expect(second.rows).toEqual(['2 skipped'])
  })

  it('warn of an order that is skipped although the stored one has another customer or other items', async () => {
    const shop = await seedShop()
    await importTable(shop, ofShop)
    const other = await importTable(shop, [ofShop[0]!, '1;ida@example.dk;Camping;100,00'])
    expect(other.preview.results[0].warnings.map(({ code }: { code: string }) => code)).toEqual([
      'other_customer',
      'other_items',
    ])
    expect(other.rows).toEqual(['2 skipped other_customer other_items'])
    const dearer = await importTable(shop, [ofShop[0]!, '1;ane@example.dk;Partout;120,00'])
    expect(dearer.rows).toEqual(['2 skipped other_items'])
    expect((await importTable(shop, ofShop)).rows).toEqual(['2 skipped'])
  })

  it('warn of an update that gives an order to another customer', async () => {
    const shop = await seedShop()
    await importTable(shop, ofShop)
    const changed = await importTable(shop, [ofShop[0]!, '1;ida@example.dk;Partout;100,00'], {
      options: { on_duplicate: 'update' },
    })
    expect(changed.rows).toEqual(['2 updated other_customer'])
  })
})

describe('the remembered mapping of a source', () => {
  const header = 'Nr;Mail;Billet;Beløb;Betalt?;Dag;Kl;Kanal'
  const rows = (from: number) => [
    header,
    `${from};ane@example.dk;Partout;100,00;ja;15-01-2026;20:30;web`,
    `${from + 1};bo@example.dk;Partout;100,00;nej;16-01-2026;09:05;web`,
    `${from + 2};ida@example.dk;Partout;100,00;;16-01-2026;09:05;test`,
  ]
  const utc = { type: 'date', args: { time_zone: 'UTC' } }
  const answers: Answers = {
    mappings: [
      { source_index: 0, target_field: 'order.external_id' },
      { source_index: 1, target_field: 'customer.email' },
      { source_index: 2, target_field: 'item.product' },
      { source_index: 3, target_field: 'item.unit_price' },
      {
        source_index: 4,
        target_field: 'order.status',
        value_map: { ja: { to: 'completed' }, nej: { to: 'pending' } },
        default_value: 'cancelled',
      },
      { source_index: 5, target_field: 'order.created', transform: utc },
      { source_index: 6, target_field: 'order.created', target_position: 1 },
      { source_index: 7, target_field: 'order.metadata.channel', value_map: { test: { ignore_row: true } } },
    ],
    constants: [{ target_field: 'order.currency', value: 'eur' }],
  }

  it('has constants, value maps, defaults, transforms, second columns and options', async () => {
    const shop = await seedShop()
    const options = { timezone: 'Europe/London', decimal_separator: ',', default_status: 'confirmed' }
    await importTable(shop, rows(1), { options }, answers)
    const { id } = await givenImport(shop, joinCsvLines(rows(11)))
    const { body } = await get(pathOf(id))
    expect(body).toMatchObject({
      source_suggested_by: 'memory',
      remembered_options: ['decimal_separator', 'timezone', 'default_status'],
      options: { timezone: 'Europe/London', decimal_separator: ',', default_status: 'confirmed' },
    })
    const columns = (await get(pathOf(id, '/column-mappings'))).body
    expect(columns.constants).toEqual([{ target_field: 'order.currency', value: 'eur', suggested_by: 'memory' }])
    expect(columns.results).toMatchObject([
      { target_field: 'order.external_id', suggested_by: 'memory', is_suggested: true },
      { target_field: 'customer.email' },
      { target_field: 'item.product' },
      { target_field: 'item.unit_price' },
      { target_field: 'order.status', default_value: 'cancelled', value_map: { ja: { to: 'completed' } } },
      { target_field: 'order.created', target_position: 0, transform: utc },
      { target_field: 'order.created', target_position: 1, suggested_by: 'memory' },
      { target_field: 'order.metadata.channel', value_map: { test: { ignore_row: true } } },
    ])
    await previewOrders(id)
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2 })
    const orders = (await summariseOrders(shop)) as { id: string; amount: string; created: string; status: string }[]
    expect(orders.filter(({ id: number }) => number.startsWith('1') && number !== '1')).toMatchObject([
      { id: '11', status: 'completed', amount: '100 eur', created: '2026-01-15T20:30:00.000Z' },
      { id: '12', status: 'pending', amount: '100 eur', created: '2026-01-16T09:05:00.000Z' },
    ])
  })

  it('is used for one source and one organisation, and your own options win', async () => {
    const [shop, stranger] = [await seedShop(), await seedShop()]
    await importTable(shop, rows(1), { external_source: 'shop A', options: { timezone: 'Europe/London' } }, answers)
    const readConstants = async (id: string) => (await get(pathOf(id, '/column-mappings'))).body.constants
    const other = await givenImport(shop, joinCsvLines(rows(1)), { external_source: 'shop B' })
    expect(await readConstants(other.id)).toEqual([])
    expect(other).toMatchObject({ remembered_options: [], options: { timezone: null } })
    expect(await readConstants((await givenImport(stranger, joinCsvLines(rows(1)))).id)).toEqual([])
    const ownImport = await givenImport(shop, joinCsvLines(rows(1)), { options: { timezone: 'Europe/Warsaw' } })
    expect(ownImport).toMatchObject({ external_source: 'shop A', options: { timezone: 'Europe/Warsaw' } })
  })

  it('is a suggestion that you may change', async () => {
    const shop = await seedShop()
    await importTable(shop, rows(1), {}, answers)
    const { id } = await givenImport(shop, joinCsvLines(rows(11)))
    const { totals } = await previewOrders(id, {
      mappings: [{ source_index: 7, target_field: 'order.metadata.channel', value_map: null }],
      constants: [{ target_field: 'order.currency', value: 'dkk' }],
    })
    expect(totals).toMatchObject({ create: 3 })
    const columns = (await get(pathOf(id, '/column-mappings'))).body
    expect(columns.constants).toEqual([{ target_field: 'order.currency', value: 'dkk', suggested_by: null }])
    expect(columns.results[7]).toMatchObject({ suggested_by: null, is_suggested: false })
  })
})

describe('a ticket code', () => {
  const header = 'Order ID;Email;Ticket type;Price;Ticket code;Ticket status'
  const ticket = (id: string, code: string, more = '100,00;') => {
    const [price, status = ''] = more.split(';')
    return `${id};${id.toLowerCase()}@example.dk;Partout;${price};${code};${status}`
  }

  it('is one ticket with a warning when two equal rows of an order have it', async () => {
    const shop = await seedShop()
    const { ended, rows } = await importTable(shop, [
      header,
      ticket('A', 'T-1'),
      ticket('A', 'T-1'),
      ticket('A', 'T-2'),
    ])
    expect(ended).toMatchObject({ status: 'completed', created_orders: 1 })
    expect(rows).toEqual(['2 created', '3 created repeated_ticket', '4 created'])
    expect(await summariseOrders(shop)).toMatchObject([{ amount: '200 dkk', tickets: { length: 2 } }])
  })

  it('makes one order of two equal rows without an order id', async () => {
    const shop = await seedShop()
    const rows = [
      'Email;Ticket type;Price;Ticket code',
      'a@example.dk;Partout;100,00;T-1',
      'a@example.dk;Partout;100,00;T-1',
    ]
    const { ended } = await importTable(shop, rows)
    expect(ended).toMatchObject({ status: 'completed', created_orders: 1 })
    expect(await summariseOrders(shop)).toMatchObject([{ amount: '100 dkk', tickets: { length: 1 } }])
  })

  it('makes an order fail when two different tickets have it', async () => {
    const { id } = await givenImport(
      await seedShop(),
      joinCsvLines([header, ticket('A', 'T-1'), ticket('A', 'T-1', '50,00;'), ticket('B', 'T-2')]),
    )
    const { results } = await previewOrders(id)
    expect(results[0]).toMatchObject({ action: 'error', errors: [{ row: 3, code: 'duplicate_ticket_code' }] })
    expect(results[1]).toMatchObject({ action: 'create' })
  })

  it('makes a later order of the file fail, unless one of the tickets is cancelled', async () => {
    const shop = await seedShop()
    const table = [
      header,
      ticket('A', 'T-1'),
      ticket('B', 'T-1'),
      ticket('C', 'T-2', '100,00;cancelled'),
      ticket('D', 'T-2', '100,00;valid'),
    ]
    const { ended, rows } = await importTable(shop, table)
    expect(ended).toMatchObject({ status: 'completed_with_errors', created_orders: 3 })
    expect(rows).toEqual(['2 created', '3 error', '4 created', '5 created'])
  })
})

describe('an update with the same file', () => {
  const update = { options: { on_duplicate: 'update', skipped: true } }
  const table = [
    'Order ID;Email;Name;Ticket type;Quantity;Price;Ticket holder email;Ticket holder name;Order date;Newsletter',
    'A;ane@example.dk;Ane Holm;Partout;1;100,00;bo@example.dk;Bo Dahl;15-01-2026;yes',
    'A;ane@example.dk;Ane Holm;Camping;2;50,00;;;15-01-2026;yes',
    'B;ida@example.dk;Ida Lund;Partout;1;100,00;;;16-01-2026;no',
  ]
  const listVersions = ({ edition_id }: Shop) =>
    db.all(sql`select external_id, version, modified_at from orders where edition_id = ${edition_id} order by seq`)
  const countEntries = ({ organization_id }: Shop) =>
    db.all(
      sql`select count(*) as count from audit_log where organization_id = ${organization_id} and substr(resource_id, 1, 4) not in ('imp_', 'fil_')`,
    )

  it('counts as unchanged: no version, no audit entry, and the first import can be undone', async () => {
    const shop = await seedShop()
    const consent = (await givenConsent(shop.organization_id, { key: 'newsletter' })) as { key: string }
    const mapping = { mappings: [{ source_column: 'Newsletter', target_field: `consent.${consent.key}` }] }
    const first = await importTable(shop, table, update, mapping)
    expect(first.ended).toMatchObject({ created_orders: 2 })
    const before = [await listVersions(shop), await countEntries(shop)]
    const secondImport = await importTable(shop, table, update)
    expect(secondImport.preview.totals).toMatchObject({ update: 0, skip: 2 })
    expect(secondImport.ended).toMatchObject({ status: 'completed', updated_orders: 0, skipped_orders: 2 })
    expect([await listVersions(shop), await countEntries(shop)]).toEqual(before)
    expect((await get(pathOf(secondImport.id))).body.undo_until).toBeNull()
    expect(await undoToEnd(first.id)).toMatchObject({ undone_orders: 2, kept_orders: 0 })
  })

  it('does not change the answers to consents of undated orders, nor a later withdrawal', async () => {
    const shop = await seedShop()
    const consent = (await givenConsent(shop.organization_id, { key: 'newsletter' })) as { id: string; key: string }
    const mapping = { mappings: [{ source_column: 'Newsletter', target_field: `consent.${consent.key}` }] }
    const undated = ['Order ID;Email;Ticket type;Price;Newsletter', 'A;ane@example.dk;Partout;100,00;yes']
    await importTable(shop, undated, update, mapping)
    const user = await db.first(
      sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}`,
    )
    const listAnswers = async () => (await listRecords(user?.id ?? '', consent.id)).map(({ status }) => status)
    expect((await importTable(shop, undated, update)).ended).toMatchObject({ skipped_orders: 1 })
    expect(await listAnswers()).toEqual(['given'])
    expect((await answer('withdraw', { user: user?.id ?? '', consent: consent.id })).status).toBe(200)
    await importTable(shop, undated, update)
    expect(await listAnswers()).toEqual(['given', 'withdrawn'])
  })

  it('updates only the orders that have changed', async () => {
    const shop = await seedShop()
    await importTable(shop, table, update)
    const changed = await importTable(shop, [...table.slice(0, 3), table[3]!.replace('100,00', '120,00')], update)
    expect(changed.rows).toEqual(['2 skipped', '3 skipped', '4 updated'])
    const renamed = await importTable(
      shop,
      [...table.slice(0, 3), table[3]!.replace('100,00', '120,00').replace('Ida Lund', 'Ida Lind')],
      update,
    )
    expect(renamed.ended).toMatchObject({ updated_orders: 1, skipped_orders: 1 })
  })
})

describe('the people of a file', () => {
  const header = 'Order ID;Email;Phone;Name;Ticket type;Price'

  it('keep their orders if their phone number is invalid and their e-mail address is valid', async () => {
    const shop = await seedShop()
    const table = [header, 'A;ane@example.dk;12;Ane Holm;Partout;100,00', 'B;;12;Bo Dahl;Partout;100,00']
    const mapping = { mappings: [{ source_column: 'Phone', target_field: 'customer.phone_number' }] }
    const { id } = await givenImport(shop, joinCsvLines(table))
    const { results } = await previewOrders(id, mapping)
    expect(results[0]).toMatchObject({ action: 'create', warnings: [{ row: 2, code: 'phone_not_taken' }] })
    expect(results[1]).toMatchObject({ action: 'error', errors: [{ row: 3, code: 'invalid_phone' }] })
    expect((await get(pathOf(id))).body).toMatchObject({ invalid_rows: 1, valid_rows: 1 })
    await startImport(id, { skip_invalid_rows: true })
    expect(await summariseOrders(shop)).toMatchObject([{ id: 'A', customer: 'Ane Holm <ane@example.dk>' }])
  })

  it('get a warning if only a phone number identifies them and it belongs to another name', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, 'A;ane@example.dk;+4520123456;Ane Holm;Partout;100,00'])
    const { rows } = await importTable(shop, [
      header,
      'B;;+4520123456;Bo Dahl;Partout;100,00',
      'C;;+4520123456;ane holm;Partout;100,00',
    ])
    expect(rows).toEqual(['2 created phone_of_other_name', '3 created'])
  })

  it('keep their names when an update has others, with a warning', async () => {
    const shop = await seedShop()
    await importTable(shop, [header, 'A;ane@example.dk;;Ane Holm;Partout;100,00'])
    const changed = [header, 'A;ane@example.dk;;Ane Lund;Partout;100,00', 'B;ane@example.dk;;Ane Lund;Partout;100,00']
    const { rows } = await importTable(shop, changed, { options: { on_duplicate: 'update' } })
    expect(rows).toEqual(['2 updated name_not_changed', '3 created'])
    expect(await summariseOrders(shop)).toMatchObject([{ customer: expect.stringContaining('Ane') }, {}])
  })
})
