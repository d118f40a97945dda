import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { get, post } from '../../support/api.ts'
import { importOrder, buildTicket } from '../../support/imported-orders.ts'
import { actOnBatch, workUntilDone } from '../../support/refund-batches.ts'
import { actOnRefund, payDueRefunds, requestPurchaseRefund, requestRefund } from '../../support/refunds.ts'
import { aRow } from '../../support/seeding/imports/staged-imports.ts'
import { db } from '../../support/seeding/rows.ts'
import { givenOrder, seedShop, seedShopWithAccount, type BoughtOrder } from '../../support/seeding/sales/orders.ts'
import { makeBatch } from '../../support/seeding/sales/refund-batches.ts'
import { importFile, undoToEnd } from '../../support/undone-imports.ts'

interface PurchaseView {
  id: string
  status: string
  vendor_code: string | null
  price_paid: number
  deposit_paid: number
  handling_fee_paid: number
  max_available_refund_amount: number
  available_uses: number
  product: { name: string }
}

const loadPurchases = async (order: string): Promise<PurchaseView[]> =>
  (await get(`/v1/orders/${order}`)).body.purchases

const listPrices = async (order: string) =>
  (await loadPurchases(order)).map(({ price_paid }) => price_paid).toSorted((one, other) => one - other)

const toMinor = (amount: number) => Math.round(amount * 100)
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0)

/** Refunds everything that can be refunded of a purchase. Returns the amount in minor units. */
async function refund(id: string, body: Record<string, unknown> = {}): Promise<number> {
  const reply = await requestPurchaseRefund(id, body)
  if (reply.status === 409) return 0
  expect(reply.status).toBe(201)
  expect((await actOnRefund(reply.body.id, 'approve')).status).toBe(200)
  return toMinor(reply.body.requested_amount)
}

describe('a discount', () => {
  it('lowers what each ticket cost and what its refund pays', async () => {
    const half = await givenOrder(await seedShop(), {
      items: [{ product: 'Day ticket', quantity: 2, unit_price: 100 }],
      discount: 100,
    })
    expect(await listPrices(half.order)).toEqual([50, 50])
    expect(await refund(half.purchases[0] ?? '', { cancel_purchase: true })).toBe(5000)
    expect(await refund(half.purchases[1] ?? '')).toBe(5000)
    const three = await givenOrder(await seedShop(), {
      items: [{ product: 'Day ticket', quantity: 3, unit_price: 100 }],
      discount: 30,
    })
    expect((await refund(three.purchases[0] ?? '')) + (await refund(three.purchases[1] ?? ''))).toBe(18_000)
  })

  it('is shared in proportion to the prices, to the cent', async () => {
    const bought = await givenOrder(await seedShop(), {
      items: [
        { product: 'Day ticket', quantity: 3, unit_price: 100 },
        { product: 'Parking', quantity: 1, unit_price: 50 },
      ],
      discount: 100,
    })
    expect(await listPrices(bought.order)).toEqual([35.71, 71.43, 71.43, 71.43])
  })

  it('lowers deposits, then handling fees, then the service fee when it exceeds the prices', async () => {
    const shop = await seedShop()
    const items = [{ product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 20, handling_fee: 5 }]
    const sellWithDiscount = async (discount: number) => {
      const bought = await givenOrder(shop, { items, service_fee: 10, discount })
      return (await loadPurchases(bought.order)).map((purchase) => [
        purchase.price_paid,
        purchase.deposit_paid,
        purchase.handling_fee_paid,
        purchase.max_available_refund_amount,
      ])
    }
    expect(await sellWithDiscount(220)).toEqual([
      [0, 10, 5, 10],
      [0, 10, 5, 10],
    ])
    expect(await sellWithDiscount(245)).toEqual([
      [0, 0, 2.5, 0],
      [0, 0, 2.5, 0],
    ])
    expect(await sellWithDiscount(260)).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ])
  })

  it('is not paid back by a batch, neither for one product nor for all', async () => {
    const shop = await seedShopWithAccount('manual')
    const bought = await givenOrder(shop, {
      items: [
        { product: 'Day ticket', quantity: 2, unit_price: 100 },
        { product: 'Parking', quantity: 1, unit_price: 100 },
      ],
      discount: 100,
    })
    const { product } = (await get(`/v1/purchases/${bought.purchases[0]}`)).body
    const [first, rest] = [await makeBatch(shop, { filter: { product_id: product.api_id } }), await makeBatch(shop)]
    expect(first.body.dry_run.amounts).toEqual([
      { currency: 'dkk', amount: product.name === 'Parking' ? 66.67 : 133.33 },
    ])
    expect(rest.body.dry_run.amounts).toEqual([{ currency: 'dkk', amount: 200 }])
    for (const { body } of [first, rest]) {
      await actOnBatch(body.id, 'start')
      await workUntilDone(body.id)
    }
    const { transactions } = (await get(`/v1/orders/${bought.order}`)).body
    expect(transactions[0]).toMatchObject({ status: 'refunded', amount: 200, refunded_amount: 200 })
  })
})

