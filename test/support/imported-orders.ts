import { expect } from 'vitest'
import { get } from './api.ts'
import { anOrder, importOrders, type Shop } from './seeding/sales/orders.ts'

export interface ShownPurchase {
  id: string
  status: string
  price_paid: number
  user: { api_id: string; full_name: string; email: string | null }
}

export const buildTicket = (change: Record<string, unknown> = {}) => ({
  product: 'Day ticket',
  quantity: 1,
  unit_price: 100,
  ...change,
})

export const order = (change: Record<string, unknown> = {}) =>
  anOrder({ external_id: 'same', customer: { email: 'buyer@example.dk', full_name: 'Ægir Holm' }, ...change })

/** Imports an order, which must succeed, and returns it with the import's result. */
export async function importOrder(shop: Shop, change: Record<string, unknown>, options: Record<string, unknown> = {}) {
  const reply = await importOrders(shop, [order(change)], { on_duplicate: 'update', ...options })
  const [result] = reply.body.results
  expect([reply.status, result.errors]).toEqual([201, []])
  const { body } = await get(`/v1/orders/${result.order_id}`)
  return { id: result.order_id as string, result, body, purchases: body.purchases as ShownPurchase[] }
}

export const describeRefusal = async (shop: Shop, change: Record<string, unknown>) => {
  const { body } = await importOrders(shop, [order(change)], { on_duplicate: 'update' })
  return body.results[0].errors.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`)
}
