import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { callWith, get } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { order, describeRefusal, importOrder, buildTicket } from '../support/imported-orders.ts'
import { countContents } from '../support/orders.ts'
import { write } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

describe('amounts of another system', () => {
  it('are split from a line over its units to the cent', async () => {
    const shop = await seedShop()
    const { body, purchases } = await importOrder(shop, {
      items: [{ product: 'Day ticket', quantity: 3, line_total: 100 }],
      amount: 100,
    })
    expect(purchases.map(({ price_paid }) => price_paid).toSorted()).toEqual([33.33, 33.33, 33.34])
    expect([body.amount, body.cart.subtotal]).toEqual([100, 100])
    expect(await describeRefusal(shop, { items: [buildTicket({ line_total: 1 })] })).toEqual([
      'not_both #/orders/0/items/0/line_total',
    ])
    expect(await describeRefusal(shop, { items: [buildTicket({ unit_price: undefined })] })).toEqual([
      'required #/orders/0/items/0/unit_price',
    ])
  })

  it('include cancelled items when there are no others, and when a discount exceeds the others', async () => {
    const shop = await seedShop()
    const cancelled = buildTicket({ product: 'Poster', unit_price: 50, status: 'cancelled' })
    const amount = async (change: Record<string, unknown>) =>
      (await importOrder(shop, { external_id: crypto.randomUUID(), ...change })).body.amount
    expect(await amount({ items: [buildTicket(), cancelled], status: 'cancelled' })).toBe(100)
    expect(await amount({ items: [cancelled], status: 'cancelled' })).toBe(50)
    expect(await amount({ items: [buildTicket(), cancelled], discount: 120 })).toBe(30)
    expect(await describeRefusal(shop, { items: [buildTicket(), cancelled], discount: 151 })).toEqual([
      'negative_amount #/orders/0/discount',
    ])
  })

  it('cause a warning with both amounts when they differ from the sum of the items', async () => {
    const shop = await seedShop()
    const { body, result } = await importOrder(shop, { items: [buildTicket()], amount: 99.99, service_fee: 5 })
    expect(body.amount).toBe(105)
    expect(result.warnings).toEqual([
      {
        code: 'amount_mismatch',
        detail: 'The total is 99.99 DKK in the source, but items and fees add up to 105.00 DKK, 5.01 DKK away.',
        attr: 'orders.0.amount',
        pointer: '#/orders/0/amount',
      },
    ])
  })

  it('count as paid back in the payment, and never decrease', async () => {
    const shop = await seedShop()
    const payment = async (change: Record<string, unknown>) => {
      const [transaction] = (await importOrder(shop, { items: [buildTicket({ quantity: 2 })], ...change })).body
        .transactions
      return [transaction.status, transaction.amount, transaction.refunded_amount, transaction.available_refund_amount]
    }
    expect(await payment({ refunded_amount: 50 })).toEqual(['partially_refunded', 200, 50, 150])
    expect(await payment({})).toEqual(['partially_refunded', 200, 50, 150])
    expect(await payment({ refunded_amount: 20 })).toEqual(['partially_refunded', 200, 50, 150])
    expect(await payment({ refunded_amount: 200 })).toEqual(['refunded', 200, 200, 0])
    expect(await payment({ status: 'cancelled' })).toEqual(['refunded', 200, 200, 0])
    expect(await payment({ external_id: 'other', status: 'cancelled', refunded_amount: 200 })).toEqual([
      'refunded',
      200,
      200,
      0,
    ])
    const confirmedOrder = { external_id: 'late', status: 'confirmed' }
    expect(await payment(confirmedOrder)).toEqual(['authorized', 200, 0, 0])
    expect(await payment({ ...confirmedOrder, refunded_amount: 1 })).toEqual(['partially_refunded', 200, 1, 199])
  })

  it('make the order fail when more was paid back than was paid', async () => {
    const shop = await seedShop()
    expect(await describeRefusal(shop, { status: 'pending', refunded_amount: 1 })).toEqual([
      'nothing_paid #/orders/0/refunded_amount',
    ])
    expect(await describeRefusal(shop, { items: [buildTicket()], refunded_amount: 100.01 })).toEqual([
      'refund_exceeds_amount #/orders/0/refunded_amount',
    ])
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 0 })
    await importOrder(shop, { status: 'cancelled', items: [buildTicket()] })
    const { result, body } = await importOrder(shop, {
      status: 'cancelled',
      items: [buildTicket()],
      refunded_amount: 100,
    })
    expect(result.warnings).toMatchObject([{ code: 'refund_not_recorded' }])
    expect(body.transactions).toMatchObject([{ status: 'cancelled', refunded_amount: 0 }])
  })

  it('set the provider of the payment until something is paid back', async () => {
    const shop = await seedShop()
    const importPayment = async (payment: unknown) =>
      (await importOrder(shop, { items: [buildTicket()], payment })).body.transactions.map(
        (transaction: { service: string; provider_reference: string | null }) => [
          transaction.service,
          transaction.provider_reference,
        ],
      )
    expect(await importPayment(null)).toEqual([['import', null]])
    expect(await importPayment({ service: 'stripe', reference: ' pi_1 ' })).toEqual([['stripe', 'pi_1']])
    expect(await importPayment(undefined)).toEqual([['stripe', 'pi_1']])
    await write(sql`update transactions set reserved_minor = 1 where provider_reference = 'pi_1'
      and order_id in (select id from orders where edition_id = ${shop.edition_id})`)
    expect(await importPayment({ service: 'manual' })).toEqual([['stripe', 'pi_1']])
    expect(await describeRefusal(shop, { payment: { service: 'cash' } })).toEqual([
      'invalid_choice #/orders/0/payment/service',
    ])
  })
})

