import { openBytes } from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../packages/table-reader/test/support/xlsx.ts'
import { inspectAndRead } from '../support/import-files.ts'
import { encodeLines, describeItems, mapColumn, sheet, listTargets } from '../support/import-mapping/sheets.ts'
import { type WholeFile, readWholeFile } from '../support/import-mapping/whole-file.ts'

const header = 'Ordre-id;E-mail;Billet;Antal;Pris'

describe('numbers that could be misread', () => {
  it('are not cut off at the first comma in rows with more cells than the header', async () => {
    const { columns, orders } = await sheet([
      'id,navn,email,billet,pris',
      '1,Ida,ida@example.test,Partout,100,50',
      '2,Bo,bo@example.test,Partout,100,00',
      '3,Cy,cy@example.test,Partout,100',
    ])
    expect(columns).toHaveLength(5)
    expect(orders).toMatchObject([
      { errors: ['2 too_many_cells'] },
      { errors: ['3 too_many_cells'] },
      { items: [{ unit_price_minor: 10_000 }] },
    ])
  })

  const prices = (...cells: string[]) =>
    buildWorkbook({
      formats: [0, '#,##0.00'],
      sheets: [
        {
          name: 'Salg',
          rows:
            buildTextRow(1, ['Ordre-id', 'E-mail', 'Billet', 'Pris']) +
            cells
              .map((cell, index) => {
                const [row, name] = [index + 2, String.fromCharCode(97 + index)]
                const texts = buildTextRow(row, [`A-${row}`, `${name}@example.test`, 'Partout'])
                const price = cell.startsWith('<') ? cell.replace('<c', `<c r="D${row}"`) : ''
                const text = `<c r="D${row}" t="inlineStr"><is><t>${cell}</t></is></c>`
                return texts.replace('</row>', `${price || text}</row>`)
              })
              .join(''),
        },
      ],
    })
  const numeric = (value: string) => `<c s="1"><v>${value}</v></c>`

  it('are ambiguous when a workbook has them as texts, whatever decimal point its numbers have', async () => {
    const { ambiguous } = await readWholeFile(prices(numeric('1250.5'), '1.250', numeric('1.25')), [])
    expect(ambiguous).toEqual(['item.unit_price'])
  })

  it.each([
    [',' as const, [125_050, 125_000, 125]],
    ['.' as const, [125_050, 125, 125]],
  ])(
    'are read with the separator that you name (%s) when a workbook has them as texts, beside numbers',
    async (decimal, expected) => {
      const answers = [{ ...mapColumn('item.unit_price', 3), transform: { type: 'number' as const, decimal } }]
      const { orders } = await readWholeFile(prices(numeric('1250.5'), '1.250', numeric('1.25')), answers)
      expect(orders).toMatchObject(expected.map((unit_price_minor) => ({ items: [{ unit_price_minor }] })))
    },
  )

  it('are read by a clear comma when a workbook has them as texts, beside numbers', async () => {
    const { orders } = await readWholeFile(prices(numeric('99.5'), '1.250,50', '1.250', numeric('33.333')), [])
    expect(describeItems({ orders } as WholeFile)).toEqual([
      '1 Partout 9950',
      '1 Partout 125050',
      '1 Partout 125000',
      '5 item.unit_price invalid_number: "33.3330" has more than two decimals.',
    ])
  })

  it('are refused as ids and codes when a spreadsheet shortened them', async () => {
    const { orders } = await sheet(
      [
        'Ordre-id;E-mail;Telefon;Billet;Billetkode;Pris',
        '1,12E+11;ida@example.test;20123456;Partout;A-1;100',
        'A-2;ida@example.test;4,52012E+09;Partout;4.00638E+12;100',
      ],
      [mapColumn('customer.phone_number', 2), mapColumn('item.vendor_code', 4)],
    )
    const message = 'was shortened by a spreadsheet. Format the column as text and save the file'
    expect(orders).toEqual([
      { errors: [`2 order.external_id invalid_value: "1,12E+11" ${message} again.`] },
      {
        errors: [`3 item.vendor_code invalid_value: "4.00638E+12" ${message} again.`],
      },
    ])
  })

  it('are added to the tax column when they are prices without tax', async () => {
    const { orders } = await sheet(
      [
        'Ordre-id;E-mail;Billet;Antal;Nettosum;Moms;Total',
        'A-1;ida@example.test;Partout;2;160,00;40,00;200,00',
        'A-2;bo@example.test;Partout;3;240,00;60,00;200,00',
        'A-2;bo@example.test;Partout;-1;-80,00;-20,00;200,00',
      ],
      [mapColumn('item.line_total', 4), mapColumn('item.tax', 5), mapColumn('order.amount', 6)],
    )
    expect(describeItems({ orders } as WholeFile)).toEqual([
      '2 Partout = 20000',
      '2 Partout = 20000',
      '1 Partout = 10000',
    ])
  })

  it('are multiplied by the units when they are a price and its tax', async () => {
    const rows = ['Ordre-id;E-mail;Billet;Antal;Netto;Moms', 'A-1;ida@example.test;Partout;3;10,00;7,51']
    const { orders } = await sheet(rows, [mapColumn('item.unit_price', 4), mapColumn('item.tax', 5)])
    expect(describeItems({ orders } as WholeFile)).toEqual(['3 Partout = 3751'])
  })
})

