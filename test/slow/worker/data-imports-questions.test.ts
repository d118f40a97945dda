import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook, type WorkbookDraft } from '../../../packages/table-reader/test/support/xlsx.ts'
import { get, patch, post } from '../../support/api.ts'
import { encodeCsv, mapColumns, pathOf, process, readColumns, work } from '../../support/data-imports.ts'
import { previewOrders, startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

const joinLines = (lines: readonly string[]) => encodeCsv(lines.map((line) => `${line}\r\n`).join(''))
const upload = { name: 'orders.xlsx', type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' }
const givenWorkbook = (shop: Shop, sheets: WorkbookDraft['sheets']) =>
  givenImport(shop, buildWorkbook({ sheets }) as Uint8Array<ArrayBuffer>, {}, upload)

interface Column {
  source_column: string
  target_field: string | null
  errors: { code: string; target_field: string; message: string }[]
}

const listErrors = async (id: string) =>
  ((await readColumns(id)).results as Column[]).flatMap(({ source_column, errors }) =>
    errors.map((error) => [source_column, error.code, error.target_field]),
  )

const processColumns = async (id: string) => {
  const { status, body } = await post(pathOf(id, '/column-mappings/process'), {})
  return [status, body.code ?? null, (body.errors ?? []).map((error: { code: string }) => error.code)]
}

describe('a workbook whose first sheet is a cover', () => {
  const cover = buildTextRow(2, ['Festivalen', 'Ordreliste'])
  const orders =
    buildTextRow(1, ['Order ID', 'Email', 'Order date', 'Ticket type', 'Price']) +
    buildTextRow(2, ['A', 'ane@example.dk', '2026-05-01', 'Partout', '100'])

  it('says which sheets can be chosen, and is a workbook before it is read', async () => {
    const sheets = [
      { name: 'Forside', rows: cover },
      { name: 'Ordrer', rows: orders },
      { name: 'Mere', rows: orders },
    ]
    const failed = await givenWorkbook(await seedShop(), sheets)
    expect(failed).toMatchObject({ status: 'failed', error_code: 'empty_file', source: 'xlsx' })
    expect(failed.error_message).toBe(
      'The sheet "Forside" has a header but no rows. If another sheet has the orders, name it in the option sheet: "Ordrer", "Mere".',
    )
    expect((await patch(pathOf(failed.id), { options: { sheet: 'Ordrer' } })).status).toBe(200)
    await work(failed.id)
    expect((await get(pathOf(failed.id))).body).toMatchObject({ status: 'mapping_columns', source: 'xlsx' })
    const filter = `/v1/data-imports?organization_id=${failed.organization.id}&source=`
    expect((await get(`${filter}xlsx`)).body.count).toBe(1)
    expect((await get(`${filter}csv`)).body.count).toBe(0)
  })

  it('is called a workbook when it replaces a CSV file', async () => {
    const shop = await seedShop()
    const { id, source } = await givenImport(shop, joinLines(['Order ID;Email', 'A;a@example.dk']))
    const other = await givenWorkbook(shop, [{ name: 'Ordrer', rows: orders }])
    const { body } = await patch(pathOf(id), { file_id: other.file.id })
    expect([source, body.source]).toEqual(['csv', 'xlsx'])
  })
})

describe('a column whose values look like the status of a payment', () => {
  const header = 'Order ID;Email;Order date;Ticket type;Price;Bogholderi'
  const rows = ['A;a@example.dk;2026-05-01;Partout;100;Refunderet', 'B;b@example.dk;2026-05-01;Partout;100;Betalt']

  it('has to be mapped or ignored before its orders count as paid', async () => {
    const { id } = await givenImport(await seedShop(), joinLines([header, ...rows]))
    expect(await listErrors(id)).toEqual([['Bogholderi', 'undecided_column', 'order.status']])
    expect(await processColumns(id)).toEqual([409, 'column_mapping_incomplete', ['undecided_column']])
    await mapColumns(id, [{ source_index: 5, target_field: 'order.status' }])
    await process(id)
    const { results } = (await get(pathOf(id, '/preview'))).body
    expect(results.map((order: { status: string }) => order.status)).toEqual(['cancelled', 'completed'])
  })

  it('is not asked for again once it is ignored, also in the next file', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, joinLines([header, ...rows]))
    await mapColumns(id, [{ source_index: 5, is_ignored: true }])
    await process(id)
    await startImport(id)
    const next = await givenImport(shop, joinLines([header, ...rows.map((row) => row.replace(/^./, 'N$&'))]))
    expect(await listErrors(next.id)).toEqual([])
  })

  it.each([
    ['notes', ['Refunderet i baren', 'Betalt']],
    ['only paid orders', ['Betalt', 'Betalt']],
    ['only orders that are paid or done', ['Betalt', 'Gennemført']],
    ['sizes', ['M', 'L']],
  ])('is not asked for when it has %s', async (_, [first = '', second = '']) => {
    const lines = rows.map((row, at) => row.replace(/[^;]*$/, at === 0 ? first : second))
    const { id } = await givenImport(await seedShop(), joinLines([header, ...lines]))
    expect(await listErrors(id)).toEqual([])
  })

  it('is suggested when its header says paid and its values say yes, no or refunded', async () => {
    const lines = [header.replace('Bogholderi', 'Betalt'), ...rows, 'C;c@example.dk;2026-05-01;Partout;100;Nej']
    const { id } = await givenImport(await seedShop(), joinLines(lines))
    await process(id)
    const { results } = (await get(pathOf(id, '/preview'))).body
    expect(results.map((order: { status: string }) => order.status)).toEqual(['cancelled', 'completed', 'pending'])
  })
})

