import { type SQL, sql } from 'drizzle-orm'
import { type IdKind, idPrefixes } from '../domain/ids.ts'

/** What the ids of a kind begin with that are made from that of an order: see `idsWithin`. */
export const idStemOf = (kind: IdKind, order: SQL): SQL =>
  sql`${sql.raw(`'${idPrefixes[kind]}_'`)} || substr(${order}, 5, length(${order}) - 20) || substr(${order}, -12)`

const stemOf = (order: SQL): SQL => idStemOf('purchase', order)

const isMade = (order: SQL): SQL =>
  sql`order_id = ${order} and purchases.id >= ${stemOf(order)} and purchases.id < ${stemOf(order)} || '['`

/** The index of these says it word by word. */
const isApart = (order: SQL): SQL =>
  sql`order_id = ${order} and substr(purchases.id, 1, length(purchases.id) - 4) <> ${stemOf(sql`order_id`)}`

/**
 * The purchases of an order as a table: those whose ids are made from its own are a range of the key, and an index has the
 * others.
 */
export const boughtInOrder = (order: SQL): SQL =>
  sql`(select * from purchases where ${isMade(order)} union all select * from purchases where ${isApart(order)})`

/** As `boughtInOrder`, of several orders: `ordersToFind` is a query of their `id`. */
export const boughtIn = (ordersToFind: SQL): SQL => {
  const order = sql`its_order.id`
  return sql`(select purchases.* from (${ordersToFind}) as its_order cross join purchases on ${isMade(order)}
    union all select purchases.* from (${ordersToFind}) as its_order cross join purchases on ${isApart(order)})`
}

/** As `boughtIn`, of orders whose ids are known. */
export const boughtInOrders = (ids: readonly string[]): SQL =>
  boughtIn(sql`select value as id from json_each(${JSON.stringify(ids)})`)
