import { undecodable } from '@ecms/table-reader'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideRow, buildTargetFields, type TargetMapping } from '../../src/domain/data-imports/mapping/index.ts'
import { decide, mapTarget, prepare, readValue } from '../support/import-mapping/prepared.ts'
import { consents } from '../support/import-mapping/read-file.ts'

describe('a cell', () => {
  it('gets an error for bytes that are no character, unless it is not imported', () => {
    const mappings = [
      { target: 'order.external_id', columns: [0] },
      { target: 'customer.last_name', columns: [1] },
    ]
    const { readers } = prepare(mappings, [['1', 'Ann', '']])
    const { errors, values } = decideRow(readers, ['1', `J${undecodable}rgen`, undecodable])
    expect(errors).toMatchObject([{ column: 1, code: 'invalid_encoding', value: 'J\ufffdrgen' }])
    expect(values).toEqual({ 'order.external_id': '1' })
  })

  it.each([
    ['customer.email', ' Anna@Example.COM ', 'anna@example.com'],
    ['customer.email', 'Anna <anna@example.com>', 'anna@example.com'],
    ['customer.email', 'anna@example.com, bo@example.com', 'invalid_email'],
    ['customer.email', 'An\u200Bna@xn--bcher-kva.example\uFEFF', 'anna@bücher.example'],
    ['customer.email', '-', null],
    ['customer.phone_number', '\u202A20\u00A012 34 56\u202C', '+4520123456'],
    ['customer.first_name', '\u2060An\u00ADne \u00A0Marie', 'Anne Marie'],
    ['order.external_id', '\uFEFFA\u200B-1 \u2003 x', 'A-1 x'],
    ['item.product', 'Day\u200B  ticket', 'Day ticket'],
    ['item.unit_price', '1\u200B2,50', 1250],
    ['order.metadata.table', 'a\u200Bb  c', 'a\u200Bb  c'],
    ['customer.phone_number', '20 12 34 56', '+4520123456'],
    ['customer.phone_number', '0045 20123456', '+4520123456'],
    ['customer.phone_number', '4520123456', '+4520123456'],
    ['customer.phone_number', '4,52E+09', 'invalid_phone'],
    ['customer.first_name', 'Null', 'Null'],
    ['customer.first_name', '#REF!', 'invalid_value'],
    ['item.product', '#VÆRDI!', 'invalid_value'],
    ['item.unit_price', '#CALC!', 'invalid_value'],
    ['customer.first_name', '#I/T', null],
    ['item.product', '#1 fan', '#1 fan'],
    ['customer.first_name', 'Anne   Marie', 'Anne Marie'],
    ['customer.first_name', 'x'.repeat(81), 'too_long'],
    ['customer.first_name', 'a\u0000b', 'invalid_value'],
    ['customer.locale', 'da-DK', 'da'],
    ['customer.locale', 'Svenska', 'se'],
    ['customer.locale', 'de', null],
    ['customer.locale', 'Klingon', 'invalid_value'],
    ['order.currency', 'DKK', 'dkk'],
    ['order.currency', '€', 'eur'],
    ['order.currency', 'zł', 'pln'],
    ['order.currency', 'CHF', 'invalid_currency'],
    ['order.status', 'Betalt', 'completed'],
    ['order.status', 'confirmed', 'confirmed'],
    ['order.status', 'anulowane', 'cancelled'],
    ['order.status', 'Rückerstattet', 'cancelled'],
    ['order.status', 'VIP', 'invalid_value'],
    ['order.status', 'Refunded', 'cancelled'],
    ['order.status', 'delvist refunderet', 'completed'],
    ['item.status', 'storniert', 'cancelled'],
    ['item.status', 'gültig', 'active'],
    ['item.quantity', '2,0', 2],
    ['item.quantity', '1,5', 'invalid_number'],
    ['item.quantity', '0', 'invalid_number'],
    ['item.quantity', '1001', 'invalid_number'],
    ['item.unit_price', '1.234,50', 123_450],
    ['item.unit_price', '-5', 'negative_amount'],
    ['item.unit_price', '12,345', 'invalid_number'],
    ['item.unit_price', '25 %', 'invalid_number'],
    ['order.refunded_amount', '-25,00', 2500],
    ['item.options', 'Vegan; Parking,  T-shirt', ['Vegan', 'Parking', 'T-shirt']],
    ['consent.marketing', 'Tak', true],
    ['consent.marketing', 'nee', false],
    ['consent.marketing', 'perhaps', 'invalid_value'],
    ['order.created', '2026-10-25 02:30', Date.UTC(2026, 9, 25, 0, 30)],
    ['order.created', '2026-03-29 02:30', 'invalid_date'],
    ['order.created', '2026-03-29T02:30:00+02:00', Date.UTC(2026, 2, 29, 0, 30)],
    ['order.created', '03/04/2026', 'naive_date_ambiguous'],
    ['order.created', '1066-10-14', 'invalid_date'],
    ['order.created', 'soon', 'invalid_date'],
    ['order.external_id', 'x'.repeat(129), 'too_long'],
    ['order.metadata.table', ' 12 ', '12'],
  ] as const)('is read for %s: %j is %j', (target, cell, expected) => {
    expect(readValue(mapTarget(target), cell)).toEqual(expected)
  })

  it.each([
    [mapTarget('order.metadata.a', { transform: { type: 'lower' } }), ['ABC'], 'abc'],
    [mapTarget('order.metadata.a', { transform: { type: 'number' } }), ['1.234,50 kr.'], '1234.50'],
    [
      mapTarget('order.metadata.a', { transform: { type: 'phone', country_code: '+49' } }),
      ['030 901820'],
      '+4930901820',
    ],
    [
      mapTarget('order.metadata.a', { transform: { type: 'date', time_zone: 'UTC' } }),
      ['31.12.2026 20:00'],
      '2026-12-31T20:00:00.000Z',
    ],
    [mapTarget('customer.first_name', { transform: { type: 'split_name' } }), ['Holm, Anna Marie'], 'Anna Marie'],
    [mapTarget('customer.last_name', { transform: { type: 'split_name' } }), ['Anna van der Berg'], 'van der Berg'],
    [mapTarget('customer.first_name', { transform: { type: 'split_name', part: 'last' } }), ['Anna Holm'], 'Holm'],
    [mapTarget('customer.last_name', { transform: { type: 'split_name' } }), ['Madonna'], null],
    [
      mapTarget('order.created', { transform: { type: 'date', order: 'mdy' } }),
      ['03/04/2026'],
      Date.UTC(2026, 2, 3, 23),
    ],
    [mapTarget('item.unit_price', { transform: { type: 'number', decimal: '.' } }), ['1,234'], 123_400],
    [mapTarget('order.created', { columns: [0, 1] }), ['31.12.2026', '20:00'], Date.UTC(2026, 11, 31, 19)],
    [mapTarget('order.created', { columns: [0, 1] }), ['31.12.2026 18:00', '20:00'], 'invalid_date'],
    [mapTarget('order.created', { columns: [0, 1] }), ['31.12.2026', ''], Date.UTC(2026, 11, 30, 23)],
    [mapTarget('order.created', { columns: [0, 1] }), ['31.12.2026', 'late'], 'invalid_date'],
    [mapTarget('customer.full_name', { columns: [0, 1] }), ['Anna', 'Holm'], 'Anna Holm'],
    [mapTarget('item.product', { columns: [], constant: 'Ticket' }), [], 'Ticket'],
    [mapTarget('item.product', { default_value: 'Ticket' }), ['n/a'], 'Ticket'],
    [mapTarget('item.product', { default_value: 'Ticket' }), ['Day'], 'Day'],
    [mapTarget('order.status', { value_map: { Done: { to: 'completed' } } }), [' DONE '], 'completed'],
    [mapTarget('order.status', { value_map: { Done: { to: 'completed' } } }), ['Paid'], 'completed'],
    [mapTarget('order.status', { value_map: { Test: { ignore_row: true } } }), ['test'], 'ignored'],
  ] as const)('is transformed by %j: %j is %j', (mapping, cells, expected) => {
    expect(readValue(mapping, ...cells)).toEqual(expected)
  })

  it('is read in limited time, whatever its length and kind', () => {
    const hostile = [' ', '!', '(', '-', '1', 'a@', '<', ',', '"', '\u00A0', '0.', '{{', 'Ω'].flatMap((unit) => [
      unit.repeat(50_000),
      `${unit.repeat(50_000)}x`,
      `x${unit.repeat(50_000)}x`,
    ])
    const read = buildTargetFields(consents).flatMap(({ key }) => hostile.map((cell) => decide(mapTarget(key), [cell])))
    const values = read.flatMap((row) => Object.values(row.values))
    expect(values.every((value) => typeof value !== 'string' || value.length <= 1000)).toBe(true)
  })

  it.each([
    ['customer.phone_number', "'+4520123456", '+4520123456'],
    ['order.external_id', '="0045"', '0045'],
    ['order.external_id', "'0045", '0045'],
    ['item.product', '="Early ""bird"""', 'Early "bird"'],
    ['item.product', '=1+1', '=1+1'],
    ['customer.last_name', "'s-Gravenhage", "'s-Gravenhage"],
    ['customer.last_name', 'null', 'null'],
    ['customer.last_name', 'n/a', null],
    ['customer.last_name', '\u2013', null],
    ['item.quantity', "'2", 2],
  ])('is read without the protective marks of exporters for %s: %j is %j', (target, cell, expected) => {
    expect(readValue(mapTarget(target), cell)).toEqual(expected)
  })

  it('has a fault with its place and its value in the message', () => {
    expect(decide({ target: 'customer.email', columns: [1] }, ['x', 'nobody']).errors).toEqual([
      {
        column: 1,
        target_field: 'customer.email',
        code: 'invalid_email',
        message: '"nobody" is not an e-mail address.',
        value: 'nobody',
      },
    ])
  })

  it.each([
    [['€ 5', '£ 5'], 'currency_mismatch'],
    [['5 kr.', 'DKK 5'], undefined],
    [['5', '5'], undefined],
  ])('is in the currency of its order: %j is %s', (cells, code) => {
    const mappings = [mapTarget('item.unit_price'), { target: 'item.deposit', columns: [1] }]
    expect(decideRow(prepare(mappings, [cells]).readers, cells).errors[0]?.code).toBe(code)
  })
})