describe('a file in which several columns could be the id of the order', () => {
  const header = 'ID;Public ID;Attendee name;Email;Order date;Ticket type;Price'
  const rows = [
    '90001;A-77X;Ane Holm;a@example.dk;2026-05-01;Partout;100',
    '90002;A-78Y;Bo Dahl;a@example.dk;2026-05-01;Partout;100',
  ]

  it('asks which one it is, and groups rows by your answer', async () => {
    const { id, options } = await givenImport(await seedShop(), joinLines([header, ...rows]))
    expect(options.group_by).toBeNull()
    expect(await listErrors(id)).toEqual([
      ['ID', 'undecided_column', 'order.external_id'],
      ['Public ID', 'undecided_column', 'order.external_id'],
    ])
    expect((await processColumns(id))[0]).toBe(409)
    await patch(pathOf(id), { options: { group_by: 'email' } })
    expect(await listErrors(id)).toEqual([])
    expect((await previewOrders(id)).results).toMatchObject([{ row_numbers: [2, 3] }])
  })

  it('asks in the attendees of Hi.Events, which name no order', async () => {
    const names = 'ID,First Name,Last Name,Email,Status,Ticket ID,Ticket Name,Event ID,Public ID,Short ID,Created Date'
    const lines = ['7001', '7002'].map(
      (id) => `${id},Ane,Holm,a@example.dk,ACTIVE,9,Partout,4,A-${id},a_x,2026-05-01 10:00:00`,
    )
    const { id, detected_source } = await givenImport(await seedShop(), joinLines([names, ...lines]))
    expect(detected_source.source).toBe('hi_events')
    expect((await listErrors(id)).map(([column]) => column)).toEqual(['ID', 'Public ID'])
  })

  it('does not ask when one was mapped, or when both were ignored', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, joinLines([header, ...rows]))
    await mapColumns(id, [{ source_index: 1, target_field: 'order.external_id' }])
    expect(await listErrors(id)).toEqual([])
    await mapColumns(id, [
      { source_index: 0, is_ignored: true },
      { source_index: 1, is_ignored: true },
    ])
    expect(await listErrors(id)).toEqual([])
  })
})

