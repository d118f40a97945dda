import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countTuples,
  decideRow,
  groupKeyOf,
  mergeTuples,
  prepareMappings,
  statisticsOf,
  suggestProduct,
  targetFieldsOf,
  toExternalOrder,
  toWireOrder,
  type Grouping,
  type PlacedRow,
  type TargetMapping,
} from '../../src/domain/import-mapping/index.ts'
import type { OrderOptions } from '../../src/domain/import-mapping/rows/order.ts'
import { consents, now } from '../support/import-mapping/read-file.ts'

const prepare = (
  mappings: readonly TargetMapping[],
  rows: readonly (readonly string[])[],
  group_by: Grouping = 'row',
) =>
  prepareMappings({
    mappings,
    statistics: (rows[0] ?? []).map((_, index) => statisticsOf(rows.map((row) => row[index] ?? ''))),
    consents,
    group_by,
    time_zone: 'Europe/Copenhagen',
    country_code: '+45',
    now,
  })

const decide = (mapping: TargetMapping, cells: readonly string[], column: readonly (readonly string[])[] = [cells]) =>
  decideRow(prepare([mapping], column).readers, cells)

const valueOf = (mapping: TargetMapping, ...cells: string[]) => {
  const { values, errors, is_ignored } = decide(mapping, cells)
  return is_ignored ? 'ignored' : (errors[0]?.code ?? values[mapping.target] ?? null)
}

const one = (target: string, more: Partial<TargetMapping> = {}): TargetMapping => ({ target, columns: [0], ...more })

describe('a cell', () => {
  it.each([
    ['customer.email', ' Anna@Example.COM ', 'anna@example.com'],
    ['customer.email', 'Anna <anna@example.com>', 'anna@example.com'],
    ['customer.email', 'anna@example.com, bo@example.com', 'invalid_email'],
    ['customer.email', '-', null],
    ['customer.phone_number', '20 12 34 56', '+4520123456'],
    ['customer.phone_number', '0045 20123456', '+4520123456'],
    ['customer.phone_number', '4520123456', '+4520123456'],
    ['customer.phone_number', '4,52E+09', 'invalid_phone'],
    ['customer.first_name', 'Null', 'Null'],
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
  ] as const)('for %s of %j is %j', (target, cell, expected) => {
    expect(valueOf(one(target), cell)).toEqual(expected)
  })

  it.each([
    [one('order.metadata.a', { transform: { type: 'lower' } }), ['ABC'], 'abc'],
    [one('order.metadata.a', { transform: { type: 'number' } }), ['1.234,50 kr.'], '1234.50'],
    [one('order.metadata.a', { transform: { type: 'phone', country_code: '+49' } }), ['030 901820'], '+4930901820'],
    [
      one('order.metadata.a', { transform: { type: 'date', time_zone: 'UTC' } }),
      ['31.12.2026 20:00'],
      '2026-12-31T20:00:00.000Z',
    ],
    [one('customer.first_name', { transform: { type: 'split_name' } }), ['Holm, Anna Marie'], 'Anna Marie'],
    [one('customer.last_name', { transform: { type: 'split_name' } }), ['Anna van der Berg'], 'van der Berg'],
    [one('customer.first_name', { transform: { type: 'split_name', part: 'last' } }), ['Anna Holm'], 'Holm'],
    [one('customer.last_name', { transform: { type: 'split_name' } }), ['Madonna'], null],
    [one('order.created', { transform: { type: 'date', order: 'mdy' } }), ['03/04/2026'], Date.UTC(2026, 2, 3, 23)],
    [one('item.unit_price', { transform: { type: 'number', decimal: '.' } }), ['1,234'], 123_400],
    [one('order.created', { columns: [0, 1] }), ['31.12.2026', '20:00'], Date.UTC(2026, 11, 31, 19)],
    [one('order.created', { columns: [0, 1] }), ['31.12.2026 18:00', '20:00'], 'invalid_date'],
    [one('order.created', { columns: [0, 1] }), ['31.12.2026', ''], Date.UTC(2026, 11, 30, 23)],
    [one('order.created', { columns: [0, 1] }), ['31.12.2026', 'late'], 'invalid_date'],
    [one('customer.full_name', { columns: [0, 1] }), ['Anna', 'Holm'], 'Anna Holm'],
    [one('item.product', { columns: [], constant: 'Ticket' }), [], 'Ticket'],
    [one('item.product', { default_value: 'Ticket' }), ['n/a'], 'Ticket'],
    [one('item.product', { default_value: 'Ticket' }), ['Day'], 'Day'],
    [one('order.status', { value_map: { Done: { to: 'completed' } } }), [' DONE '], 'completed'],
    [one('order.status', { value_map: { Done: { to: 'completed' } } }), ['Paid'], 'completed'],
    [one('order.status', { value_map: { Test: { ignore_row: true } } }), ['test'], 'ignored'],
  ] as const)('is transformed by %j: %j is %j', (mapping, cells, expected) => {
    expect(valueOf(mapping, ...cells)).toEqual(expected)
  })

  it('of any length and kind is read before the test times out', { timeout: 20_000 }, () => {
    const hostile = [' ', '!', '(', '-', '1', 'a@', '<', ',', '"', '\u00A0', '0.', '{{', 'Ω'].flatMap((unit) => [
      unit.repeat(50_000),
      `${unit.repeat(50_000)}x`,
      `x${unit.repeat(50_000)}x`,
    ])
    const read = targetFieldsOf(consents).flatMap(({ key }) => hostile.map((cell) => decide(one(key), [cell])))
    const values = read.flatMap((row) => Object.values(row.values))
    expect(values.every((value) => typeof value !== 'string' || value.length <= 1000)).toBe(true)
  })

  it('that is wrong says where it stands and what it is', () => {
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
  ])('with the currencies of %j is %s', (cells, code) => {
    const mappings = [one('item.unit_price'), { target: 'item.deposit', columns: [1] }]
    expect(decideRow(prepare(mappings, [cells]).readers, cells).errors[0]?.code).toBe(code)
  })
})