describe('the mapping of an import', () => {
  it('reports what prevents the start', () => {
    const rows = [['1.234', '03/04/2026', 'Perhaps', 'a@example.com']]
    const mappings = [
      mapTarget('item.unit_price'),
      { target: 'order.created', columns: [1] },
      { target: 'order.status', columns: [2] },
      { target: 'order.status', columns: [3] },
      { target: 'order.nothing', columns: [3] },
      { target: 'consent.other', columns: [3] },
    ]
    const prepared = prepare(mappings, rows, 'external_id')
    expect(
      prepared.ambiguous.map(({ target, column, decision }) => [
        target,
        column,
        decision.choices.map((choice) => choice.examples),
      ]),
    ).toEqual([
      ['item.unit_price', 0, [[{ text: '1.234', value: '1234' }], [{ text: '1.234', value: '1.234' }]]],
      [
        'order.created',
        1,
        [[{ text: '03/04/2026', value: '2026-04-03' }], [{ text: '03/04/2026', value: '2026-03-04' }]],
      ],
    ])
    expect(prepared.duplicate_targets).toEqual(['order.status'])
    expect(prepared.unknown_targets).toEqual(['order.nothing', 'consent.other'])
    expect(prepared.missing_required).toEqual(['order.external_id', 'item.product', 'customer.email'])
    expect(prepared.unmapped_values).toMatchObject({ 'order.status': ['a@example.com'] })
  })

  it('needs no id of orders when they are grouped by row or by address', () => {
    const mappings = [
      mapTarget('customer.phone_number'),
      mapTarget('order.created'),
      mapTarget('item.product'),
      mapTarget('item.line_total'),
    ]
    expect(prepare(mappings, [['1']], 'row').missing_required).toEqual([])
    expect(prepare(mappings, [['1']], 'email').missing_required).toEqual(['customer.email'])
  })
})

