import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countTuples,
  decideRow,
  mergeTuples,
  indexProducts,
  suggestProduct,
  mapOrder,
  toWireOrder,
  type PlacedRow,
} from '../../src/domain/data-imports/mapping/index.ts'
import type { OrderOptions } from '../../src/domain/data-imports/mapping/rows/order.ts'
import { prepare } from '../support/import-mapping/prepared.ts'
import { buildKey, addDate } from '../support/import-mapping/read-file.ts'

const options: OrderOptions = {
  group_by: 'external_id',
  default_currency: 'dkk',
  default_status: 'completed',
  row_key: 'row-1',
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
const mappings = addDate(targets.map((target, index) => ({ target, columns: [index] })))

function buildOrders(rows: readonly (readonly string[])[], changes: Partial<OrderOptions> = {}) {
  const all = { ...options, ...changes }
  const { readers } = prepare(mappings, rows, all.group_by)
  const placed = rows.map((cells, index): PlacedRow => ({ ...decideRow(readers, cells), line: index + 2 }))
  return [...Map.groupBy(placed, (row) => buildKey(row, all.group_by)).values()].map((ofOrder) =>
    mapOrder(ofOrder, all),
  )
}

describe('the rows of an order', () => {
  it('need not be adjacent, and inherit blank cells', () => {
    const [a, b] = buildOrders([
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

  const people = [
    'order.external_id',
    'customer.email',
    'customer.full_name',
    'item.product',
    'item.unit_price',
    'order.metadata.food',
    'item.user.full_name',
  ].map((target, index) => ({ target, columns: [index] }))
  const buildOrder = (rows: readonly (readonly string[])[]) => {
    const { readers } = prepare(addDate(people), rows, 'external_id')
    return mapOrder(
      rows.map((cells, index): PlacedRow => ({ ...decideRow(readers, cells), line: index + 2 })),
      options,
    )
  }

  it('may have a holder for each ticket in the columns of the buyer, who is in the first row', () => {
    const { order, errors, warnings } = buildOrder([
      ['A', 'ane@example.com', 'Ane Holm', 'Day', '10', 'vegan', ''],
      ['A', 'bo@example.com', 'Bo Dahl', 'Day', '10', 'fish', ''],
      ['A', 'ane@example.com', 'Ida Lund', 'Day', '10', 'vegan', ''],
      ['A', '', '', 'Day', '10', '', ''],
    ])
    expect(errors).toEqual([])
    expect(order?.customer).toMatchObject({ email: 'ane@example.com', full_name: 'Ane Holm' })
    expect(order?.items.map(({ user }) => user && [user.email, user.full_name])).toEqual([
      ['ane@example.com', 'Ane Holm'],
      ['bo@example.com', 'Bo Dahl'],
      [null, 'Ida Lund'],
      null,
    ])
    expect(order?.metadata).toEqual({ food: 'vegan, fish' })
    expect(warnings.map(({ row, code }) => `${row} ${code}`)).toEqual([
      '3 several_customers',
      '3 several_customers',
      '4 several_customers',
    ])
  })

  it('may have the addresses of ticket holders in the column of the buyer and their names in another', () => {
    const { order } = buildOrder([
      ['A', 'ane@example.com', '', 'Day', '10', '', 'Ane Holm'],
      ['A', 'bo@example.com', '', 'Day', '10', '', 'Bo Dahl'],
    ])
    expect(order?.items.map(({ user }) => user && [user.email, user.full_name])).toEqual([
      ['ane@example.com', 'Ane Holm'],
      ['bo@example.com', 'Bo Dahl'],
    ])
  })

  it('keep the value of their order when a default replaces the blank cells of other rows', () => {
    const rows = [
      ['A', 'a@example.com', 'Day', '10', ''],
      ['A', '', 'Camping', '10', 'completed'],
      ['B', 'b@example.com', 'Day', '10', ''],
    ]
    const filled = ['order.external_id', 'customer.email', 'item.product', 'item.unit_price', 'order.status'].map(
      (target, index) => ({ target, columns: [index], ...(index === 4 ? { default_value: 'pending' } : {}) }),
    )
    const { readers } = prepare(addDate(filled), rows, 'external_id')
    const placed = rows.map((cells, index): PlacedRow => ({ ...decideRow(readers, cells), line: index + 2 }))
    expect(mapOrder(placed.slice(0, 2), options)).toMatchObject({ errors: [], order: { status: 'completed' } })
    expect(mapOrder(placed.slice(2), options)).toMatchObject({ errors: [], order: { status: 'pending' } })
  })

  it('get a warning when their metadata is too long together', () => {
    const { order, errors, warnings } = buildOrder([
      ['A', 'a@example.com', '', 'Day', '10', 'x'.repeat(900), ''],
      ['A', '', '', 'Day', '10', 'y'.repeat(200), ''],
      ['A', '', '', 'Day', '10', 'z', ''],
    ])
    expect(errors).toEqual([])
    expect(order?.metadata).toEqual({ food: `${'x'.repeat(900)}, z` })
    expect(warnings).toMatchObject([{ row: 3, code: 'metadata_cut' }])
    expect(order?.items.map(({ user }) => user)).toEqual([null, null, null])
  })

  it('make an error with the line when they contradict each other', () => {
    const [decision] = buildOrders([
      ['A', 'a@example.com', 'Day', '2', '10', '', '', 'DKK'],
      ['A', 'a@example.com', 'Day', '1', '10', '', '', 'EUR'],
    ])
    expect(decision?.order).toBeNull()
    expect(decision?.errors).toMatchObject([
      { row: 3, target_field: 'order.currency', code: 'inconsistent_order', value: 'eur' },
    ])
  })

  it('make an error each when they are wrong, and every error is listed once', () => {
    const [decision] = buildOrders([
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
  ])('make an order with the status of its tickets: %j is %s', (statuses, expected) => {
    const rows = statuses.map((status) => ['A', 'a@example.com', 'Day', '1', '10', '', status])
    expect(buildOrders(rows)[0]?.order?.status).toBe(expected)
  })

  it.each([
    ['€ 10', '', 'eur'],
    ['10 kr.', '', 'dkk'],
    ['10 kr.', 'SEK', 'sek'],
    ['10', 'kr', 'dkk'],
    ['€ 10', 'DKK', null],
  ])('make an order in the currency of its amounts: %s in "%s" is %s', (price, currency, expected) => {
    expect(buildOrders([['A', 'a@example.com', 'Day', '1', price, '', '', currency]])[0]?.order?.currency ?? null).toBe(
      expected,
    )
  })

  it('make the order that an API call would make', () => {
    const [decision] = buildOrders([
      ['A', 'a@example.com', 'Day', '2', '10,50', 'Betalt', '', 'DKK'],
      ['A', '', 'Camping', '3', '', '', 'storniert', '', '100'],
    ])
    expect(decision?.order && toWireOrder(decision.order)).toEqual({
      external_id: 'A',
      status: 'completed',
      created: '2026-01-04T23:00:00.000Z',
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

  it('are refused in a currency other than the import’s', () => {
    const [decision] = buildOrders([['A', 'a@example.com', 'Day', '1', '10 kr.']], { default_currency: 'eur' })
    expect(decision?.errors.map(({ code }) => code)).toEqual(['currency_mismatch'])
  })

  it('reduce units by negative quantities, and the others keep their price', () => {
    const rows = [
      ['A', 'a@example.com', 'Day', '3', '', '', '', '', '100,00'],
      ['A', '', 'Day', '-1', '', '', '', '', '-33,33'],
      ['A', '', 'Camping', '-2', '', '', '', '', '-10'],
    ]
    const [decision] = buildOrders(rows)
    expect(
      decision?.order?.items.map(({ quantity, line_total_minor, status }) => [quantity, line_total_minor, status]),
    ).toEqual([
      [2, 6667, null],
      [1, 3333, 'cancelled'],
    ])
    expect(decision?.warnings).toMatchObject([{ row: 4, code: 'refund_without_item' }])
  })

  it('use the total of an item when its unit price contradicts it', () => {
    const [decision] = buildOrders([['A', 'a@example.com', 'Day', '3', '33,33', '', '', '', '100']])
    expect(decision?.order?.items).toMatchObject([{ unit_price_minor: null, line_total_minor: 10_000 }])
  })

  it('are grouped by row or by address when the file has no ids', () => {
    const rows = [
      ['', 'a@example.com', 'Day', '1', '10'],
      ['', 'a@example.com', 'Day', '1', '10'],
    ]
    expect(buildOrders(rows, { group_by: 'row' }).map(({ order }) => order?.external_id)).toEqual(['row-1', 'row-1'])
    expect(buildOrders(rows, { group_by: 'email' }).map(({ order }) => order?.external_id)).toEqual(['a@example.com'])
  })

  const soldItem = fc.record({
    product: fc.constantFrom('Day ticket', 'Weekend', 'Lejr, stor'),
    quantity: fc.integer({ min: 1, max: 20 }),
    cents: fc.integer({ min: 0, max: 5_000_000 }),
  })
  const file = fc.record({
    orders: fc.array(fc.array(soldItem, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
    decimal: fc.constantFrom('.', ','),
    mark: fc.constantFrom('', ' kr.', ' DKK'),
    seed: fc.integer(),
  })

  it('are read as they were written, in any order and with blanks for repeated values', () => {
    fc.assert(
      fc.property(file, ({ orders, decimal, mark, seed }) => {
        const write = (cents: number) => {
          const units = String(Math.floor(cents / 100)).replaceAll(/\B(?=(?:\d{3})+$)/g, decimal === ',' ? '.' : ',')
          return `${units}${decimal}${String(cents % 100).padStart(2, '0')}${mark}`
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
        const read = new Map(buildOrders(shuffled).map(({ order }) => [order?.external_id, order]))
        const describeItems = (items: (typeof orders)[number]) =>
          items.map(({ product, quantity, cents }) => `${product} ${quantity} ${cents}`).toSorted()
        for (const [index, items] of orders.entries()) {
          const order = read.get(`#${index}`)
          const itemTexts = order?.items
            .map((item) => `${item.product} ${item.quantity} ${item.unit_price_minor}`)
            .toSorted()
          expect(itemTexts).toEqual(describeItems(items))
          expect(order?.customer.email).toBe(`c${index}@example.com`)
        }
        expect(read.size).toBe(orders.length)
      }),
      { numRuns: 100 },
    )
  })
})

describe('the products of a file', () => {
  const tuple = (product: string, variant: string | null = null) => ({ product, variant, location: null, options: [] })
  const products = [
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
    const some = countTuples([tuple('Entrée'), tuple('ENTREE!'), tuple('Camping', 'Large')])
    const other = countTuples([tuple('entree'), tuple('Parking')])
    expect([...mergeTuples(some, other).values()].map(({ product, rows }) => [product, rows])).toEqual([
      ['Entrée', 3],
      ['Camping', 1],
      ['Parking', 1],
    ])
    expect([...some.values()].map(({ rows }) => rows)).toEqual([2, 1])
  })

  it.each([
    [tuple('DAGSBILLET'), ['map', 'p1', null]],
    [tuple('Dagsbillet', 'voksen'), ['map', 'p1', 'v1']],
    [tuple('Dagsbillet - Barn'), ['map', 'p1', 'v2']],
    [tuple('Dagsbillet', 'Senior'), ['create', 'p1', null]],
    [tuple('Camping'), [null, null, null]],
    [tuple('Dagsbilet'), [null, null, null]],
    [tuple('Dagsbillet', 'Vokesn'), [null, 'p1', null]],
    [tuple('Dags-Billet'), [null, null, null]],
    [tuple('Parkering'), ['create', null, null]],
  ])('are matched with the catalogue: %j is %j', (named, expected) => {
    const { action, product_id, variant_id } = suggestProduct(named, indexProducts(products))
    expect([action, product_id, variant_id]).toEqual(expected)
  })
})
