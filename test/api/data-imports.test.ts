import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { countContents } from '../support/orders.ts'
import { describeRefusal } from '../support/refusals.ts'
import { anOrder, givenOrders, seedShop, importOrders } from '../support/seeding/sales/orders.ts'

interface Refusal {
  code: string
  pointer: string
}

async function givenSameOrder() {
  const shop = await seedShop()
  const order = anOrder({ external_id: 'same', status: 'confirmed' })
  const [id] = await givenOrders(shop, [order])
  return { shop, order, id, before: await get(`/v1/orders/${id}`) }
}

describe('importExternalOrders', () => {
  it('makes the order with its customer, products, cart and payment, and one purchase for each unit', async () => {
    const shop = await seedShop({ tax_type: 'vat', default_price_tax_rate: 25 })
    const reply = await importOrders(shop, [
      anOrder({
        external_id: 'A-1001',
        order_number: '100023',
        created: '2026-05-01T12:00:00+02:00',
        customer: { email: ' Ægir@Example.DK ', phone_number: '32 12 34 56', first_name: 'Ægir', locale: 'sv-SE' },
        items: [
          {
            product: 'Day ticket',
            variant: 'Adult',
            location: 'Gate A',
            options: ['Lunch'],
            quantity: 2,
            unit_price: 2.55,
            deposit: 0.1,
            handling_fee: 0.05,
          },
          { product: 'Poster', quantity: 1, unit_price: 50, vendor_code: 'P-1' },
        ],
        service_fee: 1,
        discount: 5,
        coupon_code: 'EARLY',
        metadata: { table: 4 },
      }),
    ])
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ status: 'completed', total_rows: 1, created_orders: 1, failed_orders: 0 })
    const order = await get(`/v1/orders/${reply.body.results[0].order_id}`)
    expect(order.body).toMatchObject({
      order_number: '100023',
      type: 'imported',
      status: 'completed',
      amount: 51.4,
      currency: 'dkk',
      created: '2026-05-01T10:00:00.000Z',
      metadata: { table: 4 },
      customer: { full_name: 'Ægir', email: 'ægir@example.dk', phone_number: '+4532123456' },
      cart: {
        subtotal: 55.1,
        deposit: 0.2,
        handling_fee: 0.1,
        service_fee: 1,
        discount: 5,
        tax: 10.02,
        total: 51.4,
        coupon_code: 'EARLY',
      },
    })
    expect(order.body.cart.items).toMatchObject([
      {
        product: { name: 'Day ticket' },
        variant: { name: 'Adult' },
        location: { name: 'Gate A' },
        options: [{ name: 'Lunch' }],
        quantity: 2,
        price_with_options: 2.55,
      },
      { product: { name: 'Poster' }, variant: null, location: null, quantity: 1 },
    ])
    expect(
      order.body.cart.summary.summary_lines.map((line: { key: string; formatted: string }) => [
        line.key,
        line.formatted,
      ]),
    ).toEqual([
      ['subtotal', '55.10 DKK'],
      ['deposit', '0.20 DKK'],
      ['handling_fee', '0.10 DKK'],
      ['service_fee', '1.00 DKK'],
      ['discount', '-5.00 DKK'],
      ['tax', '10.02 DKK'],
      ['total', '51.40 DKK'],
    ])
    expect(order.body.transactions).toMatchObject([
      {
        type: 'payment',
        status: 'captured',
        service: 'import',
        amount: 51.4,
        refunded_amount: 0,
        available_refund_amount: 50.3,
      },
    ])
    expect(order.body.completed_transaction_id).toBe(order.body.transactions[0].id)
    expect(order.body.purchases).toHaveLength(3)
    expect(order.body.purchases[0]).toMatchObject({
      status: 'active',
      price_paid: 2.32,
      max_available_refund_amount: 2.42,
      available_uses: 1,
    })
    const user = await get(`/v1/user/${order.body.customer.api_id}`)
    expect(user.body).toMatchObject({ locale: 'se', msg_channel: 'email' })
  })

  it('matches customers by e-mail address and by phone number, and products without regard to case', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ customer: { email: 'a@example.dk' }, items: [{ product: 'Ølbillet', quantity: 1, unit_price: 1 }] }),
      anOrder({
        customer: { email: 'A@EXAMPLE.dk', phone_number: '+4532123456', last_name: 'Holm' },
        items: [{ product: 'ØLBILLET', quantity: 1, unit_price: 1 }],
      }),
    ])
    const [third] = await givenOrders(shop, [anOrder({ customer: { phone_number: '(+45) 32 12 34 56' } })])
    expect(await countContents(shop)).toMatchObject({ orders: 3, users: 1, products: 2 })
    const order = await get(`/v1/orders/${third}`)
    expect(order.body.customer).toMatchObject({ email: 'a@example.dk', full_name: 'Holm', phone_number: '+4532123456' })
    const searchReply = await get(`/v1/orders?edition_id=${shop.edition_id}&search=${encodeURIComponent('+45 32 12')}`)
    expect(searchReply.body.count).toBe(3)
  })

  it('does not match a customer with another address by a shared phone number', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ customer: { email: 'one@example.dk', phone_number: '+4532123456' } }),
      anOrder({ customer: { email: 'two@example.dk', phone_number: '+4532123456' } }),
    ])
    expect(await countContents(shop)).toMatchObject({ users: 2 })
  })

  it.each(['n/a', '12', '+45 99', 'ring til min mor før du ringer til mig, så tager hun den'])(
    'imports an order without its invalid phone number %j if its e-mail address is valid, and warns',
    async (phone_number) => {
      const shop = await seedShop()
      const order = anOrder({ customer: { email: 'a@example.dk', phone_number } })
      const { body } = await importOrders(shop, [order])
      const detail = `"${phone_number}" is not a phone number. The order is imported without it.`
      const pointer = '#/orders/0/customer/phone_number'
      expect(body).toMatchObject({ status: 'completed', created_orders: 1, failed_orders: 0 })
      expect(body.results).toMatchObject([
        { action: 'created', errors: [], warnings: [{ code: 'phone_not_taken', detail, pointer }] },
      ])
      const stored = await get(`/v1/orders/${body.results[0].order_id}`)
      expect(stored.body.customer).toMatchObject({ email: 'a@example.dk', phone_number: null })
    },
  )

  it('keeps the phone number of a customer when an order has an invalid one', async () => {
    const shop = await seedShop()
    const customer = { email: 'a@example.dk', phone_number: '+4532123456' }
    const [order] = await givenOrders(shop, [anOrder({ external_id: 'A', customer })])
    const cancelledOrder = anOrder({
      external_id: 'A',
      status: 'cancelled',
      customer: { ...customer, phone_number: '12' },
    })
    const { body } = await importOrders(shop, [cancelledOrder], { on_duplicate: 'update' })
    expect(body.results).toMatchObject([{ action: 'updated', warnings: [{ code: 'phone_not_taken' }] }])
    expect((await get(`/v1/orders/${order}`)).body.customer).toMatchObject({ phone_number: '+4532123456' })
  })

  it('imports valid orders and points at each fault of the others', async () => {
    const shop = await seedShop()
    const bad: [Record<string, unknown>, string, string][] = [
      [{ customer: {} }, 'contact_required', '/customer'],
      [{ customer: { email: 'nobody' } }, 'invalid_email', '/customer/email'],
      [{ customer: { phone_number: 'n/a' } }, 'invalid_phone', '/customer/phone_number'],
      [{ items: [] }, 'min_items', '/items'],
      [{ items: [{ product: 'X', quantity: -1, unit_price: 1 }] }, 'min_value', '/items/0/quantity'],
      [{ items: [{ product: 'X', quantity: 1001, unit_price: 1 }] }, 'max_value', '/items/0/quantity'],
      [{ items: [{ product: 'X', quantity: 1, unit_price: 1.001 }] }, 'max_decimal_places', '/items/0/unit_price'],
      [{ items: [{ product: ' ', quantity: 1, unit_price: 1 }] }, 'blank', '/items/0/product'],
      [
        { items: Array.from({ length: 6 }, () => ({ product: 'X', quantity: 1000, unit_price: 1 })) },
        'max_value',
        '/items',
      ],
      [{ currency: 'jpy' }, 'invalid_choice', '/currency'],
      [{ created: '2026-05-01T10:00:00' }, 'invalid_date', '/created'],
      [{ status: 'paid' }, 'invalid_choice', '/status'],
      [{ order_number: '12345678901234567' }, 'max_length', '/order_number'],
      [{ discount: 1000 }, 'negative_amount', '/discount'],
      [{ consents: { newsletter: true } }, 'does_not_exist', '/consents/newsletter'],
      [{ external_id: '' }, 'blank', '/external_id'],
      [{ external_id: undefined }, 'required', '/external_id'],
    ]
    const reply = await importOrders(shop, [
      anOrder(),
      ...bad.map(([change]) => anOrder(change)),
      'no order',
      null,
      anOrder(),
    ])
    expect(reply.body).toMatchObject({
      status: 'completed_with_errors',
      created_orders: 2,
      failed_orders: bad.length + 2,
    })
    const answered = reply.body.results
      .slice(1, 1 + bad.length)
      .map(({ action, errors }: { action: string; errors: Refusal[] }) => [action, errors[0]?.code, errors[0]?.pointer])
    expect(answered).toEqual(bad.map(([, code, pointer], at) => ['error', code, `#/orders/${at + 1}${pointer}`]))
    expect(await countContents(shop)).toMatchObject({ orders: 2, users: 2, products: 1 })
  })

  it('refuses an invalid call as a whole and writes nothing', async () => {
    const shop = await seedShop()
    const other = await seedShop()
    const refusals: [Record<string, unknown>, string][] = [
      [{ orders: [] }, '#/orders'],
      [{ orders: Array.from({ length: 101 }, () => anOrder()) }, '#/orders'],
      [{ on_duplicate: 'merge' }, '#/on_duplicate'],
      [{ edition_id: other.edition_id }, '#/edition_id'],
      [{ organization_id: 'org_unknown' }, '#/organization_id'],
      [{ send_receipts: 'yes' }, '#/send_receipts'],
      [{ source: ' ' }, '#/source'],
    ]
    for (const [change, pointer] of refusals) {
      const reply = await importOrders(shop, [anOrder()], change)
      expect([reply.status, reply.body.errors[0].pointer]).toEqual([400, pointer])
    }
    expect(await countContents(shop)).toEqual({ orders: 0, purchases: 0, users: 0, products: 0, data_imports: 0 })
  })

  it('refuses an archived edition', async () => {
    const reply = await importOrders(await seedShop({ is_archived: true }), [anOrder()])
    expect(describeRefusal(reply)).toBe('409 edition_archived')
  })

  it('answers a dry run as it would answer the real call, and writes nothing', async () => {
    const shop = await seedShop()
    const orders = [anOrder(), anOrder({ currency: 'jpy' }), anOrder()]
    const dry = await importOrders(shop, orders, { dry_run: true })
    expect(dry.body).toMatchObject({ id: null, dry_run: true, created_orders: 2, failed_orders: 1 })
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 0, products: 0, data_imports: 0 })
    const real = await importOrders(shop, orders)
    const actions = (reply: typeof real) => reply.body.results.map((result: { action: string }) => result.action)
    expect(actions(real)).toEqual(actions(dry))
  })

  it('skips an order that exists', async () => {
    const { shop, order, id, before } = await givenSameOrder()
    const skipped = await importOrders(shop, [{ ...order, order_number: '7' }])
    expect(skipped.body.results[0]).toMatchObject({ action: 'skipped', order_id: id })
    expect((await get(`/v1/orders/${id}`)).text).toBe(before.text)
  })

  it('refuses an order that exists where you ask for that', async () => {
    const { shop, order, id, before } = await givenSameOrder()
    const refusal = await importOrders(shop, [{ ...order, order_number: '7' }], { on_duplicate: 'error' })
    expect(refusal.body.results[0]).toMatchObject({
      action: 'error',
      order_id: id,
      errors: [{ code: 'duplicate_in_edition' }],
    })
    expect((await get(`/v1/orders/${id}`)).text).toBe(before.text)
  })

  it('updates an order that exists where you ask for that, with its payment and its purchases', async () => {
    const { shop, order, id, before } = await givenSameOrder()
    const items = [
      { product: 'Day ticket', quantity: 1, unit_price: 225 },
      { product: 'Poster', quantity: 1, unit_price: 50 },
    ]
    const updated = await importOrders(shop, [{ ...order, order_number: '7', status: 'completed', items }], {
      on_duplicate: 'update',
    })
    expect(updated.body.results[0]).toMatchObject({ action: 'updated', order_id: id })
    const after = await get(`/v1/orders/${id}`)
    expect(after.body).toMatchObject({
      order_number: '7',
      status: 'completed',
      amount: 275,
      transactions: [{ amount: 275, status: 'captured' }],
    })
    const names = after.body.purchases.map((purchase: { product: { name: string }; status: string }) => [
      purchase.product.name,
      purchase.status,
    ])
    expect(names.toSorted()).toEqual([
      ['Day ticket', 'active'],
      ['Day ticket', 'cancelled'],
      ['Poster', 'active'],
    ])
    const purchaseIds = new Set(before.body.purchases.map((purchase: { id: string }) => purchase.id))
    expect(after.body.purchases.filter((purchase: { id: string }) => purchaseIds.has(purchase.id))).toHaveLength(2)
  })

  it('does not update an order that exists to an earlier status', async () => {
    const { shop, order, id, before } = await givenSameOrder()
    const back = await importOrders(shop, [{ ...order, status: 'pending' }], { on_duplicate: 'update' })
    expect(back.body.results[0]).toMatchObject({
      action: 'error',
      errors: [{ code: 'invalid_transition', pointer: '#/orders/0/status' }],
    })
    expect((await get(`/v1/orders/${id}`)).text).toBe(before.text)
  })

  it('takes an order of another source for another order', async () => {
    const shop = await seedShop()
    const order = anOrder()
    await givenOrders(shop, [order])
    const other = await importOrders(shop, [order], { source: 'elsewhere' })
    expect(other.body.created_orders).toBe(1)
    expect(await countContents(shop)).toMatchObject({ orders: 2, users: 1 })
  })

  it.each([
    ['skip', ['created', 'skipped']],
    ['update', ['created', 'updated']],
  ])('takes an id that one call repeats for an order that exists: %s', async (on_duplicate, expected) => {
    const shop = await seedShop()
    const { body } = await importOrders(
      shop,
      [anOrder({ external_id: 'u' }), anOrder({ external_id: 'u', order_number: '2' })],
      { on_duplicate },
    )
    expect(body.results.map(({ action }: { action: string }) => action)).toEqual(expected)
    expect(await countContents(shop)).toMatchObject({ orders: 1 })
  })
})