describe('rows that are read one after another', () => {
  const mappings: TargetMapping[] = [
    { target: 'order.external_id', columns: [0] },
    { target: 'order.created', columns: [1, 2] },
    { target: 'customer.full_name', columns: [3, 4] },
    { target: 'item.quantity', columns: [5], default_value: '3' },
    { target: 'item.unit_price', columns: [6] },
    { target: 'order.status', columns: [7], value_map: { vip: { ignore_row: true }, ja: { to: 'completed' } } },
    { target: 'order.metadata.seat', columns: [0] },
  ]
  const cells: readonly fc.Arbitrary<string>[] = [
    fc.oneof(fc.nat(200).map(String), fc.constantFrom('', '-', 'x'.repeat(300), `${'y'.repeat(300)}z`)),
    fc.constantFrom('2026-01-02', '2026-01-03', ''),
    fc.constantFrom('10:00', '11:30', ''),
    fc.constantFrom('Ægir', 'Bo', ''),
    fc.constantFrom('Holm', 'Bo', ''),
    fc.constantFrom('1', '2,0', '1,5', '', '-1'),
    fc.constantFrom('10,50', '€ 10,50', 'kr. 5,00', '-5,00', 'free'),
    fc.constantFrom('ja', 'VIP', 'Betalt', 'Klingon', ''),
  ]

  it('give the same results as when they are read alone', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(...cells), { minLength: 1, maxLength: 200 }), (rows) => {
        const read = rows.map((row) => JSON.stringify(decideRow(prepare(mappings, rows).readers, row)))
        const { readers } = prepare(mappings, rows)
        expect(rows.map((row) => JSON.stringify(decideRow(readers, row)))).toEqual(read)
        expect(rows.map((row) => JSON.stringify(decideRow(readers, row)))).toEqual(read)
      }),
      { numRuns: 20 },
    )
  })
})
