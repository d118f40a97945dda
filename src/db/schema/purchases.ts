// npm run schema makes this file from migrations/0009_purchases.sql and src/db/column-types.ts.
//
// The units bought with orders, and their uses.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** One row per unit bought. */
export const purchases = sqliteTable('purchases', {
  id: text().primaryKey(),
  edition_id: text().notNull(), // references editions (id)
  order_id: text().notNull(), // references orders (id)
  user_id: text().notNull(), // references users (id)
  product_id: text().notNull(), // references products (id)
  variant_id: text(), // references variants (id)
  location_id: text(), // references locations (id)
  options: text({ mode: 'json' }).$type<typeof types.purchases.options.value>().notNull().default([]),
  vendor_code: text(),
  status: text({ enum: types.purchases.status }).notNull(),
  /** Price, deposit and handling fee are what was paid, after the order's discount. */
  price_minor: integer().notNull(),
  deposit_minor: integer().notNull(),
  handling_fee_minor: integer().notNull(),
  refunded_minor: integer().notNull().default(0),
  reserved_minor: integer().notNull().default(0),
  uses_limit: integer().notNull().default(1),
  uses_count: integer().notNull().default(0),
  is_unlimited_use: integer({ mode: 'boolean' }).notNull().default(false),
  /** When the purchase ends; null for one that does not end by itself. */
  valid_until: integer(),
  metadata: text({ mode: 'json' }).$type<typeof types.purchases.metadata.value>().notNull().default({}),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** Uses of a purchase: a scan at an entrance, a meal handed out. A reverted use stays as a record. */
export const purchaseUses = sqliteTable('purchase_uses', {
  id: text().primaryKey(),
  purchase_id: text().notNull(), // references purchases (id)
  quantity: integer().notNull(),
  location_id: text(), // references locations (id)
  used_at: integer().notNull(),
  reverted_at: integer(),
  /** The accounts that recorded and reverted the use. */
  created_by: text(),
  reverted_by: text(),
  created_at: integer().notNull(),
})