describe('cells in everyday spellings', () => {
  it('say that a ticket is free, and how many pieces there are', async () => {
    const file = await sheet([
      header,
      'A-1;a@example.test;Voksen;2 stk.;100,00',
      'A-2;b@example.test;Barn;3 stk;Gratis',
      'A-3;c@example.test;Barn;1x;FREE',
      'A-4;d@example.test;Barn;x 2;kostenlos',
    ])
    expect(listTargets(file)).toMatchObject({ Antal: 'item.quantity', Pris: 'item.unit_price' })
    expect(describeItems(file)).toEqual(['2 Voksen 10000', '3 Barn 0', '1 Barn 0', '2 Barn 0'])
  })

  it('get the reason when their amount is refused', async () => {
    const rows = ['99999999999,00', '1,005', 'cirka 5'].map((price, index) => `A-${index};a@example.test;P;1;${price}`)
    const { orders } = await sheet([header, ...rows], [mapColumn('item.unit_price', 4)])
    expect(describeItems({ orders } as WholeFile)).toEqual([
      '2 item.unit_price invalid_number: "99999999999,00" is too large.',
      '3 item.unit_price invalid_number: "1,005" has more than two decimals.',
      '4 item.unit_price invalid_number: "cirka 5" is not an amount.',
    ])
  })

  it.each([
    ['1/5-2026', '2026-04-30T22:00:00.000Z'],
    ['13/5-26', '2026-05-12T22:00:00.000Z'],
    ['1 maja 2026 r.', '2026-04-30T22:00:00.000Z'],
    ['31 grudnia 2025 r. 20:30', '2025-12-31T19:30:00.000Z'],
  ])('are read as dates: %s', async (text, created_at) => {
    const rows = [`${header};Dato`, `A-1;a@example.test;P;1;100;${text}`]
    expect((await sheet(rows, [mapColumn('order.created', 5)])).orders).toMatchObject([{ created_at }])
  })

  it('get an error that explains the spelling of a foreign telephone number', async () => {
    const rows = [`${header};Telefon`, 'A-1;a@example.test;P;1;100;0170/1234567']
    const { orders } = await sheet(rows, [mapColumn('customer.phone_number', 5)])
    expect(orders).toMatchObject([
      {
        customer: { email: 'a@example.test' },
        warnings: [
          '2 phone_not_taken: "0170/1234567" is not a phone number in +45. Add the country code, or set country_code for the column. The order is imported without it.',
        ],
      },
    ])
  })

  it.each([
    ['4917012345678', '+49', '+4917012345678'],
    ['49 170 12345678', '+49', '+4917012345678'],
    ['017012345678', '+49', '+4917012345678'],
    ['17012345678', '+49', '+4917012345678'],
    ['+49 170 12345678', '+45', '+4917012345678'],
    ['4520123456', '+45', '+4520123456'],
    ['45201234', '+45', '+4545201234'],
    ['48601234567', '+48', '+48601234567'],
  ])('are read as telephone numbers without their plus: %s of %s', async (text, country_code, phone_number) => {
    const rows = [`${header};Telefon`, `A-1;a@example.test;P;1;100;${text}`]
    const answer = { ...mapColumn('customer.phone_number', 5), transform: { type: 'phone' as const, country_code } }
    expect((await sheet(rows, [answer])).orders).toMatchObject([{ customer: { phone_number } }])
  })

  it('suggest another target for their column when they differ within an order', async () => {
    const { orders } = await sheet(
      [
        'Ordre-id;E-mail;Billet;Pris;Status;Total',
        'A-1;a@example.test;Voksen;100;Betalt;100',
        'A-1;a@example.test;Barn;50;Annulleret;50',
      ],
      [mapColumn('order.amount', 5)],
    )
    expect(orders).toEqual([
      {
        errors: [
          '3 order.status inconsistent_order: Line 2 of the same order has completed, this line has cancelled. If each ticket has a status of its own, map the column to item.status.',
          '3 order.amount inconsistent_order: Line 2 of the same order has 100.00, this line has 50.00. If it is the amount of each row, map the column to item.line_total.',
        ],
      },
    ])
  })
})

describe('rows that are not orders', () => {
  it('are skipped when they repeat the header on every page', async () => {
    const lines = [header, 'A-1;a@example.test;P;1;100', header, 'A-2;b@example.test;P;1;100', header]
    const { rows } = await inspectAndRead(openBytes(encodeLines(lines), 64))
    expect(rows.map(({ line, kind }) => `${line} ${kind}`)).toEqual(['2 data', '3 header', '4 data', '5 header'])
    expect((await sheet(lines)).orders).toHaveLength(2)
  })
})
