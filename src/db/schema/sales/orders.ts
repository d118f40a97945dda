import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
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
  cart: text({ mode: 'json' }).$type<StoredCart>().notNull().default({}),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  external_source: text(),
  external_id: text(),
  number_folded: text().notNull().default(''),
  number_key: text(),
  /** Order number and ids, empty where `own_search_text` makes the same of the row; in `search` the contact of the customer. */
  search_own: text().notNull(),
  search: text().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  import_id: text(),
  import_number: integer(),
})

export type OrderRow = typeof orders.$inferSelect

/**
 * Indexes, with what reads them beside the key, which begins with the order. A row writes an entry in each that it belongs to:
 * - transactions_by_id: one transaction for each id; those whose id is not made of that of their order.
 * - transactions_of_merchant_account: an account that is used is not deleted.
 * - transactions_of_provider: a payment by the name that its provider gave it.
 * - transactions_of_refund: what a refund has paid back.
 */
export const transactions = sqliteTable(
  'transactions',
  {
    id: text().notNull(),
    order_id: text().notNull(),
    /** Of the version before alone: the edition has it. */
    organization_id: text(),
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
    merchant_account_id: text(),
    refund_request_id: text(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.order_id, table.id] })],
)

/**
 * Indexes, with what reads them. A row writes an entry in each that it belongs to:
 * - purchases_edition_status: lists of an edition, by one status or merged from all of them.
 * - purchases_edition_code: the scanner looks for a code, or for what it begins with.
 * - purchases_of_order: what an order contains, of purchases whose ids are not made from its own. The others are a range
 *   of the key.
 * - purchases_of_user: conditions of segments on what a person has bought, and erasure.
 * - purchases_due: purchases whose time is over, for the sweep that lets them expire.
 */
export const purchases = sqliteTable('purchases', {
  id: text().primaryKey(),
  /** As that of payments. */
  organization_id: text(),
  edition_id: text().notNull(),
  order_id: text().notNull(),
  user_id: text().notNull(),
  product_id: text().notNull(),
  variant_id: text(),
  location_id: text(),
  options: text({ mode: 'json' }).$type<readonly BoughtOption[]>().notNull().default([]),
  vendor_code: text(),
  status: text({ enum: purchaseStatuses }).notNull(),
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