describe('an order with refunds', () => {
  const seedRefundedOrder = async () => {
    const shop = await seedShop()
    const { id } = await importOrder(shop, { items: [buildTicket({ quantity: 2 })] })
    return { shop, id }
  }
  const reserve = (id: string, minor: number) =>
    write(sql`update transactions set reserved_minor = ${minor} where order_id = ${id}`)

  it('fails when its amount would be below the refunds and reservations', async () => {
    const { shop, id } = await seedRefundedOrder()
    await write(
      sql`update transactions set status = 'partially_refunded', refunded_minor = 6000, reserved_minor = 5000
        where order_id = ${id}`,
    )
    const before = (await get(`/v1/orders/${id}`)).text
    expect(await describeRefusal(shop, { items: [buildTicket()] })).toEqual(['amount_below_refunds #/orders/0/items'])
    expect(await describeRefusal(shop, { items: [buildTicket({ quantity: 2 })], refunded_amount: 150.01 })).toEqual([
      'refund_exceeds_amount #/orders/0/refunded_amount',
    ])
    expect((await get(`/v1/orders/${id}`)).text).toBe(before)
    const { body } = await importOrder(shop, { items: [buildTicket(), buildTicket({ unit_price: 10 })] })
    expect([body.amount, body.transactions[0].amount]).toEqual([110, 200])
  })

  it('keeps its payment while a refund is open, also when the order is cancelled', async () => {
    const { shop, id } = await seedRefundedOrder()
    await reserve(id, 20_000)
    const { body } = await importOrder(shop, { status: 'cancelled', items: [buildTicket({ quantity: 2 })] })
    expect(body).toMatchObject({ status: 'cancelled', transactions: [{ status: 'captured', amount: 200 }] })
  })

  it('is decided again when a refund is requested while the import decides', async () => {
    const { shop, id } = await seedRefundedOrder()
    const reply = await callWith(
      interruptDatabase(/^update "orders"/, () => reserve(id, 15_000)),
      '/v1/data-imports/external-orders',
      {
        method: 'POST',
        body: { ...shop, source: 'webshop', on_duplicate: 'update', orders: [order({ items: [buildTicket()] })] },
      },
    )
    expect(reply.body.results).toMatchObject([{ action: 'error', errors: [{ code: 'amount_below_refunds' }] }])
    expect((await get(`/v1/orders/${id}`)).body.amount).toBe(200)
  })

  it('does not reactivate a refunded ticket', async () => {
    const { shop, id } = await seedRefundedOrder()
    await write(
      sql`update purchases set status = 'cancelled', refunded_minor = 10000 where id =
        (select min(id) from purchases where order_id = ${id})`,
      sql`update transactions set status = 'partially_refunded', refunded_minor = 10000 where order_id = ${id}`,
    )
    const { purchases } = await importOrder(shop, { items: [buildTicket({ quantity: 2 })] })
    expect(purchases.map(({ status }) => status).toSorted()).toEqual(['active', 'cancelled'])
  })
})
