// npm run schema makes this file from migrations/0024_service_outages.sql and src/db/column-types.ts.
//
// Services that fail now.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * One row per provider or endpoint that something waits for. A sweep writes them, so that the log says once when a
 * failure begins and once when it ends.
 */
export const serviceOutages = sqliteTable(
  'service_outages',
  {
    service: text().notNull(),
    /** The endpoint or merchant account that fails; empty for the providers of this service. */
    resource_id: text().notNull(),
    reason: text().notNull(),
    since: integer().notNull(),
    next_attempt_at: integer(),
  },
  (table) => [primaryKey({ columns: [table.service, table.resource_id] })],
)
