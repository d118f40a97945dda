import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { sumRefundedAndReserved } from '../../src/domain/data-imports/imported-amounts.ts'
import type { ExternalItem, ExternalOrder, ItemStatus } from '../../src/domain/orders/external-orders.ts'
import { orderLifecycle, orderStatuses, type OrderStatus } from '../../src/domain/orders/orders.ts'
import { decideOrderGroup } from '../../src/modules/order-import/decide.ts'
import type { DecisionContext, ImportEdition } from '../../src/modules/order-import/writes.ts'
import { ImportedTables } from '../support/imported-state.ts'

const edition = {
  id: 'edt_1',
  organization_id: 'org_1',
  currency: 'dkk',
  tax_type: 'vat',
  default_price_tax_rate: 25,
  default_language: 'en',
  merchant_account_id: null,
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
  vendor_code?: string | null
  uses_limit?: number
}

const arbitraryItem: fc.Arbitrary<GivenItem> = fc.record({
  product: fc.constantFrom('A', 'B'),
  quantity: fc.integer({ min: 1, max: 3 }),
  price_minor: fc.constantFrom(0, 333, 1000),
  status: fc.constantFrom<(ItemStatus | null)[]>(null, null, 'cancelled', 'pending', 'active'),
  email: fc.constantFrom(null, null, 'one@example.dk', 'two@example.dk'),
  vendor_code: fc.constantFrom(null, null, 'X', 'Y'),
  uses_limit: fc.constantFrom(1, 1, 1, 2),
})
interface Step {
  id: string
  status: OrderStatus
  items: GivenItem[]
  customer: string
  refunded_minor: number | null
  used: number[]
  reserved_minor: number
  discount_minor: number
}

const arbitraryStep: fc.Arbitrary<Step> = fc.record({
  id: fc.constantFrom('1', '2'),
  status: fc.constantFrom(...orderStatuses),
  items: fc.array(arbitraryItem, { minLength: 1, maxLength: 4 }),
  customer: fc.constantFrom('one@example.dk', 'buyer@example.dk'),
  refunded_minor: fc.option(fc.constantFrom(0, 500, 1000), { freq: 2 }),
  /** Purchases that are used before this import, by their number. */
  used: fc.array(fc.nat(8), { maxLength: 2 }),
  /** The amount that is reserved for refunds before this import. */
  reserved_minor: fc.constantFrom(0, 0, 0, 300),
  discount_minor: fc.constantFrom(0, 0, 100, 1001, 1340),
})

