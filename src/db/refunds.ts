import { type SQL, sql } from 'drizzle-orm'
import { idLike } from '../domain/ids.ts'
import { paidStatuses } from '../domain/orders/orders.ts'
import { heldStatuses } from '../domain/orders/purchases.ts'
import { boughtInOrder } from './purchases.ts'

const oneOf = (column: SQL, values: readonly string[]): SQL =>
  sql`${column} in (${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )})`

/** Holds for the payment that a request refunds. */
export const isPaymentOf = (refund: { order_id: string; transaction_id: string }): SQL =>
  sql`transactions.order_id = ${refund.order_id} and transactions.id = ${refund.transaction_id}`

/** The transaction with an id, as a table: the id is made of that of its order, or an index of ids has it. */
export const transactionWith = (id: string): SQL =>
  sql`(select * from transactions where order_id = ${idLike('order', id)} and id = ${id}
    union all select * from transactions where id = ${id} and substr(id, 5) <> substr(order_id, 5))`

/** What is left of a payment, in minor units; 0 unless it was captured. `payment` is the row's name in the query. */
export const paymentRest = (payment: SQL): SQL =>
  sql`iif(${oneOf(sql`${payment}.status`, paidStatuses)},
    max(0, ${payment}.amount_minor - ${payment}.refunded_minor - ${payment}.reserved_minor), 0)`

/**
 * What was paid for a purchase and is neither paid back nor reserved, without regard to the rest of its payment; 0
 * unless the purchase is held. The handling fee is in it when `fees` is 1.
 */
export const purchaseShare = (purchase: SQL, fees: SQL): SQL =>
  sql`iif(${oneOf(sql`${purchase}.status`, heldStatuses)}, max(0, ${purchase}.price_minor + ${purchase}.deposit_minor
    + ${purchase}.handling_fee_minor * ${fees} - ${purchase}.refunded_minor - ${purchase}.reserved_minor), 0)`

/**
 * The most that can be requested for a purchase. This and `orderRest` are what every answer shows and every guard
 * checks.
 */
export const purchaseRest = (purchase: SQL, payment: SQL, fees: SQL = sql`0`): SQL =>
  sql`min(${purchaseShare(purchase, fees)}, ${paymentRest(payment)})`

/**
 * The most that can be requested for an order or its payment: what is left of its purchases, and never more than is
 * left of the payment. With `fees` it is all that is left of the payment.
 */
export const orderRest = (orderId: SQL, payment: SQL, fees: SQL = sql`0`): SQL =>
  sql`iif(${fees} = 1, ${paymentRest(payment)}, min(${paymentRest(payment)},
    (select coalesce(sum(${purchaseShare(sql`bought`, sql`0`)}), 0) 
      from ${boughtInOrder(orderId)} as bought)))`
