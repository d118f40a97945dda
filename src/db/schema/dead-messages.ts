// npm run schema makes this file from migrations/0026_dead_messages.sql and src/db/column-types.ts.
//
// Queue messages that failed.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Queue messages that no consumer could process. They are faults of this service, stored for whoever fixes them.
 */
export const deadMessages = sqliteTable('dead_messages', {
  id: text().primaryKey(),
  queue: text().notNull(),
  body: text().notNull(),
  /** The error of the last attempt. Null when the consumer could not store the message, and the platform moved it. */
  error: text(),
  /** When the superuser put it back into its queue. */
  retried_at: integer(),
  created_at: integer().notNull(),
})
