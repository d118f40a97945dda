import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, rootToken } from '../support/api.ts'
import { listIds, readAs } from '../support/lists.ts'
import { givenMember } from '../support/seeding/members.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

let shop: Shop
let ids: string[]

const list = (query: string, token?: string) => get(`/v1/orders?${query}`, token)
const here = () => `edition_id=${shop.edition_id}`
const findOrders = async (query: string): Promise<number[]> => {
  const { body } = await list(`${here()}&${query}`)
  return body.results.map((order: { id: string }) => ids.indexOf(order.id)).toSorted()
}

beforeAll(async () => {
  shop = await seedShop()
  ids = await givenOrders(shop, [
    anOrder({
      external_id: 'Shop/Ø-1',
      order_number: 'Ø-100',
      created: '2026-01-01T10:00:00Z',
      status: 'completed',
      customer: { email: 'łucja.straße@example.pl', phone_number: '+48 512 345 678', first_name: 'Łucja' },
      items: [{ product: 'A', quantity: 3, unit_price: 10 }],
    }),
    anOrder({
      order_number: '200',
      created: '2026-01-02T10:00:00Z',
      status: 'pending',
      customer: {
        email: 'aegir.holm.with.a.very.long.address.that.like.could.not.hold@example.dk',
        phone_number: '+4532123456',
      },
      items: [{ product: 'B', quantity: 1, unit_price: 5 }],
    }),
    anOrder({
      created: '2026-01-03T10:00:00Z',
      status: 'cancelled',
      customer: { email: 'per_cent%@example.dk', phone_number: '+4532999999' },
      items: [{ product: 'C', quantity: 1, unit_price: 7.5 }],
    }),
  ])
})

describe('listOrders', () => {
  it('requires an edition, an organisation or a customer', async () => {
    const reply = await list('status=pending')
    expect(reply.status).toBe(400)
    expect(reply.body.errors).toEqual([
      { code: 'required_filter', detail: expect.any(String), attr: null, pointer: null },
    ])
  })

  it('returns the fields of the specification', async () => {
    const { body } = await list(`${here()}&order_number=o-100`)
    expect(body.results).toEqual([
      {
        id: ids[0],
        order_number: 'Ø-100',
        external_id: 'Shop/Ø-1',
        source: 'webshop',
        type: 'imported',
        status: 'completed',
        edition: expect.objectContaining({ id: shop.edition_id }),
        amount: 30,
        currency: 'dkk',
        customer_name: 'Łucja',
        customer_email: 'łucja.straße@example.pl',
        items_count: 3,
        has_payment: true,
        created: '2026-01-01T10:00:00.000Z',
        modified: expect.any(String),
      },
    ])
  })

  it.each([
    ['organization_id', () => `organization_id=${shop.organization_id}`, [0, 1, 2]],
    ['status', () => 'status=pending', [1]],
    ['type', () => 'type=imported', [0, 1, 2]],
    ['another type', () => 'type=online', []],
    ['created_after, at the instant', () => 'created_after=2026-01-02T10:00:00Z', [1, 2]],
    ['created_before with an offset, unencoded', () => 'created_before=2026-01-02T12:00:00+02:00', [0]],
    ['order_number, folded', () => `order_number=${encodeURIComponent('ø-1')}`, [0]],
    ['customer_email, folded', () => 'customer_email=LUCJA.STRASSE', [0]],
    [
      'a long customer_email',
      () => 'customer_email=aegir.holm.with.a.very.long.address.that.like.could.not.hold@example.dk',
      [1],
    ],
    ['customer_email with signs of LIKE', () => `customer_email=${encodeURIComponent('_cent%')}`, [2]],
    ['customer_phone by digits', () => `customer_phone=${encodeURIComponent('+45 (32) 12')}`, [1]],
    ['customer_phone without digits', () => 'customer_phone=abc', []],
    ['search by number', () => 'search=200', [1]],
    ['search by order id', () => `search=${ids[2]?.toLowerCase()}`, [2]],
    ['search by part of an e-mail', () => 'search=holm.with', [1]],
    ['search by phone', () => `search=${encodeURIComponent('512 345')}`, [0]],
    ['search by external id, folded', () => `search=${encodeURIComponent('shop/o')}`, [0]],
    ['external_id', () => `external_id=${encodeURIComponent(' Shop/Ø-1')}`, [0]],
    ['external_id of an organisation', () => `organization_id=${shop.organization_id}&external_id=Shop/%C3%98-1`, [0]],
    ['part of an external_id', () => 'external_id=Shop', []],
    ['customer_phone as it is dialled from abroad', () => `customer_phone=${encodeURIComponent('0045 32 12')}`, [1]],
    ['search by phone with its prefix in brackets', () => `search=${encodeURIComponent('(+45) 32 12')}`, [1]],
    ['search for nothing there', () => 'search=zzz', []],
    ['two filters', () => 'status=completed&search=lucja', [0]],
    ['search with white space around it', () => 'search=%20%20200%20', [1]],
    ['order_number with white space around it', () => `order_number=${encodeURIComponent(' ø-1\t')}`, [0]],
    ['customer_email with white space around it', () => 'customer_email=%20lucja%20', [0]],
    ['customer_phone with white space around it', () => 'customer_phone=%2032123456%20', [1]],
    ['white space alone, which counts as none', () => 'search=%20&customer_phone=%20&order_number=%09', [0, 1, 2]],
    ['an empty filter, which counts as none', () => 'status=&search=', [0, 1, 2]],
    ['an unknown edition beside the known', () => 'organization_id=org_unknown', []],
  ])('filters by %s', async (_, query, expected) => {
    expect(await findOrders(query())).toEqual(expected)
  })

  it('finds an order by its transaction, its id and a search', async () => {
    const order = await get(`/v1/orders/${ids[1]}`)
    const [{ id }] = order.body.transactions
    expect(await findOrders(`transaction_id=${id}`)).toEqual([1])
    expect(await findOrders(`search=${id.slice(4, 30)}`)).toEqual([1])
  })

  it.each([
    ['created', [0, 1, 2]],
    ['-created', [2, 1, 0]],
    ['', [2, 1, 0]],
    ['amount', [1, 2, 0]],
    ['-amount', [0, 2, 1]],
    ['status', [2, 0, 1]],
    ['order_number', [1, 0, 2]],
    ['-order_number', [0, 1, 2]],
    ['-status,-order_number', [1, 0, 2]],
    ['-type,amount', [1, 2, 0]],
  ])('sorts by %s', async (ordering, expected) => {
    const { body } = await list(`${here()}&ordering=${ordering}`)
    expect(body.results.map((order: { id: string }) => ids.indexOf(order.id))).toEqual(expected)
  })

  it('returns only orders that your roles cover', async () => {
    const organisation = { id: shop.organization_id }
    const other = await seedShop()
    const [foreign] = await givenOrders(other, [anOrder({ customer: { email: 'per_cent%@example.dk' } })])
    const stranger = await givenMember({ id: other.organization_id }, 'admin')
    const inEdition = await givenMember(organisation, 'viewer', shop.edition_id)
    expect((await list(here(), stranger.token)).body).toMatchObject({ count: 0, results: [] })
    expect((await list(`organization_id=${shop.organization_id}`, inEdition.token)).body.count).toBe(3)
    const { body } = await get(`/v1/orders/${foreign}`)
    expect((await list(`customer_id=${body.customer.api_id}`, inEdition.token)).body.count).toBe(0)
    const mine = await get(`/v1/orders/${ids[2]}`)
    expect((await list(`customer_id=${mine.body.customer.api_id}`, inEdition.token)).body.count).toBe(1)
  })
})

