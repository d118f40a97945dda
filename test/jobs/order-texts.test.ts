import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ownSearch } from '../../src/domain/orders/orders.ts'
import { kindOfId } from '../../src/domain/ids.ts'
import { get } from '../support/api.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('A-1', 'Bestilling Æ7', 'ŁÓDŹ-3', 'straße', '№ 5', 'x_%', 'ǅ', 'İ1'),
)

interface Row {
  id: string
  external_id: string
  order_number: string | null
  search_own: string
  own_search_text: string
  search_text: string
}

it('the texts of an order are the same, whether its row makes them or keeps them', async () => {
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
  const rows = await db.all(sql<Row>`select id, external_id, order_number, search_own, own_search_text, search_text
    from orders where edition_id = ${shop.edition_id}`)
  const wanted = rows.map((row) => ownSearch(row, [`trx_${row.id.slice(4)}`]))
  expect(rows.map((row) => row.own_search_text)).toEqual(wanted)
  expect(rows.every((row) => row.search_text.startsWith(row.own_search_text))).toBe(true)
  // Both kinds were there.
  expect(new Set(rows.map((row) => row.search_own === ''))).toEqual(new Set([true, false]))
})

it('gives a cart, its lines, its purchases and its payment ids of their own, which an update keeps', async () => {
  const shop = await seedShop()
  const items = [
    { product: 'Day ticket', quantity: 1, unit_price: 100 },
    { product: 'Parking', quantity: 2, unit_price: 50 },
  ]
  const made = anOrder({ items })
  const { body } = await importOrders(shop, [made])
  const id = body.results[0].order_id as string
  const detail = async () => (await get(`/v1/orders/${id}`)).body
  const { cart, purchases, completed_transaction_id, transactions } = await detail()
  expect(cart.items.map((line: { quantity: number }) => line.quantity)).toEqual([1, 2])
  const ids: string[] = [cart, ...cart.items, ...purchases, ...transactions].map((row) => row.id)
  expect(ids.map(kindOfId)).toEqual([
    'cart',
    'cart_item',
    'cart_item',
    'purchase',
    'purchase',
    'purchase',
    'transaction',
  ])
  expect(new Set([id, ...ids].map((one) => one.slice(-16))).size).toBe(8)
  expect(completed_transaction_id).toBe(transactions[0].id)
  await importOrders(shop, [{ ...made, coupon_code: 'WINTER', items: [...items, { product: 'Mug', quantity: 1, unit_price: 8 }] }], {
    on_duplicate: 'update',
  })
  const updated = await detail()
  expect(updated.cart.coupon_code).toBe('WINTER')
  expect([updated.cart.id, ...updated.cart.items.map((line: { id: string }) => line.id)].slice(0, 3)).toEqual(
    ids.slice(0, 3),
  )
  expect(updated.cart.items[2].id).toMatch(/^itm_[0-9A-Z]{26}$/)
  expect(updated.completed_transaction_id).toBe(completed_transaction_id)
})
