import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, post } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { write } from '../support/seeding/rows.ts'
import { anOrder, givenOrder, givenOrders, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const findOrders = async (shop: Shop, query: string, token?: string): Promise<[number, string[]]> => {
  const { body } = await get(`/v1/orders?edition_id=${shop.edition_id}&${query}`, token)
  const ids: string[] = body.results.map((order: { id: string }) => order.id)
  return [body.count, ids.toSorted()]
}

const listOf = (...ids: string[]): [number, string[]] => [ids.length, ids.toSorted()]

const readProduct = async (order: string): Promise<string> =>
  (await get(`/v1/orders/${order}`)).body.purchases[0].product.api_id

async function seedSibling(shop: Shop): Promise<Shop> {
  const edition = await seedEdition({ id: shop.organization_id })
  return { ...shop, edition_id: edition.id }
}

describe('listOrders', () => {
  it('finds the orders that an import created or updated', async () => {
    const shop = await seedShop()
    const [first, second] = [anOrder(), anOrder()]
    const created = await importOrders(shop, [first, second])
    const [one, two] = created.body.results.map((result: { order_id: string }) => result.order_id)
    const updated = await importOrders(shop, [{ ...second, status: 'cancelled' }, first], { on_duplicate: 'update' })
    expect(await findOrders(shop, `data_import_id=${created.body.id}`)).toEqual(listOf(one, two))
    expect(await findOrders(shop, `data_import_id=${updated.body.id}`)).toEqual(listOf(two))
    expect(await findOrders(shop, `data_import_id=${created.body.id}&status=cancelled`)).toEqual(listOf(two))
    expect(await findOrders(shop, `data_import_id=${created.body.id}&ordering=-amount,order_number`)).toEqual(
      listOf(one, two),
    )
    expect(await findOrders(shop, `data_import_id=${created.body.id}&search=${first.customer.email}`)).toEqual(
      listOf(one),
    )
    expect(await findOrders(shop, 'data_import_id=imp_none')).toEqual(listOf())
  })

  it('does not find orders of an import that was undone', async () => {
    const shop = await seedShop()
    const { body } = await importOrders(shop, [anOrder()])
    await write(sql`update import_orders set undo_outcome = 'undone' where import_id = ${body.id}`)
    expect(await findOrders(shop, `data_import_id=${body.id}`)).toEqual(listOf())
  })

  it('finds the orders of a source, in every ordering', async () => {
    const shop = await seedShop()
    const [one = ''] = await givenOrders(shop, [anOrder()])
    const { body } = await importOrders(shop, [anOrder()], { source: 'kiosk' })
    for (const ordering of ['created', '-modified', 'order_number', 'amount', 'status,-created']) {
      expect(await findOrders(shop, `source=webshop&ordering=${ordering}`)).toEqual(listOf(one))
      expect(await findOrders(shop, `source=kiosk&ordering=${ordering}`)).toEqual(listOf(body.results[0].order_id))
    }
    expect(await findOrders(shop, 'source=Kiosk')).toEqual(listOf())
    expect(await findOrders(shop, "source=' or 1=1 --")).toEqual(listOf())
  })

  it('finds the orders with a purchase of a product, each once', async () => {
    const shop = await seedShop()
    const items = [
      { product: 'Tent', quantity: 3, unit_price: 10 },
      { product: 'Day ticket', quantity: 1, unit_price: 10 },
    ]
    const [one = '', two = ''] = await givenOrders(shop, [anOrder(), anOrder({ items })])
    const ticket = await readProduct(one)
    expect(await findOrders(shop, `product_id=${ticket}`)).toEqual(listOf(one, two))
    const { purchases } = (await get(`/v1/orders/${two}`)).body
    const tent = purchases.find((purchase: { product: { name: string } }) => purchase.product.name === 'Tent')
    expect(await findOrders(shop, `product_id=${tent.product.api_id}`)).toEqual(listOf(two))
    const { customer } = (await get(`/v1/orders/${two}`)).body
    for (const query of [`customer_id=${customer.api_id}`, `search=${customer.email}`])
      expect(await findOrders(shop, `product_id=${ticket}&${query}`)).toEqual(listOf(two))
    expect(await findOrders(shop, 'product_id=prd_none')).toEqual(listOf())
  })

  it('finds the orders of a merged product before they are moved, by both ids, in files too', async () => {
    const shop = await seedShop()
    const orderOf = (product: string) => anOrder({ items: [{ product, quantity: 1, unit_price: 10 }] })
    const orders = await givenOrders(shop, [orderOf('Tent'), orderOf('Tents'), orderOf('Caravan')])
    const [one = '', two = ''] = orders
    const [into, from] = [await readProduct(one), await readProduct(two)]
    expect((await post(`/v1/products/${into}/merge`, { product_id: from })).status).toBe(200)
    for (const product of [into, from]) {
      expect(await findOrders(shop, `product_id=${product}`)).toEqual(listOf(one, two))
      const query = `edition_id=${shop.edition_id}&product_id=${product}&columns=id&bom=false`
      const { text } = await get(`/v1/orders/export?${query}`)
      expect(text.split('\r\n').filter(Boolean)).toEqual(['id', one, two])
    }
  })

  it('walks through the orders of a product and of an import page by page', async () => {
    const shop = await seedShop()
    const { body } = await importOrders(
      shop,
      Array.from({ length: 5 }, () => anOrder()),
    )
    const product = await readProduct(body.results[0].order_id)
    for (const filter of [`product_id=${product}`, `data_import_id=${body.id}`]) {
      const ids: string[] = []
      let path: string | null = `/v1/orders?edition_id=${shop.edition_id}&${filter}&page_size=2`
      while (path) {
        const page: { body: { count: number; next: string | null; results: { id: string }[] } } = await get(path)
        expect(page.body.count).toBe(5)
        ids.push(...page.body.results.map(({ id }) => id))
        path = page.body.next && `/v1/orders${new URL(page.body.next).search}`
      }
      expect([new Set(ids).size, ids.length]).toEqual([5, 5])
    }
  })

  it('finds nothing of another edition or organisation by these filters', async () => {
    const shop = await seedShop()
    const sibling = await seedSibling(shop)
    const { body } = await importOrders(shop, [anOrder()])
    const order = body.results[0].order_id
    const filters = [`data_import_id=${body.id}`, `product_id=${await readProduct(order)}`, 'source=webshop']
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', sibling.edition_id)
    const foreign = await givenMember(await givenOrganization(), 'admin')
    for (const filter of filters) {
      expect(await findOrders(shop, filter)).toEqual(listOf(order))
      expect(await findOrders(sibling, filter)).toEqual(listOf())
      expect(await findOrders(shop, filter, token)).toEqual(listOf())
      expect(await findOrders(shop, filter, foreign.token)).toEqual(listOf())
      const inOrganization = `/v1/orders?organization_id=${shop.organization_id}&${filter}`
      expect([(await get(inOrganization)).body.count, (await get(inOrganization, token)).body.count]).toEqual([1, 0])
    }
  })
})

const readActions = async (order: string, token?: string): Promise<string[]> =>
  (await get(`/v1/orders/${order}`, token)).body.allowed_actions

const offersRefund = async (order: string, token?: string) => (await readActions(order, token)).includes('refund')

describe('getOrder', () => {
  it('offers a refund exactly while one can be requested', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop)
    expect(await offersRefund(order)).toBe(true)
    const request = { order_id: order, reason: 'other', include_fees: true }
    expect((await post('/v1/refund-requests', { ...request, amount: 400 })).status).toBe(201)
    expect(await offersRefund(order)).toBe(true)
    expect((await post('/v1/refund-requests', request)).status).toBe(201)
    expect(await offersRefund(order)).toBe(false)
    expect((await post('/v1/refund-requests', request)).status).toBe(409)
  })

  it('offers no refund of an order without a payment', async () => {
    const [unpaid = ''] = await givenOrders(await seedShop(), [anOrder({ status: 'pending' })])
    expect(await offersRefund(unpaid)).toBe(false)
  })

  it('offers a refund to a manager of the edition, and a viewer nothing', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop)
    const viewer = await givenMember({ id: shop.organization_id }, 'viewer')
    const manager = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    expect(await readActions(order, viewer.token)).toEqual([])
    expect(await offersRefund(order, manager.token)).toBe(true)
  })

  it('offers nothing in an archived edition', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop)
    await write(sql`update editions set is_archived = 1 where id = ${shop.edition_id}`)
    expect(await readActions(order)).toEqual([])
  })
})
