import { type Encoding, encodeText } from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../../packages/table-reader/test/support/xlsx.ts'
import type { Currency } from '../../../src/domain/money.ts'
import type { RawUpload } from '../../support/files.ts'
import {
  type Answers,
  summariseOrders,
  previewOrders,
  startImport,
  readSuggestions,
} from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

interface Kind {
  name: string
  currency: Currency
  bytes: Uint8Array<ArrayBuffer>
  upload?: RawUpload
  suggested: Record<string, string | null>
  answers?: Answers
  orders: object[]
}

const lines = (rows: readonly string[], lineBreak = '\r\n') => rows.map((row) => row + lineBreak).join('')
const encodeWithMark = (text: string, encoding: Encoding) => encodeText(`\uFEFF${text}`, encoding)

const soren = {
  id: '1001',
  status: 'completed',
  amount: '3580 dkk',
  created: '2025-12-31T19:30:00.000Z',
  customer: 'Søren Kjærgård <soren@example.dk>',
  tickets: ['Partout 1790 Søren Kjærgård', 'Partout 1790 Søren Kjærgård'],
}
const aase = {
  id: '1002',
  status: 'completed',
  amount: '695.5 dkk',
  created: '2026-01-02T08:05:00.000Z',
  customer: 'Åse Ørsted Æbelø <aase@example.dk>',
  tickets: ['Dagsbillet lørdag 695.5 Åse Ørsted Æbelø'],
}

const danishColumns = ['Ordrenr.', 'Navn', 'E-mail', 'Billettype', 'Antal', 'Stykpris', 'Købt den']
const danishRows = [
  ['1001', 'Søren Kjærgård', 'soren@example.dk', 'Partout', '2', '1.790,00', '31-12-2025 20:30'],
  ['1002', 'Åse Ørsted Æbelø', 'aase@example.dk', 'Dagsbillet lørdag', '1', '695,50', '02-01-2026 09:05'],
]
const danishTargets = {
  '0 Ordrenr.': 'order.external_id',
  '1 Navn': 'customer.full_name',
  '2 E-mail': 'customer.email',
  '3 Billettype': 'item.product',
  '4 Antal': 'item.quantity',
  '5 Stykpris': 'item.unit_price',
  '6 Købt den': 'order.created',
}
const { '3 Billettype': _product, ...otherTargets } = danishTargets
const danish = (delimiter: string) => lines([danishColumns, ...danishRows].map((row) => row.join(delimiter)))