describe('mappings', () => {
  it('say what keeps an import from starting', () => {
    const rows = [['1.234', '03/04/2026', 'Perhaps', 'a@example.com']]
    const mappings = [
      one('item.unit_price'),
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

  it('need no id of orders that rows or e-mail addresses make', () => {
    const mappings = [one('customer.phone_number'), one('item.product'), one('item.line_total')]
    expect(prepare(mappings, [['1']], 'row').missing_required).toEqual([])
    expect(prepare(mappings, [['1']], 'email').missing_required).toEqual(['customer.email'])
  })
})

const options: OrderOptions = {
  group_by: 'external_id',
  default_currency: 'dkk',
  default_status: 'completed',
  id_prefix: 'imp_1',
}

const targets = [
  'order.external_id',
  'customer.email',
  'item.product',
  'item.quantity',
  'item.unit_price',
  'order.status',
  'item.status',
  'order.currency',
  'item.line_total',
]
const mappings = targets.map((target, index) => ({ target, columns: [index] }))

function ordersOf(rows: readonly (readonly string[])[], given: Partial<OrderOptions> = {}) {
  const all = { ...options, ...given }
  const { readers } = prepare(mappings, rows, all.group_by)
  const placed = rows.map((cells, index): PlacedRow => ({ ...decideRow(readers, cells), line: index + 2 }))
  return [...Map.groupBy(placed, (row) => groupKeyOf(row, all.group_by)).values()].map((ofOrder) =>
    toExternalOrder(ofOrder, all),
  )
}

describe('the rows of an order', () => {
  it('need not stand together, and inherit what is blank', () => {
    const [a, b] = ordersOf([
      ['A', 'a@example.com', 'Day', '2', '10'],
      ['B', 'b@example.com', 'Day', '', '20'],
      ['A', '', 'Camping', '1', '5'],
    ])
    expect(a?.order).toMatchObject({
      lines: [2, 4],
      customer: { email: 'a@example.com' },
      items: [{ quantity: 2 }, { product: 'Camping' }],
    })
    expect(b?.order).toMatchObject({ lines: [3], items: [{ quantity: 1, unit_price_minor: 2000 }] })
  })

  it('that contradict each other are no order, and say where', () => {
    const [decision] = ordersOf([
      ['A', 'a@example.com', 'Day', '2', '10'],
      ['A', 'b@example.com', 'Day', '1', '10'],
    ])
    expect(decision?.order).toBeNull()
    expect(decision?.errors).toMatchObject([
      { row: 3, target_field: 'customer.email', code: 'inconsistent_order', value: 'b@example.com' },
    ])
  })

  it('are no order if one of them is wrong, and every fault is told once', () => {
    const [decision] = ordersOf([
      ['A', 'nobody', 'Day', '2', '10'],
      ['A', '', '', '1', '10'],
      ['A', '', 'Day', '1', ''],
      ['A', '', 'Day', '1', 'much'],
    ])
    expect(decision?.order).toBeNull()
    expect(decision?.errors.map(({ row, target_field, code }) => [row, target_field, code])).toEqual([
      [2, 'customer.email', 'invalid_email'],
      [5, 'item.unit_price', 'invalid_number'],
      [3, 'item.product', 'missing_required'],
      [4, 'item.unit_price', 'missing_required'],
    ])
  })

  it.each([
    [['active', 'cancelled'], 'completed'],
    [['pending', 'cancelled'], 'pending'],
    [['cancelled', 'cancelled'], 'cancelled'],
    [['active', ''], 'completed'],
  ])('with tickets that are %j are an order that is %s', (statuses, status) => {
    const rows = statuses.map((one) => ['A', 'a@example.com', 'Day', '1', '10', '', one])
    expect(ordersOf(rows)[0]?.order?.status).toBe(status)
  })

  it.each([
    ['€ 10', '', 'eur'],
    ['10 kr.', '', 'dkk'],
    ['10 kr.', 'SEK', 'sek'],
    ['10', 'kr', 'dkk'],
    ['€ 10', 'DKK', null],
  ])('with %s in "%s" are an order in %s', (price, currency, expected) => {
    expect(ordersOf([['A', 'a@example.com', 'Day', '1', price, '', '', currency]])[0]?.order?.currency ?? null).toBe(
      expected,
    )
  })

  it('are an order as a client would send it', () => {
    const [decision] = ordersOf([
      ['A', 'a@example.com', 'Day', '2', '10,50', 'Betalt', '', 'DKK'],
      ['A', '', 'Camping', '3', '', '', 'storniert', '', '100'],
    ])
    expect(decision?.order && toWireOrder(decision.order)).toEqual({
      external_id: 'A',
      status: 'completed',
      currency: 'dkk',
      customer: { email: 'a@example.com' },
      items: [
        { product: 'Day', quantity: 2, unit_price: 10.5 },
        { product: 'Camping', quantity: 3, line_total: 100, status: 'cancelled' },
      ],
      consents: {},
      metadata: {},
    })
  })

  it('that are crowns are none of a file in euros', () => {
    const [decision] = ordersOf([['A', 'a@example.com', 'Day', '1', '10 kr.']], { default_currency: 'eur' })
    expect(decision?.errors.map(({ code }) => code)).toEqual(['currency_mismatch'])
  })

  it('give units back that stay what they cost', () => {
    const rows = [
      ['A', 'a@example.com', 'Day', '3', '', '', '', '', '100,00'],
      ['A', '', 'Day', '-1', '', '', '', '', '-33,33'],
      ['A', '', 'Camping', '-2', '', '', '', '', '-10'],
    ]
    const [decision] = ordersOf(rows)
    expect(
      decision?.order?.items.map(({ quantity, line_total_minor, status }) => [quantity, line_total_minor, status]),
    ).toEqual([
      [2, 6667, null],
      [1, 3333, 'cancelled'],
    ])
    expect(decision?.warnings).toMatchObject([{ row: 4, code: 'refund_without_item' }])
  })

  it('take the total of an item where the price of one contradicts it', () => {
    const [decision] = ordersOf([['A', 'a@example.com', 'Day', '3', '33,33', '', '', '', '100']])
    expect(decision?.order?.items).toMatchObject([{ unit_price_minor: null, line_total_minor: 10_000 }])
  })

  it('are one order each, or one of an address, where the file has no ids', () => {
    const rows = [
      ['', 'a@example.com', 'Day', '1', '10'],
      ['', 'a@example.com', 'Day', '1', '10'],
    ]
    expect(ordersOf(rows, { group_by: 'row' }).map(({ order }) => order?.external_id)).toEqual(['imp_1-2', 'imp_1-3'])
    expect(ordersOf(rows, { group_by: 'email' }).map(({ order }) => order?.external_id)).toEqual(['a@example.com'])
  })

  const item = fc.record({
    product: fc.constantFrom('Day ticket', 'Weekend', 'Lejr, stor'),
    quantity: fc.integer({ min: 1, max: 20 }),
    cents: fc.integer({ min: 0, max: 5_000_000 }),
  })
  const file = fc.record({
    orders: fc.array(fc.array(item, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
    decimal: fc.constantFrom('.', ','),
    mark: fc.constantFrom('', ' kr.', ' DKK'),
    seed: fc.integer(),
  })

  it('are read as what was written, in any order and with blanks for what is said already', () => {
    fc.assert(
      fc.property(file, ({ orders, decimal, mark, seed }) => {
        const write = (cents: number) => {
          const whole = String(Math.floor(cents / 100)).replaceAll(/\B(?=(?:\d{3})+$)/g, decimal === ',' ? '.' : ',')
          return `${whole}${decimal}${String(cents % 100).padStart(2, '0')}${mark}`
        }
        const rows = orders.flatMap((items, index) =>
          items.map(({ product, quantity, cents }, at) => [
            `#${index}`,
            at === 0 ? `c${index}@example.com` : '',
            product,
            String(quantity),
            write(cents),
          ]),
        )
        const shuffled = rows.toSorted(
          (a, b) => ((a.join().length * 31 + seed) % 7) - ((b.join().length * 17 + seed) % 7),
        )
        const read = new Map(ordersOf(shuffled).map(({ order }) => [order?.external_id, order]))
        const expected = (items: (typeof orders)[number]) =>
          items.map(({ product, quantity, cents }) => `${product} ${quantity} ${cents}`).toSorted()
        for (const [index, items] of orders.entries()) {
          const order = read.get(`#${index}`)
          const found = order?.items.map((one) => `${one.product} ${one.quantity} ${one.unit_price_minor}`).toSorted()
          expect(found).toEqual(expected(items))
          expect(order?.customer.email).toBe(`c${index}@example.com`)
        }
        expect(read.size).toBe(orders.length)
      }),
      { numRuns: 100 },
    )
  })
})

describe('products', () => {
  const tuple = (product: string, variant: string | null = null) => ({ product, variant, location: null, options: [] })
  const known = [
    {
      id: 'p1',
      name: 'Dagsbillet',
      variants: [
        { id: 'v1', name: 'Voksen' },
        { id: 'v2', name: 'Barn' },
      ],
    },
    { id: 'p2', name: 'Camping', variants: [] },
    { id: 'p3', name: 'camping', variants: [] },
  ]

  it('are counted without regard to case, accents and punctuation, in any number of parts', () => {
    const one = countTuples([tuple('Entrée'), tuple('ENTREE!'), tuple('Camping', 'Large')])
    const other = countTuples([tuple('entree'), tuple('Parking')])
    expect([...mergeTuples(one, other).values()].map(({ product, rows }) => [product, rows])).toEqual([
      ['Entrée', 3],
      ['Camping', 1],
      ['Parking', 1],
    ])
    expect([...one.values()].map(({ rows }) => rows)).toEqual([2, 1])
  })

  it.each([
    [tuple('DAGSBILLET'), ['map', 'p1', null]],
    [tuple('Dagsbillet', 'voksen'), ['map', 'p1', 'v1']],
    [tuple('Dagsbillet - Barn'), ['map', 'p1', 'v2']],
    [tuple('Dagsbillet', 'Senior'), ['create', 'p1', null]],
    [tuple('Camping'), ['create', null, null]],
    [tuple('Parkering'), ['create', null, null]],
  ])('%j are suggested as %j', (named, expected) => {
    const { action, product_id, variant_id } = suggestProduct(named, known)
    expect([action, product_id, variant_id]).toEqual(expected)
  })
})
