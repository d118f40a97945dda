import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const serviceOutages = sqliteTable(
  'service_outages',
  {
    service: text().notNull(),
    resource_id: text().notNull(),
    reason: text().notNull(),
    since: integer().notNull(),
    next_attempt_at: integer(),
  },
  (table) => [primaryKey({ columns: [table.service, table.resource_id] })],
)