const cell = (at: string, value: number | string, style = 0) =>
  typeof value === 'number'
    ? `<c r="${at}" s="${style}"><v>${value}</v></c>`
    : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`

/** A sheet as Danish Excel stores it: numbers and days as numbers, with a title and a hidden sheet. */
const danishWorkbook = buildWorkbook({
  formats: [0, 'dd\\-mm\\-yyyy hh:mm', '#,##0.00 "kr."'],
  sheets: [
    { name: 'Lister', rows: buildTextRow(1, ['Order ID', 'Email', 'Product', 'Price']), state: 'hidden' },
    {
      name: 'Ordrer',
      rows: `${buildTextRow(1, ['Ordrer 2025'])}${buildTextRow(3, danishColumns)}<row r="4">${[
        cell('A4', 1001),
        cell('B4', 'Søren Kjærgård'),
        cell('C4', 'soren@example.dk'),
        cell('D4', 'Partout'),
        cell('E4', 2),
        cell('F4', 1790, 2),
        cell('G4', 46022.854166666664, 1),
      ].join('')}</row><row r="5">${[
        cell('A5', 1002),
        cell('B5', 'Åse Ørsted Æbelø'),
        cell('C5', 'aase@example.dk'),
        cell('D5', 'Dagsbillet lørdag'),
        cell('E5', 1),
        cell('F5', 695.49999999999989, 2),
        cell('G5', 46024.378472222219, 1),
      ].join('')}</row>${buildTextRow(6, ['I alt'])}`,
    },
  ],
}) as Uint8Array<ArrayBuffer>

const kinds: Kind[] = [
  {
    name: 'Unicode text of Excel: UTF-16, little end first',
    currency: 'dkk',
    bytes: encodeWithMark(danish('\t'), 'utf-16le'),
    suggested: danishTargets,
    orders: [soren, aase],
  },
  {
    name: 'UTF-16, big end first, in American notation',
    currency: 'usd',
    bytes: encodeWithMark(
      lines([
        'Order ID,First name,Last name,Email,Ticket type,Qty,Unit price,Order date',
        'U-1,José,Muñoz,jose@example.com,"VIP, table",1,"$1,234.50",12/31/2025 8:30 PM',
        'U-2,Ann,O’Neil,ann@example.com,Regular,2,$89.00,1/2/2026 9:05 AM',
      ]),
      'utf-16be',
    ),
    suggested: {
      '0 Order ID': 'order.external_id',
      '1 First name': 'customer.first_name',
      '2 Last name': 'customer.last_name',
      '3 Email': 'customer.email',
      '4 Ticket type': 'item.product',
      '5 Qty': 'item.quantity',
      '6 Unit price': 'item.unit_price',
      '7 Order date': 'order.created',
    },
    orders: [
      {
        id: 'U-1',
        status: 'completed',
        amount: '1234.5 usd',
        created: '2025-12-31T19:30:00.000Z',
        customer: 'José Muñoz <jose@example.com>',
        tickets: ['VIP, table 1234.5 José Muñoz'],
      },
      {
        id: 'U-2',
        status: 'completed',
        amount: '178 usd',
        created: '2026-01-02T08:05:00.000Z',
        customer: 'Ann O’Neil <ann@example.com>',
        tickets: ['Regular 89 Ann O’Neil', 'Regular 89 Ann O’Neil'],
      },
    ],
  },
  {
    name: 'windows-1250 of Polish Excel, amounts that say their currency',
    currency: 'dkk',
    bytes: encodeText(
      lines([
        'Nr zamówienia;Imię;Nazwisko;Adres e-mail;Rodzaj biletu;Ilość;Cena biletu;Data zamówienia',
        'Z-1;Łukasz;Wójcik;lukasz@example.pl;Wejściówka;2;1 250,50 zł;31.12.2025',
        'Z-2;Małgorzata;Żółć;gosia@example.pl;Karnet łączony;1;149,00 zł;2.01.2026',
      ]),
      'windows-1250',
    ),
    suggested: {
      '0 Nr zamówienia': 'order.external_id',
      '1 Imię': 'customer.first_name',
      '2 Nazwisko': 'customer.last_name',
      '3 Adres e-mail': 'customer.email',
      '4 Rodzaj biletu': 'item.product',
      '5 Ilość': 'item.quantity',
      '6 Cena biletu': 'item.unit_price',
      '7 Data zamówienia': 'order.created',
    },
    orders: [
      {
        id: 'Z-1',
        status: 'completed',
        amount: '2501 pln',
        created: '2025-12-30T23:00:00.000Z',
        customer: 'Łukasz Wójcik <lukasz@example.pl>',
        tickets: ['Wejściówka 1250.5 Łukasz Wójcik', 'Wejściówka 1250.5 Łukasz Wójcik'],
      },
      {
        id: 'Z-2',
        status: 'completed',
        amount: '149 pln',
        created: '2026-01-01T23:00:00.000Z',
        customer: 'Małgorzata Żółć <gosia@example.pl>',
        tickets: ['Karnet łączony 149 Małgorzata Żółć'],
      },
    ],
  },
  {
    name: 'MacRoman of an old Swedish Mac, lines that end in CR alone, the clock in a column of its own',
    currency: 'sek',
    bytes: encodeText(
      lines(
        [
          'Ordernummer\tNamn\tE-post\tBiljettyp\tAntal\tPris\tOrderdatum\tOrdertid',
          'S-1\tÅsa Öberg\tasa@example.se\tStåplats\t2\t1 250:-\t2025-12-31\t20:30',
          'S-2\tZoë Andrén\tzoe@example.se\tLäktare\t1\t89,50 kr\t2026-01-02\t09:05',
        ],
        '\r',
      ),
      'macintosh',
    ),
    suggested: {
      '0 Ordernummer': 'order.external_id',
      '1 Namn': 'customer.full_name',
      '2 E-post': 'customer.email',
      '3 Biljettyp': 'item.product',
      '4 Antal': 'item.quantity',
      '5 Pris': 'item.unit_price',
      '6 Orderdatum': 'order.created',
      '7 Ordertid': 'order.created',
    },
    orders: [
      {
        id: 'S-1',
        status: 'completed',
        amount: '2500 sek',
        created: '2025-12-31T19:30:00.000Z',
        customer: 'Åsa Öberg <asa@example.se>',
        tickets: ['Ståplats 1250 Åsa Öberg', 'Ståplats 1250 Åsa Öberg'],
      },
      {
        id: 'S-2',
        status: 'completed',
        amount: '89.5 sek',
        created: '2026-01-02T08:05:00.000Z',
        customer: 'Zoë Andrén <zoe@example.se>',
        tickets: ['Läktare 89.5 Zoë Andrén'],
      },
    ],
  },
  {
    name: 'a workbook with a hidden sheet, a title, amounts and moments that are numbers',
    currency: 'dkk',
    bytes: danishWorkbook,
    upload: {
      name: 'ordrer.xlsx',
      type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    },
    suggested: danishTargets,
    orders: [soren, aase],
  },
  {
    name: 'Danish Excel with sep=, title lines, a row of totals, and two columns of one name',
    currency: 'dkk',
    bytes: encodeText(
      lines([
        'sep=;',
        'Ordrer fra billetbutikken;;;;;;;',
        ';;;;;;;',
        'Ordrenr.;Navn;E-mail;Navn;Antal;Stykpris;Købt den;',
        '1001;Søren Kjærgård;soren@example.dk;Partout;2;1.790,00;31-12-2025 20:30;',
        '1002;Åse Ørsted Æbelø;aase@example.dk;Dagsbillet lørdag;1;695,50;02-01-2026 09:05;',
        'I alt;;;;3;4.275,50;;',
      ]),
      'windows-1252',
    ),
    // Two columns with the same name are ambiguous.
    suggested: { ...otherTargets, '1 Navn': null, '3 Navn': null },
    answers: {
      mappings: [
        { source_index: 1, target_field: 'customer.full_name' },
        { source_index: 3, target_field: 'item.product' },
      ],
    },
    orders: [soren, aase],
  },
]

describe('a file in a realistic format', () => {
  it.each(kinds.map((kind) => [kind.name, kind] as const))('makes the expected orders: %s', async (_, kind) => {
    const tenant = await seedShop({ currency: kind.currency })
    const id = (await givenImport(tenant, kind.bytes, { options: {} }, kind.upload)).id
    expect(await readSuggestions(id)).toEqual(kind.suggested)
    const { totals, results } = await previewOrders(id, kind.answers)
    expect(await summariseOrders(tenant)).toEqual([])
    expect(totals).toEqual({ create: kind.orders.length, update: 0, skip: 0, error: 0, ignore: 0 })
    const orders = results as { amount: number; currency: string; customer: { full_name: string; email: string } }[]
    expect(
      orders.map(({ amount, currency, customer }) => ({
        amount: `${amount} ${currency}`,
        customer: `${customer.full_name} <${customer.email}>`,
      })),
    ).toMatchObject(
      kind.orders.map((order) => {
        const { amount, customer } = order as { amount: string; customer: string }
        return { amount, customer }
      }),
    )
    expect(await startImport(id)).toMatchObject({
      status: 'completed',
      created_orders: kind.orders.length,
      failed_orders: 0,
    })
    expect(await summariseOrders(tenant)).toEqual(kind.orders)
  })
})
