import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { findIdKind } from '../../src/domain/ids.ts'
import { fold } from '../../src/domain/text/fold.ts'
import { get, post } from '../support/api.ts'
import { aRow } from '../support/seeding/imports/staged-imports.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, seedShopWithAccount } from '../support/seeding/sales/orders.ts'
import { importFile, undoToEnd } from '../support/undone-imports.ts'

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('A-1', 'Bestilling Æ7', 'ŁÓDŹ-3', 'straße', '№ 5', 'x_%', 'ǅ', 'İ1'),
)

interface Row {
  id: string
  external_id: string
  order_number: string | null
  transaction_id: string
  search_text: string
}

it('listOrders finds an order by its number, its ids and its external id, without regard to case', async () => {
  const shop = await seedShop()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ number: fc.option(text), external: text }), { maxLength: 8 }),
      async (all) => {
        const orders = [...new Map(all.map((one) => [one.external.trim(), one])).values()].map(({ number, external }) =>
          anOrder({ external_id: external, ...(number === null ? {} : { order_number: number }) }),
        )
        await importOrders(shop, orders)
      },
    ),
    { numRuns: 15 },
  )
  const rows = await db.all(sql<Row>`select orders.id, external_id, order_number, transactions.id as transaction_id,
      search_text from orders join transactions on order_id = orders.id where edition_id = ${shop.edition_id}`)
  expect(rows.length).toBeGreaterThan(20)
  for (const { id, external_id, order_number, transaction_id, search_text } of rows) {
    const parts = [order_number ?? '', id, external_id, transaction_id].map(fold)
    expect(search_text.split('\n')).toEqual(parts.filter((part) => part !== ''))
  }
})

it('listOrders finds an order by its refunds, also after an import renames it, and after an undo', async () => {
  const shop = await seedShopWithAccount('manual')
  const row = aRow()
  const { orders } = await importFile(shop, [row])
  const [order = ''] = orders
  const detail = async () => (await get(`/v1/orders/${order}`)).body
  const { purchases } = await detail()
  const path = `/v1/purchases/${purchases[0].id}/refund-requests`
  const refundReply = await post(path, { reason: 'customer_request', amount: 10 })
  expect((await post(`/v1/refund-requests/${refundReply.body.id}/approve`, {})).status).toBe(200)
  const { transactions } = await detail()
  const refund = transactions.find(({ type }: { type: string }) => type === 'refund').id as string
  const find = async (search: string) => {
    const query = new URLSearchParams({ edition_id: shop.edition_id, search })
    return (await get(`/v1/orders?${query.toString()}`)).body.results.map(({ id }: { id: string }) => id)
  }
  expect(await find(refund)).toEqual([order])
  const renamed = { ...row, values: { ...row.values, 'order.order_number': 'Renamed-1' } }
  const { id } = await importFile(shop, [renamed])
  expect([await find(refund), await find('renamed-1')]).toEqual([[order], [order]])
  expect(await undoToEnd(id)).toMatchObject({ undone_orders: 1, kept_orders: 0 })
  expect([await find(refund), await find('renamed-1')]).toEqual([[order], []])
})

it('an update keeps the ids of the cart, its lines, its purchases and its payment', async () => {
  const shop = await seedShop()
  const items = [
    { product: 'Day ticket', quantity: 1, unit_price: 100 },
    { product: 'Parking', quantity: 2, unit_price: 50 },
  ]
  const order = anOrder({ items })
  const { body } = await importOrders(shop, [order])
  const id = body.results[0].order_id as string
  const detail = async () => (await get(`/v1/orders/${id}`)).body
  const { cart, purchases, completed_transaction_id, transactions } = await detail()
  expect(cart.items.map((line: { quantity: number }) => line.quantity)).toEqual([1, 2])
  const ids: string[] = [cart, ...cart.items, ...purchases, ...transactions].map((row) => row.id)
  expect(ids.map(findIdKind)).toEqual([
    'cart',
    'cart_item',
    'cart_item',
    'purchase',
    'purchase',
    'purchase',
    'transaction',
  ])
  expect(new Set([id, ...ids].map((value) => value.slice(-16))).size).toBe(8)
  expect(completed_transaction_id).toBe(transactions[0].id)
  await importOrders(
    shop,
    [{ ...order, coupon_code: 'WINTER', items: [...items, { product: 'Mug', quantity: 1, unit_price: 8 }] }],
    {
      on_duplicate: 'update',
    },
  )
  const updated = await detail()
  expect(updated.cart.coupon_code).toBe('WINTER')
  expect([updated.cart.id, ...updated.cart.items.map((line: { id: string }) => line.id)].slice(0, 3)).toEqual(
    ids.slice(0, 3),
  )
  expect(updated.cart.items[2].id).toMatch(/^itm_[0-9A-Z]{26}$/)
  expect(updated.completed_transaction_id).toBe(completed_transaction_id)
})
