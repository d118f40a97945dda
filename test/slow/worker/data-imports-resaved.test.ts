import { encodeText } from '@ecms/table-reader'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../../packages/table-reader/test/support/xlsx.ts'
import { get } from '../../support/api.ts'
import { encodeCsv, pathOf } from '../../support/data-imports.ts'
import { type Answers, summariseOrders, previewOrders, startImport } from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

type Table = readonly (readonly string[])[]
type Cell = (text: string, column: number) => string

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
const join = (table: Table, delimiter = ';', lineBreak = '\r\n') =>
  table.map((cells) => cells.map((text) => (/[";,\t]/.test(text) ? quote(text) : text)).join(delimiter) + lineBreak)
const write = (table: Table, delimiter?: string, lineBreak?: string) => join(table, delimiter, lineBreak).join('')
const quoteAll = (table: Table) => table.map((cells) => cells.map(quote).join(',')).join('\n')
/** Changes the cells below the header. */
const change = ([header = [], ...rows]: Table, cell: Cell): Table => [header, ...rows.map((cells) => cells.map(cell))]
const withHeader = ([, ...rows]: Table, header: readonly string[]): Table => [header, ...rows]

const xlsx = {
  name: 'list.xlsx',
  type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
const toWorkbook = (table: Table) =>
  buildWorkbook({
    sheets: [{ name: 'A', rows: table.map((cells, index) => buildTextRow(index + 1, [...cells])).join('') }],
  })

interface Settings {
  more?: object
  answers?: Answers
  start?: object
}

async function importFile(shop: Shop, file: string | Uint8Array, { more = {}, answers, start }: Settings = {}) {
  const isWorkbook = typeof file !== 'string' && file[0] === 0x50 && file[1] === 0x4b
  const bytes = typeof file === 'string' ? encodeCsv(file) : (file as Uint8Array<ArrayBuffer>)
  const { id } = await givenImport(shop, bytes, more, isWorkbook ? xlsx : undefined)
  const preview = await previewOrders(id, answers)
  const ended = await startImport(id, start)
  const { body } = await get(pathOf(id, '/rows'))
  const { created_orders, updated_orders, skipped_orders, external_source } = ended
  return {
    preview,
    source: external_source as string,
    counts: { created_orders, updated_orders, skipped_orders },
    warnings: (body.results as { warnings: { code: string }[] }[]).map(({ warnings }) =>
      warnings.map(({ code }) => code),
    ),
  }
}

const list: Table = [
  ['Navn', 'E-mail', 'Billettype', 'Pris', 'Købt den'],
  ['Søren Holm', 'soren@example.dk', 'Partout', '1.250,00', '15-01-2026'],
  ['Åse Dahl', 'aase@example.dk', 'Dagsbillet lørdag', '100,00', '16-01-2026'],
  ['Åse Dahl', 'aase@example.dk', 'Dagsbillet lørdag', '100,00', '16-01-2026'],
]
const [header = [], ...rows] = list
const prices = (large: string, small: string): Table =>
  change(list, (text, column) => (column === 3 ? (text === '100,00' ? small : large) : text))

describe('a list without ids', () => {
  const copies: [string, string | Uint8Array][] = [
    ['in windows-1252', encodeText(write(list), 'windows-1252')],
    ['in UTF-16 with tabs', encodeText(`\uFEFF${write(list, '\t')}`, 'utf-16le')],
    ['of an old Mac', encodeText(write(list, ';', '\r'), 'macintosh')],
    ['as a workbook', toWorkbook(list)],
    ['with its rows reversed', write([header, ...rows.toReversed()])],
    ['with its columns reversed', write(list.map((cells) => cells.toReversed()))],
    ['in capitals', write(list.map((cells) => cells.map((text) => text.toUpperCase())))],
    ['with accents apart', write(list).normalize('NFD')],
    ['with American numbers', write(prices('1,250.00', '100.00'))],
    ['with bare numbers', write(prices('1250', '100'))],
    ['with numbers and a currency', write(prices('kr. 1.250,-', '100 kr.'))],
    ['with narrow spaces in numbers', write(prices('1\u202F250,00', '100,00'))],
    ['with ISO dates', write(change(list, (text) => text.replace(/^(..)-(..)-(....)$/, '$3-$2-$1')))],
    ['with times of midnight', write(change(list, (text) => text.replace(/^(..)-(..)-(....)$/, '$1.$2.$3 00:00')))],
    ['with another column', write(list.map((cells, index) => [...cells, index === 0 ? 'Antal' : '1']))],
    ['with a title and blank lines', `Ordrer;;;;\r\n;;;;\r\n${write(list)};;;;\r\n`],
    ...['Deltager', 'Mailadresse', 'Produkt', 'Stykpris', 'Dato'].map((name, at): [string, string] => [
      `with the column ${name}`,
      write(withHeader(list, header.with(at, name))),
    ]),
  ]

  it.each(copies)('is known again %s', async (_, copy) => {
    const shop = await seedShop()
    await importFile(shop, write(list))
    const { counts } = await importFile(shop, copy)
    expect(counts).toEqual({ created_orders: 0, updated_orders: 0, skipped_orders: 3 })
  })

  const short: Table = [['E-mail', 'Billettype', 'Beløb'], ...rows.map((cells) => cells.slice(1, 4))]
  it.each([
    [0, 'Mail', 'item.unit_price'],
    [1, 'Billet', 'item.unit_price'],
    [2, 'I alt', 'item.line_total'],
  ])('is known again with three columns when header %i is %s', async (at, name, price) => {
    const shop = await seedShop()
    const build = (target_field: string): Settings => ({
      answers: {
        mappings: [{ source_index: 2, target_field }],
        constants: [{ target_field: 'order.created', value: '2026-01-15' }],
      },
    })
    await importFile(shop, write(short), build('item.unit_price'))
    const { counts } = await importFile(shop, write(withHeader(short, short[0]?.with(at, name) ?? [])), build(price))
    expect(counts).toEqual({ created_orders: 0, updated_orders: 0, skipped_orders: 3 })
  })

  it('looks imported in the preview when it is in another language', async () => {
    const shop = await seedShop()
    await importFile(shop, write(list))
    const english = withHeader(list, ['Name', 'Email', 'Ticket type', 'Price', 'Order date'])
    expect((await importFile(shop, write(english))).preview.warnings).toMatchObject([{ code: 'rows_look_imported' }])
  })
})

describe('two lists that differ in one header', () => {
  const created = { target_field: 'order.created', value: '2026-01-15' }
  it.each([
    ['Order ID;Email;Product;Price', 'Order ID;Email;Ticket;Price'],
    ['Ordrenr.;E-mail;Vare;Pris', 'Bonnr.;E-mail;Vare;Pris'],
    ['#;Email;Product;Price', 'Order;Email;Product;Price'],
  ])('are of two systems if they have ids: %s, %s', async (one, other) => {
    const shop = await seedShop()
    const settings = {
      answers: { constants: [created], mappings: [{ source_index: 0, target_field: 'order.external_id' }] },
    }
    const first = await importFile(shop, `${one}\n1;a@example.dk;Partout;100`, settings)
    const second = await importFile(shop, `${other}\n1;b@example.dk;Camping;40`, settings)
    expect([second.counts.created_orders, second.source === first.source]).toEqual([1, false])
  })

  it('are of two systems if one has ids, and the list without ids is known again', async () => {
    const shop = await seedShop()
    const withoutIds = `${write(list)}Bo Dahl;bo@example.dk;Partout;100,00;17-01-2026\r\n`
    const withIds = list.map((cells, index) => [index === 0 ? 'Ordrenr.' : String(index), ...cells.slice(1)])
    const first = await importFile(shop, write(list))
    expect((await importFile(shop, write(withIds))).source).not.toBe(first.source)
    const { counts, source } = await importFile(shop, withoutIds)
    expect([source, counts.created_orders, counts.skipped_orders]).toEqual([first.source, 1, 3])
  })

  it('are of two systems if each customer is one order', async () => {
    const shop = await seedShop()
    const settings = { more: { options: { group_by: 'email' } }, answers: { constants: [created] } }
    const first = await importFile(shop, 'Email;Product;Price\na@example.dk;Partout;100', settings)
    const second = await importFile(shop, 'Email;Product;Amount paid\na@example.dk;Camping;40', {
      ...settings,
      answers: { constants: [created], mappings: [{ source_index: 2, target_field: 'item.unit_price' }] },
    })
    expect([second.counts.created_orders, second.source === first.source]).toEqual([1, false])
  })
})

describe('a file of orders that a spreadsheet saved again', () => {
  const orders: Table = [
    ['Order ID', 'Email', 'Name', 'Phone', 'Product', 'Price', 'Fee', 'Order date', 'Note'],
    ['A-12', 'ane@example.dk', 'Ane Holm', '+4520123456', 'Partout', '100.00', '5.50', '2026-01-15 20:30', 'hello'],
    ['A-13', 'bo@example.dk', 'Bo Dahl', '', 'Camping, tent', '1250.00', '0.00', '2026-01-16 09:05', 'a "b" c'],
    ['A-13', 'bo@example.dk', 'Bo Dahl', '', 'Parking', '1.00', '0.00', '2026-01-16 09:05', 'a "b" c'],
  ]
  const comma: Cell = (text, column) => (column === 5 || column === 6 ? text.replace('.', ',') : text)
  const bare: Cell = (text, column) => (column === 5 || column === 6 ? String(Number(text)).replace('.', ',') : text)
  const grouped: Cell = (text, column) => (text === '1250.00' ? '1.250,00' : comma(text, column))
  const danishDates: Cell = (text, column) => comma(text, column).replace(/^(....)-(..)-(..) /, '$3-$2-$1 ')
  const danish = change(orders, comma)
  const settings: Settings = {
    more: { options: { on_duplicate: 'update' } },
    answers: {
      mappings: [
        { source_column: 'Fee', target_field: 'order.service_fee' },
        { source_column: 'Phone', target_field: 'customer.phone_number' },
        { source_column: 'Note', target_field: 'order.metadata.note' },
      ],
    },
  }
  const formulas = change(orders, (text, column) =>
    column === 0 ? `="${text}"` : column === 3 && text ? `'${text}` : text,
  )
  it.each([
    ['with other line ends and a mark', `\uFEFF${write(orders, ',', '\n')}`],
    ['with all cells quoted', quoteAll(orders)],
    ['with semicolons and decimal commas', write(danish)],
    ['with bare numbers', write(change(orders, bare))],
    ['with grouped numbers', write(change(orders, grouped))],
    ['with Danish dates', write(change(orders, danishDates))],
    ['with seconds', write(change(orders, (text) => text.replace(/ (..:..)$/, ' $1:00')))],
    ['in windows-1252 with a sep line', encodeText(`sep=;\r\n${write(danish)}`, 'windows-1252')],
    ['as Unicode text', encodeText(`\uFEFF${write(danish, '\t')}`, 'utf-16le')],
    ['with blank columns and lines', `${join(orders, ',', '').join(',,,\r\n')},,,\r\n,,,,,,,,,,,\r\n`],
    ['with ids as formulas', write(formulas, ',')],
    ['as a workbook', toWorkbook(orders)],
  ])('counts as unchanged %s', async (_, copy) => {
    const shop = await seedShop()
    await importFile(shop, write(orders, ',', '\r'), settings)
    const listVersions = () =>
      db.all(sql`select external_id, version from orders where edition_id = ${shop.edition_id}`)
    const before = await listVersions()
    const { counts } = await importFile(shop, copy, settings)
    expect(counts).toEqual({ created_orders: 0, updated_orders: 0, skipped_orders: 2 })
    expect(await listVersions()).toEqual(before)
  })
})

describe('invisible characters in a file', () => {
  const inside = Array.from('\u200B\u200E\u202B\u2060\u2066\uFEFF\u00AD\u180E\u034F\u115F\u3164\u2800')
  const around = Array.from('\u00A0\u202F\u3000')
  const table: Table = [
    ['Order ID', 'Email', 'Name', 'Phone', 'Language', 'Product', 'Price', 'Ticket code', 'Status', 'Currency', 'Date'],
    [
      'A-1',
      'ane@example.dk',
      'Ane Holm',
      '+4520123456',
      'Danish',
      'Partout',
      '1250.50',
      'T-100',
      'paid',
      'EUR',
      '2026-01-15 20:30',
    ],
  ]

  it.each([...inside, ...around].map((character) => [character.charCodeAt(0).toString(16), character]))(
    'change no header, value or consent (U+%s)',
    async (_, character) => {
      const shop = await seedShop()
      const { key } = (await givenConsent(shop.organization_id, { key: 'newsletter' })) as { key: string }
      const hide = (text: string) =>
        around.includes(character)
          ? character + text + character
          : character + text.slice(0, 2) + character + text.slice(2) + character
      const [names = [], cells = []] = table
      const whole: Table = [
        [...names, 'Coupon', 'Newsletter'],
        [...cells, 'EARLY', 'yes'],
      ]
      const settings: Settings = {
        more: { options: { on_duplicate: 'update' } },
        answers: {
          mappings: [
            { source_index: 3, target_field: 'customer.phone_number' },
            { source_index: 11, target_field: 'order.coupon_code' },
            { source_index: 12, target_field: `consent.${key}` },
          ],
        },
      }
      const first = await importFile(shop, write(whole), settings)
      const { counts, source } = await importFile(shop, write(whole.map((one) => one.map(hide))), settings)
      expect([source, counts]).toEqual([first.source, { created_orders: 0, updated_orders: 0, skipped_orders: 1 }])
    },
  )
})

describe('the rows of a ticket', () => {
  const columns =
    'Order ID;Email;Name;Product;Price;Ticket code;Ticket holder email;Ticket holder name;Date;Ticket status'
  const build = (...tickets: string[]) =>
    [columns, ...tickets.map((one) => `A;a@example.dk;Ane Holm;${one}`)].join('\n')

  it.each([
    ['is filled in the first row alone', 'Partout;100;T-1;b@example.dk;Bo Dahl;15-01-2026;valid', ';;T-1;;;;'],
    [
      'has other capitals',
      'Partout;100;T-1;b@example.dk;Bo Dahl;15-01-2026;',
      'PARTOUT;100,00;T-1;B@Example.dk;bo dahl;;',
    ],
    ['names the holder in the second row', 'Partout;100;T-1;;;15-01-2026;', ';;T-1;b@example.dk;Bo Dahl;;'],
  ])('are one ticket if it %s', async (_, ...tickets) => {
    const shop = await seedShop()
    const { warnings } = await importFile(shop, build(...tickets))
    expect(warnings).toEqual([[], ['repeated_ticket']])
    expect(await summariseOrders(shop)).toMatchObject([{ amount: '100 dkk', tickets: ['Partout 100 Bo Dahl'] }])
  })

  it('make one ticket when it was cancelled, beside the one that replaced it', async () => {
    const shop = await seedShop()
    const cancelled = 'Partout;100;T-1;;;15-01-2026;cancelled'
    await importFile(shop, build(cancelled, cancelled, 'Partout;100;T-1;b@example.dk;Bo Dahl;15-01-2026;valid'))
    expect(await summariseOrders(shop)).toMatchObject([
      { amount: '100 dkk', tickets: ['Partout 0 Ane Holm', 'Partout 100 Bo Dahl'] },
    ])
  })
})

describe('an order of a file', () => {
  const build = (...cells: string[]) =>
    [
      'Order ID;Email;Phone;Language;Product;Price;Date',
      ...cells.map((one, at) => `${at};${at}@example.dk;${one};Partout;100;15-01-2026`),
    ].join('\n')
  const settings: Settings = {
    answers: { mappings: [{ source_column: 'Phone', target_field: 'customer.phone_number' }] },
  }

  it('is imported whatever its phone number is', async () => {
    const phones = [
      '0',
      '+45',
      '+45 12',
      '1,23457E+11',
      'ring efter kl. 17',
      '20123456 / 20123457',
      '#VALUE!',
      'x'.repeat(300),
    ]
    const { counts, warnings } = await importFile(await seedShop(), build(...phones.map((one) => `${one};`)), settings)
    expect(counts.created_orders).toBe(phones.length)
    expect(warnings).toEqual(phones.map(() => ['phone_not_taken']))
  })

  it('is imported whatever its language is', async () => {
    const shop = await seedShop()
    const locales = ['Klingon', 'Deutsch', 'zz-ZZ', '??', 'x'.repeat(300)]
    const mapping = { source_column: 'Language', target_field: 'customer.locale' }
    const { counts, warnings } = await importFile(shop, build(...locales.map((one) => `;${one}`)), {
      answers: { mappings: [mapping] },
    })
    expect(counts.created_orders).toBe(locales.length)
    expect(warnings).toEqual(locales.map(() => ['unsupported_language']))
  })
})
