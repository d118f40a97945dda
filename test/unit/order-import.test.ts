import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ExternalItem, ExternalOrder, ItemStatus } from '../../src/domain/orders/external-orders.ts'
import { sumTakenBack } from '../../src/domain/data-imports/imported-amounts.ts'
import { orderLifecycle, orderStatuses, type OrderStatus } from '../../src/domain/orders/orders.ts'
import { decideOrderGroup } from '../../src/modules/order-import/decide.ts'
import type { DecisionContext, ImportEdition } from '../../src/modules/order-import/writes.ts'
import { ImportedTables } from '../support/imported-state.ts'

const edition = {
  id: 'edt_1',
  organization_id: 'org_1',
  tax_type: 'vat',
  default_price_tax_rate: 25,
  default_language: 'en',
} as ImportEdition

let ids = 0
const context: DecisionContext = {
  edition,
  source: 'shop',
  import_id: null,
  now: 1_800_000_000_000,
  newId: (kind) => `${kind}_${++ids}`,
}

interface GivenItem {
  product: string
  quantity: number
  price_minor: number
  status: ItemStatus | null
  email: string | null
}

const item: fc.Arbitrary<GivenItem> = fc.record({
  product: fc.constantFrom('A', 'B'),
  quantity: fc.integer({ min: 1, max: 3 }),
  price_minor: fc.constantFrom(0, 333, 1000),
  status: fc.constantFrom<(ItemStatus | null)[]>(null, null, 'cancelled', 'pending', 'active'),
  email: fc.constantFrom(null, null, 'one@example.dk', 'two@example.dk'),
})
interface Step {
  id: string
  status: OrderStatus
  items: GivenItem[]
  customer: string
  refunded_minor: number | null
  used: number[]
  reserved_minor: number
}

const step: fc.Arbitrary<Step> = fc.record({
  id: fc.constantFrom('1', '2'),
  status: fc.constantFrom(...orderStatuses),
  items: fc.array(item, { minLength: 1, maxLength: 4 }),
  customer: fc.constantFrom('one@example.dk', 'buyer@example.dk'),
  refunded_minor: fc.option(fc.constantFrom(0, 500, 1000), { freq: 2 }),
  /** Purchases that are used before it, by their number. */
  used: fc.array(fc.nat(8), { maxLength: 2 }),
  /** What is reserved for refunds of its payment before it. */
  reserved_minor: fc.constantFrom(0, 0, 0, 300),
})

const itemOf = ({ email, ...given }: GivenItem, position: number): ExternalItem => ({
  ...given,
  position,
  variant: null,
  location: null,
  options: [],
  deposit_minor: 0,
  handling_fee_minor: 7,
  vendor_code: null,
  uses_limit: 1,
  is_unlimited_use: false,
  valid_until: null,
  holder: email === null ? null : { email, first_name: 'Ida', last_name: '' },
})

const person = (email: string) => ({
  email,
  phone_number: null,
  first_name: '',
  last_name: '',
  locale: null,
  metadata: {},
})

const orderOf = (given: Step): ExternalOrder => ({
  external_id: given.id,
  order_number: null,
  status: given.status,
  created_at: null,
  currency: 'dkk',
  customer: person(given.customer),
  items: given.items.map(itemOf),
  service_fee_minor: 100,
  discount_minor: 0,
  coupon_code: null,
  amount_minor: null,
  refunded_minor: given.refunded_minor,
  payment: null,
  consents: {},
  metadata: {},
})

/** How often each text is there. */
const counts = (texts: readonly string[]) => {
  const found = new Map<string, number>()
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1)
  return found
}

function useSome(tables: ImportedTables, numbers: readonly number[]): void {
  const active = [...tables.purchases.values()].filter(({ status }) => status === 'active')
  for (const number of numbers) {
    const row = active[number]
    if (row) tables.setPurchase(row.id, { status: 'used' })
  }
}

