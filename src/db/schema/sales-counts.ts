// npm run schema makes this file from migrations/0028_sales_counts.sql and src/db/column-types.ts.
//
// The numbers of what was sold in each edition, for its statistics. Triggers count every order, purchase, use and refund
// request in the transaction that changes it, so the numbers are those of the lists at any time.

import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** A kind, product, status and currency that occur together in an edition. */
export const salesSeries = sqliteTable(
  'sales_series',
  {
    id: integer().primaryKey(),
    edition_id: text().notNull(),
    kind: text({ enum: types.sales_series.kind }).notNull(),
    /** Empty for orders and refunds. */
    product_id: text().notNull(),
    /** Empty for uses, as the currency is. */
    status: text().notNull(),
    currency: text().notNull(),
  },
  (table) => [unique().on(table.edition_id, table.kind, table.product_id, table.status, table.currency)],
)

/** The sums of a series in a quarter of an hour. In every time zone the days begin at such a quarter. */
export const salesCounts = sqliteTable(
  'sales_counts',
  {
    series_id: integer().notNull(),
    /** The quarter's number since 1970 in UTC. */
    quarter: integer().notNull(),
    items: integer().notNull(),
    /** The amount of orders, the price of purchases, and the amount that refunds ask for. */
    amount_minor: integer().notNull(),
    deposit_minor: integer().notNull(),
    handling_fee_minor: integer().notNull(),
    refunded_minor: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.series_id, table.quarter] })],
)
