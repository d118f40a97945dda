import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { get, patch, post, type Reply } from '../../support/api.ts'
import { revert, scan } from '../../support/purchases.ts'
import { actOnRefund, requestPurchaseRefund } from '../../support/refunds.ts'
import { expectSalesCounts } from '../../support/sales-counts.ts'
import { anOrder, importOrders, seedShopWithAccount, type Shop } from '../../support/seeding/sales/orders.ts'
import { undoToEnd } from '../../support/undone-imports.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

// oxlint-disable-next-line typescript/no-explicit-any -- These are answers of the API, as `Reply` has them.
type Item = any

const zones = ['UTC', 'Europe/Copenhagen', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns']

/** Two days around a change of clocks in Europe. */
const firstTime = Date.UTC(2026, 2, 28, 8)
const minutes = fc.integer({ min: 0, max: 2 * 24 * 60 })
const toTime = (minute: number): string => new Date(firstTime + minute * 60_000).toISOString()

const order = fc.record({
  id: fc.constantFrom('1', '2', '3', '4', '5'),
  status: fc.constantFrom('pending', 'confirmed', 'completed', 'completed', 'cancelled'),
  minute: minutes,
  currency: fc.constantFrom('dkk', 'dkk', 'eur'),
  product: fc.constantFrom('Day ticket', 'Camping', 'Tent'),
  quantity: fc.integer({ min: 1, max: 3 }),
  price: fc.constantFrom(0, 99.5, 225),
})
const position = fc.nat({ max: 30 })

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('import' as const),
      orders: fc.uniqueArray(order, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), at: position }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('use' as const), at: position, minute: minutes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revert' as const), at: position }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      at: position,
      decision: fc.constantFrom('approve' as const, 'reject' as const, null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), at: position }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('merge' as const), at: position }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('zone' as const), zone: fc.constantFrom(...zones) }) },
)
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never

const listAll = async (shop: Shop, path: string, query: Record<string, string> = {}): Promise<Item[]> => {
  const parameters = new URLSearchParams({ edition_id: shop.edition_id, ...query })
  if (path !== '/v1/products') parameters.set('page_size', '500')
  const { body } = await get(`${path}?${parameters.toString()}`)
  expect(body.next).toBeNull()
  return body.results
}
const pick = (items: readonly Item[], at: number): Item => items[at % Math.max(1, items.length)]

/** No request is an error of the service, although some are refused. */
const expectAnswer = ({ status, text }: Reply): void => expect(status, text).toBeLessThan(500)

/** Runs an action on what exists then. `imports` has the imports that can be undone. */
async function run(shop: Shop, imports: string[], one: Action): Promise<void> {
  switch (one.do) {
    case 'import': {
      const orders = one.orders.map(({ id, status, minute, currency, product, quantity, price }) =>
        anOrder({
          external_id: id,
          status,
          created: toTime(minute),
          currency,
          customer: { email: `buyer-${id}@example.dk` },
          items: [{ product, quantity, unit_price: price, deposit: 5 }],
        }),
      )
      const reply = await importOrders(shop, orders, { on_duplicate: 'update' })
      expectAnswer(reply)
      if (reply.body.id) imports.push(reply.body.id)
      return
    }
    case 'undo': {
      const [id] = imports.splice(one.at % Math.max(1, imports.length), 1)
      if (id) await undoToEnd(id)
      return
    }
    case 'use': {
      const purchase = pick(await listAll(shop, '/v1/purchases', { status: 'active' }), one.at)
      if (!purchase) return
      const used_at = [purchase.created, toTime(one.minute)].toSorted()[1]
      expectAnswer(await scan(purchase.id, { used_at }))
      return
    }
    case 'revert': {
      const purchase = pick(await listAll(shop, '/v1/purchases', { is_used: 'true' }), one.at)
      const use = purchase && (await get(`/v1/purchases/${purchase.id}`)).body.uses[0]
      if (use) expectAnswer(await revert(purchase.id, use.id))
      return
    }
    case 'refund': {
      const purchase = pick(await listAll(shop, '/v1/purchases'), one.at)
      if (!purchase) return
      const reply = await requestPurchaseRefund(purchase.id, { cancel_purchase: one.at % 2 === 0 })
      expectAnswer(reply)
      if (reply.status === 201 && one.decision) expectAnswer(await actOnRefund(reply.body.id, one.decision))
      return
    }
    case 'cancel': {
      const item = pick(await listAll(shop, '/v1/orders'), one.at)
      if (item) expectAnswer(await post(`/v1/orders/${item.id}/cancel`, { accept: ['used'] }))
      return
    }
    case 'merge': {
      const products = await listAll(shop, '/v1/products')
      const [from, into] = [pick(products, one.at), pick(products, one.at + 1)]
      if (from && into !== from) expectAnswer(await post(`/v1/products/${from.id}/merge`, { product_id: into.id }))
      return
    }
    case 'zone':
      expectAnswer(await patch(`/v1/editions/${shop.edition_id}`, { timezone: one.zone }))
  }
}

