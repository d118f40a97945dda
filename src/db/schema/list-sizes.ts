import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const listSizes = sqliteTable('list_sizes', {
  organization_id: text().primaryKey(),
  orders: integer().notNull().default(0),
  purchases: integer().notNull().default(0),
  campaigns: integer().notNull().default(0),
  options: integer().notNull().default(0),
  user_metadata: integer().notNull().default(0),
  order_metadata: integer().notNull().default(0),
  people: integer().notNull().default(0),
  all_orders: integer().notNull().default(0),
  all_purchases: integer().notNull().default(0),
})
