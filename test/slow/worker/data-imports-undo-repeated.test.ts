import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { post } from '../../support/api.ts'
import { countContents } from '../../support/orders.ts'
import { scan } from '../../support/purchases.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { aRow, type FileRow } from '../../support/seeding/imports/staged-imports.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { enableWallet } from '../../support/seeding/sales/wallet-passes.ts'
import { importFile, listUndone, undoToEnd } from '../../support/undone-imports.ts'

checkSalesCounts()

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const buildRow = (id: string, change: Record<string, unknown> = {}): FileRow =>
  aRow({ 'order.external_id': id, 'customer.email': `${id.toLowerCase()}@example.dk`, ...change })

const firstFile = () => ['C-1', 'C-2', 'C-3'].map((id) => buildRow(id))
/** Changes the number of the order, its price and its tickets. */
const changes = { 'order.order_number': 'N-1', 'item.unit_price': 9_900, 'item.quantity': 2 }
const secondFile = () => ['C-1', 'C-2'].map((id) => buildRow(id, changes))

const listReasons = async (id: string) =>
  (await listUndone(id)).map(({ undo_outcome, undo_reason }) => undo_reason ?? undo_outcome)

const findPurchase = async (order: string): Promise<string> =>
  (await db.first(sql<{ id: string }>`select id from purchases where order_id = ${order}`))?.id ?? ''

describe('an import whose orders a later import changed', () => {
  it('is undone whole after the later one, also when it was repeated meanwhile', async () => {
    const first = await importFile(shop, firstFile())
    const second = await importFile(shop, secondFile())
    expect(await undoToEnd(second.id)).toMatchObject({ undone_orders: 2, kept_orders: 0 })
    const repeated = await importFile(shop, firstFile())
    expect((await listUndone(repeated.id)).map(({ undo_outcome }) => undo_outcome)).toEqual([null, null, null])
    expect(await undoToEnd(first.id)).toMatchObject({ undone_orders: 3, kept_orders: 0 })
    expect(await countContents(shop)).toMatchObject({ orders: 0, purchases: 0, users: 0, products: 0 })
  })

  it('is undone after any number of later ones, the last first', async () => {
    const imports: string[] = []
    for (const price of [1, 2, 3, 4])
      imports.push((await importFile(shop, [buildRow('C-1', { 'item.unit_price': price, 'item.quantity': price })])).id)
    for (const id of imports.toReversed())
      expect([id, await undoToEnd(id)]).toMatchObject([id, { undone_orders: 1, kept_orders: 0 }])
    expect(await countContents(shop)).toMatchObject({ orders: 0, purchases: 0 })
  })

  it('keeps these orders while the later one stands', async () => {
    const first = await importFile(shop, firstFile())
    const second = await importFile(shop, secondFile())
    const third = await importFile(shop, [buildRow('C-1', { 'item.unit_price': 1 })])
    await undoToEnd(third.id)
    expect(await undoToEnd(first.id)).toMatchObject({ undone_orders: 1, kept_orders: 2 })
    expect(await listReasons(first.id)).toEqual(['order_changed', 'order_changed', 'undone'])
    expect(await undoToEnd(second.id)).toMatchObject({ undone_orders: 2, kept_orders: 0 })
    expect(await countContents(shop)).toMatchObject({ orders: 2, purchases: 2 })
  })

  it.each(['before', 'after'])('keeps an order whose ticket was used %s the later import', async (time) => {
    const first = await importFile(shop, firstFile())
    const use = async () => {
      const purchase = await findPurchase(first.orders[0] ?? '')
      expect((await scan(purchase, { quantity: 1 })).status).toBe(201)
    }
    if (time === 'before') await use()
    const second = await importFile(shop, [buildRow('C-2', { 'item.unit_price': 1 })])
    const third = await importFile(shop, [buildRow('C-1', { 'order.order_number': 'N-1' })])
    await undoToEnd(third.id)
    await undoToEnd(second.id)
    if (time === 'after') await use()
    await undoToEnd(first.id)
    expect(await listReasons(first.id)).toEqual(['purchase_used', 'undone', 'undone'])
  })

  it('keeps an order with a pass that was issued before the later import', async () => {
    const first = await importFile(shop, firstFile())
    const purchase = await findPurchase(first.orders[0] ?? '')
    await enableWallet({ organization: shop.organization_id, edition: shop.edition_id }, purchase)
    expect((await post(`/v1/purchases/${purchase}/wallet-passes`, { platform: 'apple' })).status).toBe(201)
    const second = await importFile(shop, [buildRow('C-1', { 'order.order_number': 'N-1' })])
    await undoToEnd(second.id)
    await undoToEnd(first.id)
    expect(await listReasons(first.id)).toEqual(['pass_issued', 'undone', 'undone'])
  })

  it.each(['before', 'during', 'after'])(
    'is undone whole when a ticket expires by itself %s the later one',
    async (time) => {
      const validUntil = Date.now() - 1000
      const rows = (price: number) => [
        buildRow('C-1', { 'item.valid_until': validUntil, 'item.unit_price': price, 'item.location': `Gate ${price}` }),
      ]
      const first = await importFile(shop, rows(1))
      const expire = () =>
        write(sql`update purchases set status = 'expired', version = version + 1 where order_id = ${first.orders[0]}`)
      if (time === 'before') await expire()
      const second = await importFile(shop, rows(2))
      if (time === 'during') await expire()
      await undoToEnd(second.id)
      expect(await listReasons(second.id)).toEqual(['undone'])
      if (time === 'after') await expire()
      await undoToEnd(first.id)
      expect(await listReasons(first.id)).toEqual(['undone'])
    },
  )
})

describe('an import that is undone before a later one of the same orders', () => {
  it('keeps the customer and the product that the undo of the later one restores, and deletes the others', async () => {
    const product = (name: string) => ({ 'item.product': name, 'item.variant': `${name} red` })
    const first = await importFile(shop, [
      buildRow('C-1', { 'customer.email': 'ida@example.dk', ...product('Camping') }),
      buildRow('C-2', { 'customer.email': 'bo@example.dk', ...product('Food') }),
    ])
    const second = await importFile(shop, [
      buildRow('C-1', { 'customer.email': 'eva@example.dk', ...product('Day ticket') }),
    ])
    expect(await undoToEnd(first.id)).toMatchObject({ undone_orders: 1, kept_orders: 1 })
    expect(await undoToEnd(second.id)).toMatchObject({ undone_orders: 1, kept_orders: 0 })
    const names = await db.all(sql`select products.name, variants.name as variant from products
      join variants on variants.product_id = products.id where edition_id = ${shop.edition_id}`)
    expect(names).toEqual([{ name: 'Camping', variant: 'Camping red' }])
    const people = await db.all(sql`select email from users where organization_id = ${shop.organization_id}`)
    expect(people).toEqual([{ email: 'ida@example.dk' }])
  })
})