/** What an order is to have: its units that are not cancelled, by product and price, and by holder where one is said. */
function wantedOf({ status, items }: ExternalOrder) {
  const live = status === 'cancelled' ? [] : items.filter((one) => one.status !== 'cancelled')
  const units = live.flatMap((one) => Array.from({ length: one.quantity }, () => one))
  return {
    units: counts(units.map((one) => `${one.product} ${one.price_minor}`)),
    held: counts(units.flatMap((one) => (one.holder ? [`${one.product} ${one.price_minor} ${one.holder.email}`] : []))),
  }
}

function foundOf(tables: ImportedTables, orderId: string, isMeant: (status: string) => boolean) {
  const names = new Map([...tables.state().products.values()].map(({ id, name }) => [id, name]))
  const rows = tables.purchasesOf(orderId).filter(({ status }) => isMeant(status))
  const thing = (row: (typeof rows)[number]) => `${names.get(row.product_id)} ${row.price_minor}`
  return {
    units: counts(rows.map(thing)),
    held: counts(rows.map((row) => `${thing(row)} ${tables.users.get(row.user_id)?.email}`)),
  }
}

/** What holds of an order after each import that was not refused. */
function expectSound(
  tables: ImportedTables,
  order: ExternalOrder,
  before: { taken: number; refunded: number; amount: number | undefined },
) {
  const row = tables.state().orders.get(order.external_id)
  const payment = row && tables.payments.get(row.id)
  if (!row || !payment) throw new Error('the order is not there')
  const wanted = wantedOf(order)
  const live = foundOf(tables, row.id, (status) => status !== 'cancelled')
  const unused = foundOf(tables, row.id, (status) => status !== 'cancelled' && status !== 'used')
  for (const [unit, count] of wanted.units) expect(live.units.get(unit) ?? 0).toBeGreaterThanOrEqual(count)
  // Beyond what is wanted there are used purchases alone.
  for (const [unit, count] of unused.units) expect(count).toBeLessThanOrEqual(wanted.units.get(unit) ?? 0)
  for (const [unit, count] of wanted.held) expect(live.held.get(unit) ?? 0).toBeGreaterThanOrEqual(count)
  const sumOf = (items: readonly ExternalItem[]) =>
    items.reduce((sum, one) => sum + one.quantity * (one.price_minor + one.handling_fee_minor), 100)
  const counting = order.items.filter((one) => one.status !== 'cancelled')
  const isWhole =
    (order.status === 'cancelled' && counting.length === 0) || Math.max(before.taken, order.refunded_minor ?? 0) > 0
  expect(row.amount_minor).toBe(sumOf(isWhole ? order.items : counting))
  expect(payment.refunded_minor).toBeGreaterThanOrEqual(before.refunded)
  expect(sumTakenBack(payment)).toBeLessThanOrEqual(payment.amount_minor)
  expect(row.amount_minor).toBeGreaterThanOrEqual(before.taken)
  const isFrozen = before.taken > 0
  if (payment.status !== 'cancelled' && !isFrozen) expect(payment.amount_minor).toBe(row.amount_minor)
  if (isFrozen) expect(payment.amount_minor).toBe(before.amount)
  expect(payment.status === 'partially_refunded' || payment.status === 'refunded').toBe(payment.refunded_minor > 0)
}

const ticket = (email: string | null): GivenItem => ({
  product: 'A',
  quantity: 1,
  price_minor: 1000,
  status: null,
  email,
})
const importOf = (changes: Partial<Step>): Step => ({
  id: '2',
  status: 'confirmed',
  items: [],
  customer: 'one@example.dk',
  refunded_minor: null,
  used: [],
  reserved_minor: 0,
  ...changes,
})

