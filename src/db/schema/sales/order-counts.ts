import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { orderStatuses, orderTypes } from '../../../domain/orders/orders.ts'

/** Triggers on orders write it. */
export const orderCounts = sqliteTable(
  'order_counts',
  {
    edition_id: text().notNull(),
    status: text({ enum: orderStatuses }).notNull(),
    type: text({ enum: orderTypes }).notNull(),
    orders_count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.status, table.type] })],
)
