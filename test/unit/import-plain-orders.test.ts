import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { type DecidedOrder, toWireOrder } from '../../src/domain/data-imports/mapping/index.ts'
import { currencies, maxAmountMinor } from '../../src/domain/money.ts'
import { itemStatuses } from '../../src/domain/orders/external-orders.ts'
import { orderStatuses } from '../../src/domain/orders/orders.ts'
import { checkExternalOrder, plainOrder } from '../../src/modules/data-imports/external-orders/index.ts'

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

/** Each with values at and beyond a limit, which make some orders ones that the contract refuses. */
const any: Values = {
  texts: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('Day', ' Lejr, stor ', 'Ægir', '1') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', ...[16, 17, 64, 65, 128, 129, 200, 201, 255, 256].map(manyOf)) },
  ),
  addresses: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a@example.com', ' Ægir@Example.dk ') },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', 'a@', '.a@example.com', `${manyOf(254)}@example.com`) },
  ),
  phones: fc.constantFrom('', ' ', '32123456', ' +45 32 12 34 56 ', manyOf(40)),
  fullNames: fc.constantFrom('', 'Ægir Holm', manyOf(500)),
  amounts: fc.oneof(
    { weight: 6, arbitrary: fc.nat(5_000_000) },
    { weight: 1, arbitrary: fc.constantFrom(0, -0, -1, 0.5, maxAmountMinor, maxAmountMinor + 1, Number.NaN) },
  ),
  quantities: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 20 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, -1, 1.5, 1000, 1001) },
  ),
  times: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: Date.parse('2100-01-01') }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(-1, Date.parse('9999-12-31T23:59:59.999Z'), Date.parse('+010000-01-01T00:00:00Z')),
    },
  ),
  flags: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant({ news: true }) }),
  metadata: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constant({ seat: 'A-17' }) },
  ),
}

it('an order that is plain is as the contract of calls reads it', () => {
  fc.assert(
    fc.property(orderOf(any), (order) => {
      const plain = plainOrder(order)
      if (plain) expect({ order: plain }).toStrictEqual(checkExternalOrder(toWireOrder(order)))
    }),
    { numRuns: 3000 },
  )
})

const usual: Values = {
  texts: fc.constantFrom('Day', ' Lejr, stor ', manyOf(16)),
  addresses: fc.constantFrom('a@example.com', ' Ægir@Example.dk '),
  phones: fc.constantFrom('32123456', ' +45 32 12 34 56 '),
  fullNames: fc.constantFrom('Ægir Holm'),
  amounts: fc.nat(5_000_000),
  quantities: fc.integer({ min: 1, max: 20 }),
  times: fc.integer({ min: 0, max: Date.parse('2100-01-01') }),
  flags: fc.constant({}),
  metadata: fc.constant({}),
}

it('an order is plain that has a customer, items and no full names', () => {
  fc.assert(
    fc.property(orderOf(usual), (order) => {
      const { customer, items } = order
      const people = [customer, ...items.flatMap(({ user }) => user ?? [])]
      const isUsual =
        items.length > 0 &&
        items.every(
          ({ options, unit_price_minor, line_total_minor }) =>
            options.length <= 20 && (unit_price_minor === null) !== (line_total_minor === null),
        ) &&
        (customer.email ?? customer.phone_number) !== null &&
        people.every(({ full_name }) => full_name === null)
      expect(plainOrder(order) !== null).toBe(isUsual)
    }),
  )
})
