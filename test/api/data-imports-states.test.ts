import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { orderStatuses, transactionStatuses } from '../../src/domain/orders/orders.ts'
import { purchaseStatuses } from '../../src/domain/orders/purchases.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders } from '../support/seeding/sales/orders.ts'

/** Each row has the states of a payment and a purchase after an update, by the order's status. Other states stay. */
const payments: Record<string, Record<string, string>> = {
  pending: { confirmed: 'authorized', completed: 'captured', cancelled: 'cancelled' },
  authorized: { completed: 'captured', cancelled: 'cancelled' },
  captured: { cancelled: 'cancelled' },
}
const purchases: Record<string, Record<string, string>> = {
  pending: { confirmed: 'active', completed: 'active', cancelled: 'cancelled' },
  active: { cancelled: 'cancelled' },
}

const cases = orderStatuses.flatMap((target) => transactionStatuses.map((payment) => ({ target, payment })))
const items = purchaseStatuses.map((status) => ({ product: status, quantity: 1, unit_price: 10 }))
const buildOrder = ({ target, payment }: (typeof cases)[number], status: string) =>
  anOrder({ external_id: `${target} ${payment}`, status, items })

interface OrderStates {
  external_id: string
  payment: string
  purchase: string
  product: string
}

it('an update moves payments and purchases forward from every state, and never back', async () => {
  const shop = await seedShop()
  const orderIds = await importOrders(
    shop,
    cases.map((testCase) => buildOrder(testCase, 'pending')),
  )
  expect(orderIds.body.created_orders).toBe(cases.length)
  const ofShop = sql`edition_id = ${shop.edition_id}`
  await write(
    sql`update transactions set status = (select substr(external_id, instr(external_id, ' ') + 1) from orders
      where orders.id = order_id) where order_id in (select id from orders where ${ofShop})`,
    sql`update purchases set status = (select name from products where products.id = product_id) where ${ofShop}`,
  )
  const updated = await importOrders(
    shop,
    cases.map((testCase) => buildOrder(testCase, testCase.target)),
    { on_duplicate: 'update' },
  )
  expect(updated.body.updated_orders).toBe(cases.length)
  const rows = await db.all(sql<OrderStates>`select orders.external_id, transactions.status as payment,
      purchases.status as purchase, products.name as product
    from orders join transactions on transactions.order_id = orders.id join purchases on purchases.order_id = orders.id
      join products on products.id = purchases.product_id where orders.edition_id = ${shop.edition_id}`)
  for (const { target, payment } of cases) {
    const matchingRows = rows.filter(({ external_id }) => external_id === `${target} ${payment}`)
    expect([target, payment, new Set(matchingRows.map((row) => row.payment))]).toEqual([
      target,
      payment,
      new Set([payments[payment]?.[target] ?? payment]),
    ])
    for (const status of purchaseStatuses) {
      // An order that still has a cancelled purchase buys it again.
      if (status === 'cancelled') continue
      const after = matchingRows.filter(({ product }) => product === status).map(({ purchase }) => purchase)
      expect([target, status, after]).toEqual([target, status, [purchases[status]?.[target] ?? status]])
    }
  }
})
