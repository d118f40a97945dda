import { type SQL, sql } from 'drizzle-orm'
import { buildOrderText } from '../domain/orders/orders.ts'
import type { Statement } from './database.ts'

/** The search text of an order whose number changes. Its transactions are read when the statement runs. */
export const rebuildOrderText = (order: Parameters<typeof buildOrderText>[0]): SQL =>
  sql`${buildOrderText(order, [])} || coalesce((select group_concat(char(10) || lower(id), '')
    from (select id from transactions where order_id = ${order.id} order by created_at, id)), '')`

/** Adds a transaction to the search text of its order. */
export const addToOrderText = (orderId: string, transactionId: string): Statement =>
  sql`update orders set search_text = search_text || char(10) || lower(${transactionId}) where id = ${orderId}`
