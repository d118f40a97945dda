import { expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { type DecidedOrder, toWireOrder } from '../../src/domain/data-imports/mapping/index.ts'
import { currencies, maxAmountMinor } from '../../src/domain/money.ts'
import { itemStatuses } from '../../src/domain/orders/external-orders.ts'
import { orderStatuses } from '../../src/domain/orders/orders.ts'
import { checkExternalOrder } from '../../src/modules/data-imports/external-orders/external-order-contract.ts'
import { plainOrder } from '../../src/modules/data-imports/external-orders/plain-order.ts'
import * as fc from 'fast-check'

const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null })

interface Values {
  texts: fc.Arbitrary<string>
  addresses: fc.Arbitrary<string>
  phones: fc.Arbitrary<string>
  fullNames: fc.Arbitrary<string>
  amounts: fc.Arbitrary<number>
  quantities: fc.Arbitrary<number>
  times: fc.Arbitrary<number>
  flags: fc.Arbitrary<Record<string, boolean>>
  metadata: fc.Arbitrary<Record<string, string>>
}

const person = ({ texts, addresses, fullNames }: Values) => ({
  first_name: orNull(texts),
  last_name: orNull(texts),
  full_name: orNull(fullNames),
  email: orNull(addresses),
})

function itemOf(values: Values): fc.Arbitrary<DecidedOrder['items'][number]> {
  const { texts, amounts, quantities, times } = values
  const item = fc.record({
    line: fc.constant(2),
    product: texts,
    variant: orNull(texts),
    location: orNull(texts),
    options: fc.array(texts, { maxLength: 22 }),
    quantity: quantities,
    deposit_minor: amounts,
    handling_fee_minor: amounts,
    vendor_code: orNull(texts),
    status: orNull(fc.constantFrom(...itemStatuses)),
    valid_until: orNull(times),
    user: orNull(fc.record(person(values))),
  })
  const prices = fc.oneof(
    { weight: 9, arbitrary: fc.record({ unit_price_minor: amounts, line_total_minor: fc.constant(null) }) },
    { weight: 9, arbitrary: fc.record({ unit_price_minor: fc.constant(null), line_total_minor: amounts }) },
    { weight: 1, arbitrary: fc.record({ unit_price_minor: amounts, line_total_minor: amounts }) },
  )
  return fc.tuple(item, prices).map(([one, price]) => ({ ...one, ...price }))
}

function orderOf(values: Values): fc.Arbitrary<DecidedOrder> {
  const { texts, amounts, times, phones } = values
  return fc.record({
    lines: fc.constant([2]),
    external_id: texts,
    order_number: orNull(texts),
    status: fc.constantFrom(...orderStatuses),
    created_at: orNull(times),
    currency: fc.constantFrom(...currencies),
    customer: fc.record({
      ...person(values),
      phone_number: orNull(phones),
      locale: orNull(fc.constantFrom(...languages)),
    }),
    items: fc.array(itemOf(values), { maxLength: 4 }),
    service_fee_minor: amounts,
    discount_minor: amounts,
    refunded_minor: orNull(amounts),
    amount_minor: orNull(amounts),
    coupon_code: orNull(texts),
    payment: orNull(
      fc.record({ service: fc.constantFrom('import' as const, 'stripe' as const), reference: orNull(texts) }),
    ),
    consents: values.flags,
    metadata: values.metadata,
  })
}

const manyOf = (length: number) => 'n'.repeat(length)

const usual: Values = {
  texts: fc.constantFrom('Day', ' Lejr, stor ', manyOf(16)),
  addresses: fc.constantFrom('a@example.com', ' Ægir@Example.dk '),
  phones: fc.constantFrom('32123456', ' +45 32 12 34 56 '),
  fullNames: fc.constantFrom('Ægir Holm'),
  amounts: fc.nat(5_000_000),
  quantities: fc.integer({ min: 1, max: 20 }),
  times: fc.integer({ min: 0, max: Date.parse('2100-01-01') }),
  flags: fc.dictionary(fc.constantFrom('news', 'sms'), fc.boolean(), { noNullPrototype: true }),
  metadata: fc.dictionary(fc.constantFrom('seat', 'gate'), fc.constantFrom('A-17', ''), { noNullPrototype: true }),
}

/** At and beyond the limits of a field. */
const texts = [
  '',
  ' ',
  ' a ',
  '\u0000',
  '\ud800',
  ...[16, 17, 64, 65, 128, 129, 200, 201, 255, 256, 320, 600].map(manyOf),
]
const addresses = ['', ' ', 'a@', '.a@example.com', 'A@b.dk', `${manyOf(250)}@example.com`, `  ${manyOf(300)}@b.dk`]
const amounts = [0, -0, -1, 0.5, 1e-9, 33_333, maxAmountMinor, maxAmountMinor + 1, Number.NaN]
const quantities = [0, -1, 1, 1.5, 1000, 1001, 5000, Number.NaN]
const times = [-1, 0, 0.5, 1, '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00Z'].map((at) => +new Date(at))
const fullNames = [
  'Ægir Holm',
  'Holm, Ægir',
  'Cher',
  ...[80, 81].flatMap((most) => [manyOf(most), `a ${manyOf(most)}`, `${manyOf(most)} b`]),
]
const nothing = { email: null, first_name: null, last_name: null, full_name: null }

const required = new Set(['external_id', 'items.0.product', 'items.0.options.0'])