/** Sequences of imports whose repetition once changed holders or cancelled a valid ticket. */
const onceUnstable: [Step[]][] = [
  [
    [
      importOf({ items: [ticket(null), ticket('two@example.dk')] }),
      importOf({
        status: 'cancelled',
        items: [ticket('one@example.dk'), { ...ticket(null), price_minor: 0 }],
        used: [0],
      }),
    ],
  ],
  [
    [
      importOf({ customer: 'buyer@example.dk', items: [ticket('one@example.dk'), ticket(null)] }),
      importOf({ items: [ticket('one@example.dk'), { ...ticket(null), price_minor: 0 }], used: [1] }),
    ],
  ],
]

it('orders, units, statuses, holders and amounts agree with a model, after any imports', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      const tables = new ImportedTables()
      for (const given of steps) {
        useSome(tables, given.used)
        const order = orderOf(given)
        const known = tables.state().orders.get(given.id)
        if (known) tables.reserve(known.id, given.reserved_minor)
        const payment = known && tables.payments.get(known.id)
        const before = {
          taken: payment ? sumTakenBack(payment) : 0,
          refunded: payment?.refunded_minor ?? 0,
          amount: payment?.amount_minor,
        }
        const numbered = { index: 0, path: ['orders', 0], order }
        const first = decideOrderGroup(context, 'update', tables.state(), [numbered])
        const [outcome] = first.outcomes
        if (outcome?.action === 'error') {
          expect(first.writes).toEqual([])
          expect(outcome.errors.length).toBeGreaterThan(0)
          const from = known?.status ?? order.status
          if (from !== order.status && !orderLifecycle.allows(from, order.status))
            expect(outcome.errors[0]?.code).toBe('invalid_transition')
          continue
        }
        tables.apply(first.writes)
        expectSound(tables, order, before)
        // The same import again finds everything as it is to be.
        const again = decideOrderGroup(context, 'update', tables.state(), [numbered])
        expect(again.changes).toEqual([])
        expect(again.outcomes).toMatchObject([{ action: 'skipped', errors: [] }])
        expect(again.writes).toEqual([])
      }
    }),
    { numRuns: 400, examples: onceUnstable },
  )
})

it('a decision does not change the state and the orders that it receives', () => {
  fc.assert(
    fc.property(step, step, (one, other) => {
      const tables = new ImportedTables()
      const numbered = (given: Step, index: number) => ({ index, path: [], order: orderOf(given) })
      tables.apply(decideOrderGroup(context, 'update', tables.state(), [numbered(one, 0)]).writes)
      const state = tables.state()
      const before = structuredClone(state)
      const group = [numbered(one, 0), { ...numbered(other, 1), order: { ...orderOf(other), external_id: '3' } }]
      const given = structuredClone(group)
      decideOrderGroup(context, 'update', state, group)
      expect(state).toEqual(before)
      expect(group).toEqual(given)
    }),
    { numRuns: 100 },
  )
})

it('customers of one group are one person each, with all fields of their orders', () => {
  const tables = new ImportedTables()
  const base = importOf({ status: 'completed' })
  const numbered = (index: number, customer: Partial<ExternalOrder['customer']>, email: string | null) => ({
    index,
    path: [],
    order: {
      ...orderOf({ ...base, items: [{ product: 'A', quantity: 1, price_minor: 1, status: null, email }] }),
      external_id: String(index),
      customer: { ...person('a@example.dk'), ...customer },
    },
  })
  const group = [
    numbered(0, { first_name: 'Ada' }, 'b@example.dk'),
    numbered(1, { phone_number: '+4532123456', last_name: 'Holm' }, null),
    numbered(2, { email: 'b@example.dk', last_name: 'Berg' }, 'a@example.dk'),
  ]
  const { writes } = decideOrderGroup(context, 'skip', tables.state(), group)
  tables.apply(writes)
  expect([...tables.users.values()]).toMatchObject([
    { email: 'a@example.dk', phone_number: '+4532123456', first_name: 'Ada', last_name: 'Holm' },
    { email: 'b@example.dk', first_name: 'Ida', last_name: 'Berg' },
  ])
})
