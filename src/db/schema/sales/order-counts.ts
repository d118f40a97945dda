import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

const orders = () => integer().notNull().default(0)

/** Triggers and `countTogether` write it; a column of each status and type of an order. */
export const orderCounts = sqliteTable(
  'order_counts',
  {
    span_bits: integer().notNull(),
    edition_id: text().notNull(),
    span: integer().notNull(),
    pending_online: orders(),
    pending_in_person: orders(),
    pending_imported: orders(),
    confirmed_online: orders(),
    confirmed_in_person: orders(),
    confirmed_imported: orders(),
    completed_online: orders(),
    completed_in_person: orders(),
    completed_imported: orders(),
    cancelled_online: orders(),
    cancelled_in_person: orders(),
    cancelled_imported: orders(),
    changes: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.span_bits, table.edition_id, table.span] })],
)

export const listCounts = sqliteTable(
  'list_counts',
  {
    slot: integer().notNull(),
    key: text().notNull(),
    version: integer().notNull(),
    total: integer().notNull(),
    counted_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot] })],
)
