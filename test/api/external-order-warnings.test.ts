import { beforeEach, describe, expect, it } from 'vitest'
import { readCost } from '../support/cost.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop({ currency: 'dkk' })
})

const ofProducts = (...products: string[]) =>
  anOrder({ items: products.map((product) => ({ product, quantity: 1, unit_price: 225 })) })

async function listWarnings(orders: unknown[], options: object = {}) {
  const { status, body } = await importOrders(shop, orders, { ...options })
  expect(status).toBe(201)
  return body.results.map(({ warnings }: { warnings: object[] }) => warnings)
}

describe('importExternalOrders', () => {
  it('warns that a name made a product, and names the product that it may be', async () => {
    expect(await listWarnings([ofProducts('Day ticket')])).toEqual([[]])
    const [warnings] = await listWarnings([ofProducts('Day ticket', 'Day tickt')])
    expect(warnings).toMatchObject([{ code: 'product_created', pointer: '#/orders/0/items/1/product' }])
    expect(warnings[0].detail).toContain('"Day tickt" is new')
    expect(warnings[0].detail).toContain('"Day ticket"')
    expect(await listWarnings([ofProducts('Day tickt')])).toEqual([[]])
  })

  it('warns about a new product beside others, without a name that is near', async () => {
    await listWarnings([ofProducts('Day ticket')])
    const [warnings] = await listWarnings([ofProducts('Parking')])
    expect(warnings).toMatchObject([
      { code: 'product_created', detail: 'The product "Parking" is new in this edition.' },
    ])
  })

  it('warns in the first call of an edition about names that are near each other only', async () => {
    const warnings = await listWarnings([ofProducts('Day ticket'), ofProducts('Parking'), ofProducts('Day tickt')])
    expect(warnings).toMatchObject([[], [], [{ code: 'product_created' }]])
  })

  it('warns about the same products however many orders are sent in the first call, also in a dry run', async () => {
    const orders = [...Array.from({ length: 30 }, () => ofProducts('Day ticket')), ofProducts('Parking', 'Day tickt')]
    const [dry, real] = [await listWarnings(orders, { dry_run: true }), await listWarnings(orders)]
    expect(real.flat()).toMatchObject([{ code: 'product_created', pointer: '#/orders/30/items/1/product' }])
    expect(real.flat()[0].detail).toContain('"Day ticket"')
    expect(dry).toEqual(real)
  })

  it('warns once for each product, in a dry run as in the call itself', async () => {
    await listWarnings([ofProducts('Day ticket')])
    const orders = Array.from({ length: 60 }, () => ofProducts('Day tickt'))
    const [dry, real] = [await listWarnings(orders, { dry_run: true }), await listWarnings(orders)]
    expect(dry).toEqual(real)
    expect(real.flat()).toHaveLength(1)
  })

  it('does not name products of other editions', async () => {
    await listWarnings([ofProducts('Day ticket')])
    shop = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    expect(await listWarnings([ofProducts('Day tickt')])).toEqual([[]])
    shop = await seedShop()
    expect(await listWarnings([ofProducts('Day tickt')])).toEqual([[]])
  })

  it('warns with the order that makes the product, and not with one before it that is refused', async () => {
    await listWarnings([ofProducts('Day ticket')])
    const tooLate = { ...ofProducts('Day tickt'), created: '2099-01-01T00:00:00Z' }
    const [refused, stored] = await listWarnings([tooLate, ofProducts('Day tickt')])
    expect([refused, stored]).toMatchObject([[], [{ code: 'product_created', pointer: '#/orders/1/items/0/product' }]])
  })

  it('reads the products of the edition only for a product that is new', async () => {
    await listWarnings([ofProducts('Day ticket')])
    const more = Array.from({ length: 30 }, (_, index) => ofProducts(`Product ${index}`))
    await listWarnings(more)
    const stored = readCost(await importOrders(shop, [ofProducts('Day ticket')]))
    const created = readCost(await importOrders(shop, [ofProducts('Camping')]))
    expect(created.round_trips).toBe(stored.round_trips + 1)
  })

  it('takes thousands of new products in a call', async () => {
    await listWarnings([ofProducts('Day ticket')])
    const names = (order: number) => Array.from({ length: 200 }, (_, index) => `Ticket of kind ${order} ${index}`)
    const { status, body } = await importOrders(
      shop,
      Array.from({ length: 10 }, (_, order) => ofProducts(...names(order))),
    )
    expect([status, body.created_orders]).toEqual([201, 10])
    expect(body.results[0].warnings).toHaveLength(20)
  })

  it('warns about a new order in another currency than the edition', async () => {
    const order = anOrder({ currency: 'eur', status: 'confirmed' })
    const [warnings] = await listWarnings([order])
    expect(warnings).toMatchObject([{ code: 'other_currency', pointer: '#/orders/0/currency' }])
    expect(await listWarnings([{ ...order, status: 'completed' }], { on_duplicate: 'update' })).toEqual([[]])
  })
})

describe('the date of an external order', () => {
  const hourMs = 3_600_000
  const timeIn = (ms: number) => new Date(Date.now() + ms).toISOString()
  const at = (ms: number) => anOrder({ created: timeIn(ms) })

  it('is refused more than a day ahead, also for an update', async () => {
    const { status, body } = await importOrders(shop, [anOrder({ created: '2099-01-01T00:00:00Z' })])
    expect([status, body.errors]).toMatchObject([422, [{ code: 'future_date', pointer: '#/orders/0/created' }]])
    const order = at(-hourMs)
    expect(await listWarnings([order])).toEqual([[]])
    const update = { ...order, created: timeIn(48 * hourMs) }
    expect((await importOrders(shop, [update], { on_duplicate: 'update' })).status).toBe(422)
  })

  it('is taken up to a day ahead, because clocks and time zones differ', async () => {
    expect(await listWarnings([at(23 * hourMs)])).toEqual([[]])
    expect((await importOrders(shop, [at(25 * hourMs)])).status).toBe(422)
  })
})