describe('metadata of customers in a file', () => {
  const header = 'Order ID;Email;Name;Order date;Ticket type;Price;City;Birthday'
  const mappings = [
    { source_index: 6, target_field: 'customer.metadata.city' },
    { source_index: 7, target_field: 'customer.metadata.birthday' },
  ]
  const findMetadata = async ({ organization_id, edition_id }: Shop, email: string) => {
    const { token } = await givenMember({ id: organization_id }, 'manager', edition_id)
    const { body } = await get(`/v1/user?search=${encodeURIComponent(email)}`, token)
    return (await get(`/v1/user/${body.results[0].id}`, token)).body.metadata as object
  }

  it('gets each column under a name of its own, and nothing of the person in another row', async () => {
    const shop = await seedShop()
    const rows = [
      'A;ane@example.dk;Ane Holm;2026-05-01;Partout;100;Aarhus;',
      'A;bo@example.dk;Bo Dahl;2026-05-01;Partout;100;Odense;1990-02-03',
      'B;cy@example.dk;Cy Lund;2026-05-01;Partout;100;;2001-12-31',
    ]
    const { id } = await givenImport(shop, joinLines([header, ...rows]))
    await previewOrders(id, { mappings })
    await startImport(id)
    expect(await findMetadata(shop, 'ane@example.dk')).toEqual({ city: 'Aarhus' })
    expect(await findMetadata(shop, 'cy@example.dk')).toEqual({ birthday: '2001-12-31' })
    const next = await givenImport(shop, joinLines([header, 'C;cy@example.dk;Cy Lund;2026-06-01;Partout;100;Ribe;']))
    await previewOrders(next.id)
    await startImport(next.id)
    expect(await findMetadata(shop, 'cy@example.dk')).toEqual({ birthday: '2001-12-31', city: 'Ribe' })
  })

  it('is as before after an undo, and stays where it was changed since', async () => {
    const shop = await seedShop()
    const people = ['ane@example.dk', 'bo@example.dk'] as const
    await givenOrders(
      shop,
      people.map((email) =>
        anOrder({ customer: { email, first_name: 'Ane', metadata: { city: 'Viborg', vip: 'yes' } } }),
      ),
    )
    const rows = people.map((email, at) => `N${at};${email};Ane Holm;2026-05-01;Partout;100;Aarhus;1990-02-03`)
    const { id } = await givenImport(shop, joinLines([header, ...rows]))
    await previewOrders(id, { mappings })
    await startImport(id)
    expect(await findMetadata(shop, people[0])).toMatchObject({ birthday: '1990-02-03', vip: 'yes' })
    await givenOrders(shop, [anOrder({ customer: { email: people[1], metadata: { city: 'Ribe' } } })])
    expect((await post(pathOf(id, '/undo'), {})).status).toBe(200)
    await work(id)
    expect((await get(pathOf(id))).body).toMatchObject({ status: 'undone' })
    expect(await findMetadata(shop, people[0])).toEqual({ city: 'Viborg', vip: 'yes' })
    expect(await findMetadata(shop, people[1])).toEqual({ birthday: '1990-02-03', city: 'Ribe', vip: 'yes' })
  })

  it('refuses a target without a name', async () => {
    const { id } = await givenImport(await seedShop(), joinLines([header, 'A;a@b.dk;A;2026-05-01;P;1;X;']))
    const reply = await mapColumns(id, [{ source_index: 6, target_field: 'customer.metadata.' }])
    expect(describeRefusal(reply)).toBe('400 validation_error: unknown_target_field #/mappings/0/target_field')
  })
})

describe('the value maps of an import', () => {
  it('are bounded together, because every list of columns answers all of them', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `C${at}`)
    const { id } = await givenImport(await seedShop(), joinLines([names.join(';'), names.map(() => 'x').join(';')]))
    const map = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`${at}`.padStart(190, 'k'), { to: 'v'.repeat(190) }]),
    )
    const answers = []
    for (const source_index of [0, 1, 2, 3]) {
      const reply = await mapColumns(id, [
        { source_index, target_field: `order.metadata.k${source_index}`, value_map: map },
      ])
      answers.push(reply.status === 200 ? '200' : describeRefusal(reply))
    }
    expect(answers).toEqual([
      '200',
      '200',
      '400 validation_error: max_length #/mappings/0/value_map',
      '400 validation_error: max_length #/mappings/0/value_map',
    ])
    const short = { source_index: 4, target_field: 'order.metadata.k4', value_map: { ja: { to: 'yes' } } }
    const long = { source_index: 5, target_field: 'order.metadata.k5', value_map: map }
    const reply = await mapColumns(id, [short, long])
    expect(describeRefusal(reply)).toBe('400 validation_error: max_length #/mappings/1/value_map')
    expect(reply.body.detail).toContain('200000 characters')
    expect((await mapColumns(id, [short])).status).toBe(200)
    const { results } = await readColumns(id)
    const maps = (results as { value_map: object | null }[]).map(({ value_map }) => JSON.stringify(value_map))
    expect(maps.join('').length).toBeLessThan(200_000)
  })
})