describe('an update of an order', () => {
  it('spreads a changed discount, and an undo restores what was paid', async () => {
    const shop = await seedShop()
    const row = aRow()
    const { orders } = await importFile(shop, [row])
    const [order = ''] = orders
    const before = await loadPurchases(order)
    const [cost = 0] = before.map(({ price_paid }) => price_paid)
    const { id } = await importFile(shop, [{ ...row, values: { ...row.values, 'order.discount': 100 } }])
    const after = await loadPurchases(order)
    expect(after.map((purchase) => purchase.id)).toEqual(before.map((one) => one.id))
    expect(toMinor(sum(after.map(({ price_paid }) => price_paid)))).toBe(
      toMinor(sum(before.map(({ price_paid }) => price_paid))) - 100,
    )
    expect(cost).toBeGreaterThan(0)
    expect(await undoToEnd(id)).toMatchObject({ undone_orders: 1, kept_orders: 0 })
    expect(await loadPurchases(order)).toEqual(
      before.map((purchase) => ({ ...purchase, modified: expect.any(String) })),
    )
  })

  it('keeps what was paid for each purchase once something was refunded', async () => {
    const shop = await seedShop()
    const items = [buildTicket({ quantity: 3 })]
    const { id, purchases } = await importOrder(shop, { items, discount: 30 })
    expect(await refund(purchases[0]?.id ?? '', { amount: 40 })).toBe(4000)
    await importOrder(shop, { items, discount: 90 })
    expect(await listPrices(id)).toEqual([90, 90, 90])
    const rest = await loadPurchases(id)
    expect(rest.map((purchase) => purchase.max_available_refund_amount).toSorted()).toEqual([50, 90, 90])
    expect(sum(await Promise.all(rest.map((purchase) => refund(purchase.id))))).toBe(23_000)
  })
})