const keys = [
  'count',
  'amount',
  'price_paid',
  'deposit_paid',
  'handling_fee_paid',
  'requested_amount',
  'refunded_amount',
]

/** Adds up groups that have the same day, product, status and currency. */
function addUp(groups: readonly Item[]): unknown[] {
  const sums = new Map<string, Item>()
  for (const group of groups) {
    const { date, product, status, currency } = group
    const key = JSON.stringify([date ?? null, product ?? null, status ?? null, currency ?? null])
    const sum = sums.get(key) ?? {}
    // Amounts are added in minor units, as money has no fractions of them.
    for (const name of keys) if (name in group) sum[name] = Math.round(((sum[name] ?? 0) + group[name]) * 100) / 100
    sums.set(key, sum)
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** Adds up the lists of the edition by themselves. */
async function addUpLists(shop: Shop, timezone: string, groups: readonly string[]) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const toDate = (time: string): string => format.format(new Date(time))
  const [orders, purchases, refunds] = await Promise.all(
    ['/v1/orders', '/v1/purchases', '/v1/refund-requests'].map((path) => listAll(shop, path)),
  )
  const currencies = new Map((orders ?? []).map(({ id, currency }) => [id, currency]))
  const details = await Promise.all((purchases ?? []).map(async ({ id }) => (await get(`/v1/purchases/${id}`)).body))
  const dimension = ({ created, status, product }: Item) => ({
    date: groups.includes('day') ? toDate(created) : null,
    status: groups.includes('status') ? status : null,
    product: groups.includes('product') && product ? product.api_id : null,
  })
  return {
    orders: addUp((orders ?? []).map((item) => ({ ...item, ...dimension({ ...item, product: null }), count: 1 }))),
    purchases: addUp(
      (purchases ?? []).map((item) => ({
        ...item,
        ...dimension(item),
        currency: currencies.get(item.order.id),
        count: 1,
      })),
    ),
    uses: addUp(
      details.flatMap(({ uses, product }) =>
        uses
          .filter((use: Item) => use.reverted_at === null)
          .map(({ used_at, quantity }: Item) => ({
            ...dimension({ created: used_at, product }),
            status: null,
            count: quantity,
          })),
      ),
    ),
    refunds: addUp((refunds ?? []).map((item) => ({ ...item, ...dimension({ ...item, product: null }), count: 1 }))),
  }
}

const readStats = async (shop: Shop, groups: readonly string[]) => {
  const { body } = await get(`/v1/editions/${shop.edition_id}/stats?group_by=${groups.join(',')}`)
  const flatten = (items: Item[]) => addUp(items.map((item) => ({ ...item, product: item.product?.api_id ?? null })))
  const { orders, purchases, uses, refunds } = body
  return {
    timezone: body.timezone as string,
    sums: { orders: flatten(orders), purchases: flatten(purchases), uses: flatten(uses), refunds: flatten(refunds) },
  }
}

it('adds up what the lists of the edition have, whatever happens to orders', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...zones),
      fc.array(action, { minLength: 6, maxLength: 18 }),
      async (timezone, all) => {
        const shop = await seedShopWithAccount('manual')
        await patch(`/v1/editions/${shop.edition_id}`, { timezone })
        const imports: string[] = []
        for (const one of all) await run(shop, imports, one)
        for (const groups of [['day', 'product', 'status'], ['day'], ['product'], ['status']]) {
          const { timezone: zone, sums } = await readStats(shop, groups)
          expect(sums).toEqual(await addUpLists(shop, zone, groups))
        }
        await expectSalesCounts()
      },
    ),
    { numRuns: 40 },
  )
}, 300_000)