/** Values of one field each, by its path. */
const edges: readonly (readonly [path: string, values: readonly unknown[]])[] = [
  'external_id',
  'order_number',
  'coupon_code',
  'payment.reference',
  'customer.first_name',
  'customer.last_name',
  'customer.phone_number',
  'customer.full_name',
  'items.0.product',
  'items.0.variant',
  'items.0.location',
  'items.0.vendor_code',
  'items.0.options.0',
  'items.0.user.first_name',
  'items.0.user.last_name',
].map((path) => [path, required.has(path) ? texts : [null, ...texts]] as const)

const otherEdges: typeof edges = [
  ['customer.email', [null, ...addresses]],
  ['items.0.user.email', [null, ...addresses]],
  ['items.0.user', [null, nothing]],
  [
    'customer',
    [
      { ...nothing, phone_number: null, locale: null },
      { ...nothing, phone_number: ' ', locale: null },
    ],
  ],
  ['items.0.quantity', quantities],
  ...['service_fee_minor', 'discount_minor', 'items.0.deposit_minor', 'items.0.handling_fee_minor'].map(
    (path) => [path, amounts] as const,
  ),
  ...['amount_minor', 'refunded_minor', 'items.0.unit_price_minor', 'items.0.line_total_minor'].map(
    (path) => [path, [null, ...amounts]] as const,
  ),
  ['created_at', [null, ...times]],
  ['items.0.valid_until', [null, ...times]],
  ['items.0.options', [[], ...[20, 21].map((length) => Array.from({ length }, () => 'Vegan'))]],
  ['items', [[]]],
  ['customer.full_name', fullNames],
  ['items.0.user.full_name', fullNames],
  ['consents', [64, 65].map((length) => ({ news: true, [manyOf(length)]: false }))],
  ['consents', [JSON.parse('{ "__proto__": true }')]],
  ['metadata', [JSON.parse('{ "__proto__": "a" }'), { seat: '' }, { '': 'A-17' }, { [manyOf(65)]: 'a' }]],
  [
    'metadata',
    ['a', '"', '\u0000', '\ud800', 'Æ', '王'].flatMap((text) =>
      [600, 6000, 20_000].map((count) => ({ a: text.repeat(count) })),
    ),
  ],
]

const base: DecidedOrder = {
  lines: [2],
  external_id: 'A-1',
  order_number: '17',
  status: 'completed',
  created_at: 1_767_225_600_000,
  currency: 'dkk',
  customer: { ...nothing, email: 'a@example.com', phone_number: '32123456', locale: 'da' },
  items: [
    {
      line: 2,
      product: 'Day',
      variant: 'Adult',
      location: 'Field',
      options: ['Vegan'],
      quantity: 3,
      unit_price_minor: 1050,
      line_total_minor: null,
      deposit_minor: 0,
      handling_fee_minor: 5,
      vendor_code: 'V1',
      status: 'active',
      valid_until: 1_798_675_200_000,
      user: { ...nothing, email: 'b@example.com' },
    },
  ],
  service_fee_minor: 10,
  discount_minor: 0,
  refunded_minor: null,
  amount_minor: null,
  coupon_code: 'EARLY',
  payment: { service: 'stripe', reference: 'pi_1' },
  consents: {},
  metadata: {},
}

function withValue<Thing>(thing: Thing, path: readonly string[], value: unknown): Thing {
  const [name = '', ...rest] = path
  const copy: unknown[] | Record<string, unknown> = Array.isArray(thing) ? [...thing] : { ...(thing as object) }
  const fields = copy as Record<string, unknown>
  fields[name] = rest.length > 0 ? withValue(fields[name], rest, value) : value
  return copy as Thing
}

const expectSame = (order: DecidedOrder) => {
  const plain = plainOrder(order)
  if (plain) expect({ order: plain }).toStrictEqual(checkExternalOrder(toWireOrder(order)))
  return plain
}

it.each([...edges, ...otherEdges])(
  'an order is plain only where the contract of calls reads it so: %s',
  (path, values) => {
    expect(expectSame(base)).not.toBeNull()
    for (const value of values) expectSame(withValue(base, path.split('.'), value))
    const line = withValue(
      withValue(base, ['items', '0', 'unit_price_minor'], null),
      ['items', '0', 'line_total_minor'],
      100,
    )
    for (const value of values) expectSame(withValue(line, path.split('.'), value))
  },
)

it('an order of too many items or units is not plain', () => {
  const [item] = base.items
  if (!item) throw new Error('the order has an item')
  const sized = (length: number, quantity: number) => ({
    ...base,
    items: Array.from({ length }, () => ({ ...item, quantity })),
  })
  expect(expectSame(sized(500, 10))).not.toBeNull()
  expect(expectSame(sized(501, 1))).toBeNull()
  expect(expectSame(sized(5, 1000))).not.toBeNull()
  expect(expectSame(sized(6, 1000))).toBeNull()
})

it('an order of random values is read as the contract of calls reads it', () => {
  fc.assert(fc.property(orderOf(usual), (order) => void expectSame(order)))
})

it('an order is plain that has a customer and items with prices', () => {
  fc.assert(
    fc.property(orderOf(usual), (order) => {
      const { customer, items } = order
      const isUsual =
        items.length > 0 &&
        items.every(
          ({ options, unit_price_minor, line_total_minor }) =>
            options.length <= 20 && (unit_price_minor === null) !== (line_total_minor === null),
        ) &&
        (customer.email ?? customer.phone_number) !== null
      expect(plainOrder(order) !== null).toBe(isUsual)
    }),
  )
})