const buildItem = (
  { email, vendor_code = null, uses_limit = 1, ...item }: GivenItem,
  position: number,
): ExternalItem => ({
  ...item,
  position,
  variant: null,
  location: null,
  options: [],
  deposit_minor: 0,
  handling_fee_minor: 7,
  vendor_code,
  uses_limit,
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

const buildOrder = (step: Step): ExternalOrder => ({
  external_id: step.id,
  order_number: null,
  status: step.status,
  created_at: null,
  currency: 'dkk',
  customer: person(step.customer),
  items: step.items.map(buildItem),
  service_fee_minor: 100,
  discount_minor: step.discount_minor,
  coupon_code: null,
  amount_minor: null,
  refunded_minor: step.refunded_minor,
  payment: null,
  consents: {},
  metadata: {},
})

/** Counts each text. */
const countTexts = (texts: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

function useSome(tables: ImportedTables, numbers: readonly number[]): void {
  const active = [...tables.purchases.values()].filter(({ status }) => status === 'active')
  for (const number of numbers) {
    const row = active[number]
    if (row) tables.setPurchase(row.id, { status: 'used', uses_count: row.uses_limit })
  }
}

/** Predicts the units of an order that are not cancelled, by product, and by holder if the import names one. */
function predictUnits({ status, items }: ExternalOrder) {
  const live = status === 'cancelled' ? [] : items.filter((item) => item.status !== 'cancelled')
  const units = live.flatMap((unit) => Array.from({ length: unit.quantity }, () => unit))
  return {
    units: countTexts(units.map((unit) => unit.product)),
    held: countTexts(units.flatMap((unit) => (unit.holder ? [`${unit.product} ${unit.holder.email}`] : []))),
    codes: countTexts(units.map((unit) => unit.vendor_code ?? '')),
  }
}

function countUnits(tables: ImportedTables, orderId: string, isMeant: (status: string) => boolean) {
  const names = new Map([...tables.state().products.values()].map(({ id, name }) => [id, name]))
  const rows = tables.purchasesOf(orderId).filter(({ status }) => isMeant(status))
  const thing = (row: (typeof rows)[number]) => names.get(row.product_id) ?? ''
  return {
    units: countTexts(rows.map(thing)),
    held: countTexts(rows.map((row) => `${thing(row)} ${tables.users.get(row.user_id)?.email}`)),
    codes: countTexts(rows.flatMap((row) => row.vendor_code ?? [])),
  }
}

/** Checks what must hold for an order after each import that was not refused. */
function expectSound(
  tables: ImportedTables,
  order: ExternalOrder,
  before: { taken: number; refunded: number; amount: number | undefined },
) {
  const row = tables.state().orders.get(order.external_id)
  const payment = row && tables.payments.get(row.id)
  if (!row || !payment) throw new Error('the order is not there')
  const wanted = predictUnits(order)
  const live = countUnits(tables, row.id, (status) => status !== 'cancelled')
  const unused = countUnits(tables, row.id, (status) => status !== 'cancelled' && status !== 'used')
  for (const [unit, count] of wanted.units) expect(live.units.get(unit) ?? 0).toBeGreaterThanOrEqual(count)
  // Purchases beyond the wanted units are all used.
  for (const [unit, count] of unused.units) expect(count).toBeLessThanOrEqual(wanted.units.get(unit) ?? 0)
  for (const [unit, count] of wanted.held) expect(live.held.get(unit) ?? 0).toBeGreaterThanOrEqual(count)
  const sumOf = (items: readonly ExternalItem[]) =>
    items.reduce((sum, item) => sum + item.quantity * (item.price_minor + item.handling_fee_minor), 0)
  const counting = order.items.filter((item) => item.status !== 'cancelled')
  const isWhole =
    (order.status === 'cancelled' && counting.length === 0) || Math.max(before.taken, order.refunded_minor ?? 0) > 0
  const listed = sumOf(isWhole || sumOf(counting) + 100 < order.discount_minor ? order.items : counting)
  expect(row.amount_minor).toBe(listed + 100 - order.discount_minor)
  expect(payment.refunded_minor).toBeGreaterThanOrEqual(before.refunded)
  expect(sumRefundedAndReserved(payment)).toBeLessThanOrEqual(payment.amount_minor)
  expect(row.amount_minor).toBeGreaterThanOrEqual(before.taken)
  const isFrozen = before.taken > 0
  if (payment.status !== 'cancelled' && !isFrozen) expect(payment.amount_minor).toBe(row.amount_minor)
  if (isFrozen) expect(payment.amount_minor).toBe(before.amount)
  const bought = tables.purchasesOf(row.id)
  const paid = bought.reduce((sum, purchase) => sum + purchase.price_minor + purchase.handling_fee_minor, 0)
  if (!isFrozen) expect(paid).toBe(Math.max(0, listed - order.discount_minor))
  for (const purchase of bought)
    expect(Math.min(purchase.price_minor, purchase.handling_fee_minor)).toBeGreaterThanOrEqual(0)
  expect(payment.status === 'partially_refunded' || payment.status === 'refunded').toBe(payment.refunded_minor > 0)
}

/** A code that exists admits as many people as the order says, or as many as have already entered. */
function expectSafeCodes(tables: ImportedTables, order: ExternalOrder): void {
  if (order.items.every((item) => item.vendor_code === null)) return
  const id = tables.state().orders.get(order.external_id)?.id ?? ''
  const { codes } = predictUnits(order)
  const used = countUnits(tables, id, (status) => status === 'used')
  for (const [code, count] of countUnits(tables, id, (status) => status !== 'cancelled').codes) {
    const most = (codes.get(code) ?? 0) + (codes.get('') ?? 0)
    expect(count).toBeLessThanOrEqual(Math.max(most, used.codes.get(code) ?? 0))
  }
}

const toOneHolder = (step: Step): Step => ({
  ...step,
  customer: 'buyer@example.dk',
  items: step.items.map((item) => ({ ...item, email: null })),
})

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
  discount_minor: 0,
  ...changes,
})

/** Sequences of imports whose repetition once changed holders or cancelled a valid ticket. */
const onceUnstable: [Step[], boolean][] = [
  [
    [
      importOf({ items: [ticket(null), ticket('two@example.dk')] }),
      importOf({
        status: 'cancelled',
        items: [ticket('one@example.dk'), { ...ticket(null), price_minor: 0 }],
        used: [0],
      }),
    ],
    false,
  ],
  [
    [
      importOf({ customer: 'buyer@example.dk', items: [ticket('one@example.dk'), ticket(null)] }),
      importOf({ items: [ticket('one@example.dk'), { ...ticket(null), price_minor: 0 }], used: [1] }),
    ],
    false,
  ],
]

it('orders, units, statuses, holders and amounts agree with a model, after any imports', () => {
  fc.assert(
    fc.property(fc.array(arbitraryStep, { minLength: 1, maxLength: 6 }), fc.boolean(), (steps, hasOneHolder) => {
      const tables = new ImportedTables()
      for (const step of hasOneHolder ? steps.map(toOneHolder) : steps) {
        useSome(tables, step.used)
        const order = buildOrder(step)
        const existingOrder = tables.state().orders.get(step.id)
        if (existingOrder) tables.reserve(existingOrder.id, step.reserved_minor)
        const payment = existingOrder && tables.payments.get(existingOrder.id)
        const before = {
          taken: payment ? sumRefundedAndReserved(payment) : 0,
          refunded: payment?.refunded_minor ?? 0,
          amount: payment?.amount_minor,
        }
        const numbered = { index: 0, path: ['orders', 0], order }
        const first = decideOrderGroup(context, 'update', tables.state(), [numbered])
        const [outcome] = first.outcomes
        if (outcome?.action === 'error') {
          expect(first.writes).toEqual([])
          expect(outcome.errors.length).toBeGreaterThan(0)
          const from = existingOrder?.status ?? order.status
          if (from !== order.status && !orderLifecycle.allows(from, order.status))
            expect(outcome.errors[0]?.code).toBe('invalid_transition')
          continue
        }
        tables.apply(first.writes)
        expectSound(tables, order, before)
        if (hasOneHolder) expectSafeCodes(tables, order)
        // The same import again changes nothing.
        const secondDecision = decideOrderGroup(context, 'update', tables.state(), [numbered])
        expect(secondDecision.changes).toEqual([])
        expect(secondDecision.outcomes).toMatchObject([{ action: 'skipped', errors: [] }])
        expect(secondDecision.writes).toEqual([])
      }
    }),
    { numRuns: 400, examples: onceUnstable },
  )
})

it('a decision does not change the state and the orders that it receives', () => {
  fc.assert(
    fc.property(arbitraryStep, arbitraryStep, (one, other) => {
      const tables = new ImportedTables()
      const numberStep = (step: Step, index: number) => ({ index, path: [], order: buildOrder(step) })
      tables.apply(decideOrderGroup(context, 'update', tables.state(), [numberStep(one, 0)]).writes)
      const state = tables.state()
      const before = structuredClone(state)
      const group = [numberStep(one, 0), { ...numberStep(other, 1), order: { ...buildOrder(other), external_id: '3' } }]
      const originalGroup = structuredClone(group)
      decideOrderGroup(context, 'update', state, group)
      expect(state).toEqual(before)
      expect(group).toEqual(originalGroup)
    }),
    { numRuns: 100 },
  )
})

it('customers of one group are one person, with all fields of their orders', () => {
  const tables = new ImportedTables()
  const base = importOf({ status: 'completed' })
  const numberCustomer = (index: number, customer: Partial<ExternalOrder['customer']>, email: string | null) => ({
    index,
    path: [],
    order: {
      ...buildOrder({ ...base, items: [{ product: 'A', quantity: 1, price_minor: 1, status: null, email }] }),
      external_id: String(index),
      customer: { ...person('a@example.dk'), ...customer },
    },
  })
  const group = [
    numberCustomer(0, { first_name: 'Ada' }, 'b@example.dk'),
    numberCustomer(1, { phone_number: '+4532123456', last_name: 'Holm' }, null),
    numberCustomer(2, { email: 'b@example.dk', last_name: 'Berg' }, 'a@example.dk'),
  ]
  const { writes } = decideOrderGroup(context, 'skip', tables.state(), group)
  tables.apply(writes)
  expect([...tables.users.values()]).toMatchObject([
    { email: 'a@example.dk', phone_number: '+4532123456', first_name: 'Ada', last_name: 'Holm' },
    { email: 'b@example.dk', first_name: 'Ida', last_name: 'Berg' },
  ])
})
