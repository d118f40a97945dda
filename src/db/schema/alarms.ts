// npm run schema makes this file from migrations/0029_alarms.sql and src/db/column-types.ts.
//
// Faults that should wake somebody.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * One row per alarm that stands, or whose end is not posted yet. A sweep writes them, and posts each beginning and
 * each end to ALERT_WEBHOOK_URL.
 */
export const alarms = sqliteTable('alarms', {
  id: text().primaryKey(),
  kind: text({ enum: types.alarms.kind }).notNull(),
  /** The queue, the sweep or the service; empty for alarms about everything. */
  subject: text().notNull(),
  /** The merchant account that fails; empty for everything else. */
  resource_id: text().notNull(),
  /** A sentence about what was wrong when the alarm began. */
  message: text().notNull(),
  since: integer().notNull(),
  /** The time at which the cause was first absent. Null while it is present. */
  absent_since: integer(),
  ended_at: integer(),
  /** The time at which the receiver accepted the beginning. */
  notified_at: integer(),
  /** The reason for which the last post failed. */
  notification_error: text(),
  attempted_at: integer(),
  claimed_until: integer(),
})