describe('a used ticket', () => {
  const useTicket = (id: string) => post(`/v1/purchases/${id}/uses`, { quantity: 1 })
  const used = buildTicket({ vendor_code: 'T-1' })
  const changes: [string, Record<string, unknown>[]][] = [
    ['price', [{ ...used, unit_price: 80 }]],
    ['discounted price', [used, buildTicket({ product: 'Mug', unit_price: 10, vendor_code: 'M-1' })]],
    ['product', [{ ...used, product: 'Day pass' }]],
    ['variant', [{ ...used, variant: 'Saturday' }]],
    ['location', [{ ...used, location: 'North' }]],
    ['validity', [{ ...used, valid_until: '2030-01-01T00:00:00Z' }]],
    ['line', [buildTicket({ product: 'Mug', vendor_code: 'M-1' }), { ...used, product: 'Day pass', unit_price: 1 }]],
    ['holder', [{ ...used, user: { email: 'other@example.dk' } }]],
    ['missing code', [{ ...used, vendor_code: undefined, unit_price: 70 }]],
  ]

  it.each(changes)('stays the only ticket with its code when the update changes its %s', async (_, items) => {
    const shop = await seedShop()
    const { id, purchases } = await importOrder(shop, { items: [used] })
    const [{ id: purchase } = { id: '' }] = purchases
    expect((await useTicket(purchase)).status).toBe(201)
    const importAgain = async () => {
      await importOrder(shop, { items, discount: 5 })
      const withCode = (await loadPurchases(id)).filter((row) => row.vendor_code === 'T-1')
      expect(withCode.map((row) => [row.id, row.status])).toEqual([[purchase, 'used']])
    }
    await importAgain()
    await importAgain()
    expect((await useTicket(purchase)).body.code).toBe('no_uses_left')
  })

  const [ane, bo] = [{ email: 'a@example.dk' }, { email: 'b@example.dk' }]
  const withoutCode: [string, Record<string, unknown>[], Record<string, unknown>][] = [
    ['product', [buildTicket()], { product: 'Day pass' }],
    ['product and price', [buildTicket()], { product: 'Day pass', unit_price: 80 }],
    ['product and holder', [buildTicket({ user: ane })], { product: 'Day pass', user: bo }],
    ['holder and price', [buildTicket({ user: ane })], { unit_price: 80, user: bo }],
    ['variant', [buildTicket({ variant: 'Saturday' })], { variant: 'Sunday' }],
    ['missing variant', [buildTicket({ variant: 'Saturday' })], { variant: undefined }],
    ['options', [buildTicket({ options: ['Lunch'] })], { options: ['Dinner'] }],
    ['product and new code', [buildTicket()], { product: 'Day pass', vendor_code: 'T-1' }],
    [
      'product and missing code',
      [buildTicket({ vendor_code: 'T-1' })],
      { product: 'Day pass', vendor_code: undefined },
    ],
    ['product and status', [buildTicket()], { product: 'Day pass', status: 'pending' }],
    ['quantity and product', [buildTicket({ quantity: 2 })], { quantity: 1, product: 'Day pass' }],
  ]

  it.each(withoutCode)('lets nobody in again when the update changes its %s', async (_, items, change) => {
    const shop = await seedShop()
    const { id, purchases } = await importOrder(shop, { items })
    const [{ id: purchase } = { id: '' }] = purchases
    expect((await useTicket(purchase)).status).toBe(201)
    const changed = [{ ...items[0], ...change }]
    for (const customer of [{ email: 'buyer@example.dk' }, { email: 'other@example.dk' }]) {
      await importOrder(shop, { items: changed, customer })
      const left = (await loadPurchases(id)).filter(({ status }) => status !== 'cancelled')
      expect(left.map((one) => [one.id, one.status])).toEqual([[purchase, 'used']])
      expect(sum(left.map(({ price_paid }) => price_paid))).toBe(change['unit_price'] ?? 100)
    }
  })

  it('takes no other ticket of the order when its code is gone from the source', async () => {
    const shop = await seedShop()
    const { id, purchases } = await importOrder(shop, { items: [used] })
    await useTicket(purchases[0]?.id ?? '')
    await importOrder(shop, { items: [buildTicket({ vendor_code: 'T-2' }), buildTicket({ product: 'Mug' })] })
    const statuses = (await loadPurchases(id)).map((one) => `${one.vendor_code} ${one.status}`)
    expect(statuses.toSorted()).toEqual(['T-1 used', 'T-2 active', 'null active'])
  })

  it('gets the price and the name of its changed line', async () => {
    const shop = await seedShop()
    const { id } = await importOrder(shop, { items: [used] })
    await importOrder(shop, { items: [{ ...used, product: 'Day pass', unit_price: 80 }] })
    expect(await loadPurchases(id)).toMatchObject([{ price_paid: 80, product: { name: 'Day pass' }, status: 'active' }])
  })

  it('gets more uses when its line has more, and keeps those that were counted', async () => {
    const shop = await seedShop()
    const { id, purchases } = await importOrder(shop, { items: [used] })
    await useTicket(purchases[0]?.id ?? '')
    await importOrder(shop, { items: [{ ...used, uses_limit: 3 }] })
    expect(await loadPurchases(id)).toMatchObject([{ id: purchases[0]?.id, status: 'active', available_uses: 2 }])
    await importOrder(shop, { items: [{ ...used, uses_limit: 1 }] })
    expect(await loadPurchases(id)).toMatchObject([{ id: purchases[0]?.id, status: 'used', available_uses: 0 }])
  })

  it('stays, and an unused ticket goes, when fewer are left at another price', async () => {
    const shop = await seedShop()
    const item = { product: 'Day ticket', quantity: 3, line_total: 100, vendor_code: 'DAY' }
    const { id, purchases } = await importOrder(shop, { items: [item], amount: 100 })
    const [first] = purchases.toSorted((one, other) => other.price_paid - one.price_paid)
    await useTicket(first?.id ?? '')
    await importOrder(shop, { items: [{ ...item, quantity: 1, line_total: 33.33 }] })
    const rest = await loadPurchases(id)
    expect(
      rest.filter(({ status }) => status !== 'cancelled').map((purchase) => [purchase.id, purchase.status]),
    ).toEqual([[first?.id, 'used']])
    expect(sum(rest.map(({ price_paid }) => price_paid))).toBe(33.33)
  })

  it('gets the code that its source adds later', async () => {
    const shop = await seedShop()
    const { id, purchases } = await importOrder(shop, { items: [buildTicket()] })
    await useTicket(purchases[0]?.id ?? '')
    await importOrder(shop, { items: [used] })
    expect(await loadPurchases(id)).toMatchObject([{ id: purchases[0]?.id, status: 'used', vendor_code: 'T-1' }])
  })
})