describe('an order of another system', () => {
  it('is found by its external id after another import with another customer address', async () => {
    const { body } = await list(`organization_id=${shop.organization_id}&external_id=Shop/%C3%98-1`)
    const [{ id }] = body.results
    const order = (await get(`/v1/orders/${id}`)).body
    expect(order).toMatchObject({ external_id: 'Shop/Ø-1', source: 'webshop' })
    await patch(`/v1/user/${order.customer.api_id}`, { phone_number: '0045 20 30 40 50' })
    expect(await findOrders(`search=${encodeURIComponent('SHOP/Ø')}`)).toEqual([0])
    expect(await findOrders('customer_phone=20304050')).toEqual([0])
    await patch(`/v1/user/${order.customer.api_id}`, { phone_number: '+48 512 345 678' })
  })
})

const listIdsAsRoot = async (query: string) => listIds(await readAs(rootToken, `/v1/orders?${query}`))

describe('a search text', () => {
  it('finds an order by its own texts and by the contact data of its customer', async () => {
    const [id = ''] = await givenOrders(shop, [
      anOrder({ external_id: 'Once-77', customer: { email: 'once@example.dk' } }),
    ])
    const { customer } = (await get(`/v1/orders/${id}`)).body
    for (const text of ['once-77', 'once@example', id])
      expect(await listIdsAsRoot(`customer_id=${customer.api_id}&search=${text}`)).toEqual([id])
    expect(await listIdsAsRoot(`customer_id=${customer.api_id}&search=none@example`)).toEqual([])
  })
})

describe('getOrder', () => {
  it('lists items in the order of the cart', async () => {
    const [id] = await givenOrders(shop, [
      anOrder({ items: ['Z', 'Y', 'X'].map((product, at) => ({ product, quantity: at + 1, unit_price: 1 })) }),
    ])
    const { body } = await get(`/v1/orders/${id}`)
    expect(body.cart.items.map((item: { product: { name: string } }) => item.product.name)).toEqual(['Z', 'Y', 'X'])
    expect(body.purchases).toHaveLength(6)
    expect(body.customer).toMatchObject({ api_id: body.purchases[0].user.api_id })
  })

  it('keeps its ETag until the order changes', async () => {
    const first = await get(`/v1/orders/${ids[0]}`)
    const secondReply = await get(`/v1/orders/${ids[0]}`)
    expect(secondReply.headers.get('etag')).toBe(first.headers.get('etag'))
    await patch(`/v1/user/${first.body.customer.api_id}`, { last_name: 'Nowak' })
    const changed = await get(`/v1/orders/${ids[0]}`)
    expect(changed.headers.get('etag')).not.toBe(first.headers.get('etag'))
    expect(changed.body.customer.full_name).toBe('Łucja Nowak')
  })
})

describe('getPurchase', () => {
  it('returns a purchase as its order shows it, with order and edition', async () => {
    const order = await get(`/v1/orders/${ids[0]}`)
    const [purchase] = order.body.purchases
    const { body } = await get(`/v1/purchases/${purchase.id}`)
    expect(body).toMatchObject(purchase)
    expect(body).toMatchObject({
      order: { id: ids[0], order_number: 'Ø-100', type: 'imported', status: 'completed' },
      organization: { id: shop.organization_id },
      edition: { id: shop.edition_id },
      currency: 'dkk',
      transaction_id: order.body.transactions[0].id,
      max_available_refund_amount: 10,
      refunded_amount: 0,
      pending_refund_amount: 0,
    })
  })

  it('shows that nothing can be refunded when nothing was paid', async () => {
    const order = await get(`/v1/orders/${ids[1]}`)
    const { body } = await get(`/v1/purchases/${order.body.purchases[0].id}`)
    expect(body).toMatchObject({ status: 'pending', max_available_refund_amount: 0, available_uses: 0 })
  })
})
