import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  deliveryStatuses,
  disabledReasons,
  type EventKind,
  eventKindNames,
  manualRetries,
  type LoggedAttempt,
  nextReasons,
} from '../../../domain/webhooks/webhooks.ts'

export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  url: text().notNull(),
  events: text({ mode: 'json' }).$type<EventKind[]>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  timeout_seconds: integer().notNull().default(0),
  secret: text().notNull(),
  previous_secret: text(),
  previous_secret_until: integer(),
  disabled_at: integer(),
  disabled_reason: text({ enum: disabledReasons }),
  failing_since: integer(),
  failing_reason: text(),
  next_attempt_at: integer(),
  failures_in_row: integer().notNull().default(0),
  breaker_until: integer(),
  is_slow: integer({ mode: 'boolean' }).notNull().default(false),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const webhookEvents = sqliteTable('webhook_events', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  kind: text({ enum: eventKindNames }).notNull(),
  payload: text().notNull(),
  created_at: integer().notNull(),
})

export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  id: text().primaryKey(),
  endpoint_id: text().notNull(),
  event_id: text().notNull(),
  edition_id: text(),
  kind: text({ enum: eventKindNames }).notNull(),
  status: text({ enum: deliveryStatuses }).notNull(),
  attempts: integer().notNull().default(0),
  step: integer().notNull().default(0),
  manual: text({ enum: manualRetries }),
  response_status_code: integer(),
  signature: text(),
  signed_at: integer(),
  last_attempt_at: integer(),
  next_retry_at: integer(),
  claimed_until: integer(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  last_attempt: text({ mode: 'json' }).$type<LoggedAttempt>(),
})

/** All attempts but the last one, which is in `webhook_deliveries.last_attempt`. */
export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    delivery_id: text().notNull(),
    number: integer().notNull(),
    started_at: integer().notNull(),
    duration_ms: integer().notNull(),
    status_code: integer(),
    error: text(),
    response_text: text(),
    is_manual: integer({ mode: 'boolean' }).notNull(),
    next_retry_at: integer(),
    next_reason: text({ enum: nextReasons }),
  },
  (table) => [primaryKey({ columns: [table.delivery_id, table.number] })],
)

export const deadMessages = sqliteTable('dead_messages', {
  id: text().primaryKey(),
  queue: text().notNull(),
  body: text().notNull(),
  created_at: integer().notNull(),
})
