import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { currencies } from '../../../domain/money.ts'
import {
  orderStatuses,
  orderTypes,
  transactionServices,
  transactionStatuses,
  transactionTypes,
} from '../../../domain/orders/orders.ts'
import type { StoredCart } from '../../../domain/orders/carts.ts'
import { type BoughtOption, purchaseStatuses } from '../../../domain/orders/purchases.ts'

export const orders = sqliteTable('orders', {
  seq: integer().primaryKey(),
  id: text().notNull(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  user_id: text().notNull(),
  order_number: text(),
  type: text({ enum: orderTypes }).notNull(),
  status: text({ enum: orderStatuses }).notNull(),
  amount_minor: integer().notNull(),
  currency: text({ enum: currencies }).notNull(),
  items_count: integer().notNull(),
  has_payment: integer({ mode: 'boolean' }).notNull(),
  completed_transaction_id: text(),
  cart: text({ mode: 'json' }).$type<StoredCart>().notNull(),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  external_source: text(),
  external_id: text(),
  /** The customer's e-mail address in the last import, or else the phone number. */
  imported_address: text(),
  number_folded: text().notNull().default(''),
  number_key: text(),
  /** Order number, id, external id, and the ids of its transactions: folded, one a line. */
  search_text: text().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export type OrderRow = typeof orders.$inferSelect

export const transactions = sqliteTable('transactions', {
  id: text().primaryKey(),
  order_id: text().notNull(),
  type: text({ enum: transactionTypes }).notNull(),
  status: text({ enum: transactionStatuses }).notNull(),
  service: text({ enum: transactionServices }).notNull(),
  amount_minor: integer().notNull(),
  currency: text({ enum: currencies }).notNull(),
  service_fee_minor: integer().notNull(),
  handling_fee_minor: integer().notNull(),
  refunded_minor: integer().notNull().default(0),
  reserved_minor: integer().notNull().default(0),
  provider_reference: text(),
  /** The organisation of a payment with a reference. */
  organization_id: text(),
  /** Milliseconds UTC; later than that of every payment of the organisation that had the reference before. */
  reference_since: integer(),
  /** The account that the edition had when the payment was stored. Null: a person pays refunds. */
  merchant_account_id: text(),
  /** The connected account that replaced the account's own then. */
  provider_account: text(),
  refund_request_id: text(),
  created_at: integer().notNull(),
})

export const purchases = sqliteTable('purchases', {
  id: text().primaryKey(),
  edition_id: text().notNull(),
  order_id: text().notNull(),
  user_id: text().notNull(),
  product_id: text().notNull(),
  variant_id: text(),
  location_id: text(),
  options: text({ mode: 'json' }).$type<readonly BoughtOption[]>().notNull().default([]),
  vendor_code: text(),
  status: text({ enum: purchaseStatuses }).notNull(),
  /** What was paid after the discount of the order; so are the deposit and the handling fee. */
  price_minor: integer().notNull(),
  deposit_minor: integer().notNull(),
  handling_fee_minor: integer().notNull(),
  uses_limit: integer().notNull().default(1),
  uses_count: integer().notNull().default(0),
  is_unlimited_use: integer({ mode: 'boolean' }).notNull().default(false),
  valid_until: integer(),
  refunded_minor: integer().notNull().default(0),
  reserved_minor: integer().notNull().default(0),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const purchaseUses = sqliteTable('purchase_uses', {
  id: text().primaryKey(),
  purchase_id: text().notNull(),
  quantity: integer().notNull(),
  location_id: text(),
  used_at: integer().notNull(),
  reverted_at: integer(),
  created_at: integer().notNull(),
})