const arbitraryItem = fc.record({
  product: fc.constantFrom('Day ticket', 'Parking', 'Camping'),
  quantity: fc.integer({ min: 1, max: 3 }),
  unit_price: fc.constantFrom(0, 0.01, 33.33, 100),
  deposit: fc.constantFrom(0, 0, 7.77),
  handling_fee: fc.constantFrom(0, 0, 2.5),
})

interface Request {
  target: number
  part: number
  fees: boolean
  cancel: boolean
}

const request: fc.Arbitrary<Request> = fc.record({
  target: fc.nat({ max: 9 }),
  part: fc.constantFrom(1, 1, 0.37),
  fees: fc.boolean(),
  cancel: fc.boolean(),
})

/** Refunds a part of a purchase or, after the purchases, of the order. Returns minor units. */
async function refundPart(bought: BoughtOrder, { target, part, fees, cancel }: Request): Promise<number> {
  const purchase = bought.purchases[target]
  const path = purchase ? `/v1/purchases/${purchase}` : `/v1/orders/${bought.order}`
  const { max_available_refund_amount: max } = (await get(path)).body
  const amount = part === 1 ? {} : { amount: Math.floor(toMinor(max) * part) / 100 }
  const place = purchase ? { purchase_id: purchase } : { order_id: bought.order }
  const reply = await requestRefund({ ...place, ...amount, include_fees: fees, cancel_purchase: cancel })
  if (reply.status !== 201) {
    expect([400, 409]).toContain(reply.status)
    return 0
  }
  await actOnRefund(reply.body.id, 'approve')
  return toMinor(reply.body.requested_amount)
}

describe('the sum of what is paid for purchases and what was refunded', () => {
  it('equals what was paid for the order, in any order of refunds', async () => {
    const shop = await seedShopWithAccount('manual')
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryItem, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 1000 }),
        fc.constantFrom(0, 12.5),
        fc.array(request, { maxLength: 6 }),
        async (items, thousandths, service_fee, requests) => {
          const price = sum(items.map((item) => item.quantity * toMinor(item.unit_price)))
          const extra = sum(items.map((item) => item.quantity * toMinor(item.deposit + item.handling_fee)))
          const listed = price + extra + toMinor(service_fee)
          const discount = Math.floor((listed * thousandths) / 1000)
          const bought = await givenOrder(shop, { items, service_fee, discount: discount / 100 })
          const purchases = await loadPurchases(bought.order)
          const sumPaid = (name: 'price_paid' | 'deposit_paid' | 'handling_fee_paid') =>
            sum(purchases.map((purchase) => toMinor(purchase[name])))
          expect(sumPaid('price_paid')).toBe(Math.max(0, price - discount))
          expect(sumPaid('price_paid') + sumPaid('deposit_paid') + sumPaid('handling_fee_paid')).toBe(
            Math.max(0, price + extra - discount),
          )
          let refunded = 0
          for (const nextRequest of requests) refunded += await refundPart(bought, nextRequest)
          for (const id of bought.purchases) {
            refunded += await refundPart(bought, {
              target: bought.purchases.indexOf(id),
              part: 1,
              fees: true,
              cancel: false,
            })
          }
          refunded += await refundPart(bought, { target: 99, part: 1, fees: true, cancel: true })
          expect(refunded).toBe(listed - discount)
          const [payment] = await db.all(
            sql<{ refunded: number }>`select refunded_minor as refunded from transactions where id = ${bought.payment}`,
          )
          expect(payment?.refunded).toBe(refunded)
        },
      ),
      { numRuns: 12 },
    )
    await payDueRefunds()
  })
})
