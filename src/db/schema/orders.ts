// npm run schema makes this file from migrations/0008_orders.sql and src/db/column-types.ts.
//
// Orders and their payments.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** An order of an edition. `seq` is the order of creation and the rowid in the search index. */
export const orders = sqliteTable('orders', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  user_id: text().notNull(), // references users (id)
  order_number: text(),
  /** The order number as filters compare it. SQLite's `lower` folds no other letters than a to z. */
  number_folded: text().notNull().default(''),
  /**
   * The sort key of the order number: folded, with the length of each number before its digits, so A-2 comes before
   *
   */
  number_key: text(),
  type: text({ enum: types.orders.type }).notNull(),
  status: text({ enum: types.orders.status }).notNull(),
  amount_minor: integer().notNull(),
  currency: text({ enum: types.orders.currency }).notNull(),
  items_count: integer().notNull(),
  has_payment: integer({ mode: 'boolean' }).notNull(),
  completed_transaction_id: text(),
  /** The cart as JSON. Zeros and empty values are left out; its total is `amount_minor`. */
  cart: text({ mode: 'json' }).$type<typeof types.orders.cart.value>().notNull(),
  metadata: text({ mode: 'json' }).$type<typeof types.orders.metadata.value>().notNull().default({}),
  external_source: text(),
  external_id: text(),
  /**
   * The e-mail address of the customer in the last import of the order, or else the number. The same order keeps its
   * customer when it comes again with it, although the customer may have another address by now.
   */
  imported_address: text(),
  /**
   * When the order was cancelled in this service, and the account that did it. An import that cancels it sets
   * neither.
   */
  cancelled_at: integer(),
  cancelled_by: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  /** Order number, id, external id, and the ids of its transactions: folded, one a line. */
  search_text: text().notNull(),
})

/**
 * The number of orders of a status and type in an edition. Triggers count them, and a nightly job checks the
 * numbers.
 */
export const orderCounts = sqliteTable(
  'order_counts',
  {
    edition_id: text().notNull(),
    status: text({ enum: types.order_counts.status }).notNull(),
    type: text({ enum: types.order_counts.type }).notNull(),
    orders_count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.status, table.type] })],
)

/** Payments of orders and the refunds paid on them. */
export const transactions = sqliteTable('transactions', {
  id: text().primaryKey(),
  order_id: text().notNull(), // references orders (id)
  type: text({ enum: types.transactions.type }).notNull(),
  status: text({ enum: types.transactions.status }).notNull(),
  service: text({ enum: types.transactions.service }).notNull(),
  /** The payment in the provider's words, such as a payment intent id. */
  provider_reference: text(),
  /**
   * The organization of a payment with a reference of its provider, and since when it has that reference: later than
   * every payment of the organization that had the reference before.
   */
  organization_id: text(),
  reference_since: integer(),
  /**
   * The account that the edition had when the payment was stored, and the connected account that replaced the
   * account's own. Refunds go through them, whatever the edition has now. Null: a person pays refunds.
   */
  merchant_account_id: text(), // references merchant_accounts (id)
  provider_account: text(),
  /** Set on rows of type refund: the request that it pays. */
  refund_request_id: text(), // references refund_requests (id)
  amount_minor: integer().notNull(),
  currency: text({ enum: types.transactions.currency }).notNull(),
  service_fee_minor: integer().notNull(),
  handling_fee_minor: integer().notNull(),
  refunded_minor: integer().notNull().default(0),
  reserved_minor: integer().notNull().default(0),
  created_at: integer().notNull(),
})
