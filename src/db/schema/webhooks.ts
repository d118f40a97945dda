// npm run schema makes this file from migrations/0020_webhooks.sql and src/db/column-types.ts.
//
// Webhook endpoints, events, and their deliveries.

import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** Where an organization wants events posted. */
export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  name: text().notNull(),
  name_key: text().notNull(),
  url: text().notNull(),
  events: text({ mode: 'json' }).$type<typeof types.webhook_endpoints.events.value>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  timeout_seconds: integer().notNull().default(0),
  secret: text().notNull(),
  /** Signs beside `secret` until `previous_secret_until`. */
  previous_secret: text(),
  previous_secret_until: integer(),
  disabled_at: integer(),
  disabled_reason: text({ enum: types.webhook_endpoints.disabled_reason }),
  /** When the current series of failures began, and how long it is. A success clears both. */
  failing_since: integer(),
  /** The fault of the endpoint, and when a failed delivery is attempted next. */
  failing_reason: text(),
  next_attempt_at: integer(),
  failures_in_row: integer().notNull().default(0),
  /** While the breaker is open, deliveries wait until then; after it a single one probes. */
  breaker_until: integer(),
  /** True if the last request took three seconds or timed out. Requests leave such endpoints to the queue. */
  is_slow: integer({ mode: 'boolean' }).notNull().default(false),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** Events, once each, in the exact bytes that every endpoint receives. */
export const webhookEvents = sqliteTable('webhook_events', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  kind: text({ enum: types.webhook_events.kind }).notNull(),
  payload: text().notNull(),
  /** The ids of the resources that the event is about, each between two spaces. */
  resource_ids: text().notNull().default(''),
  /**
   * The place of the event in the order of the commits of its organization. Null: it tests an endpoint, and no list
   * has it.
   */
  seq: integer(),
  /** What happened, where its source reports it more than once; null where the transaction of the change tells. */
  dedup_key: text(),
  created_at: integer().notNull(),
})

/** Clients learn from it that events were deleted before they read them. */
export const webhookEventExpiries = sqliteTable('webhook_event_expiries', {
  organization_id: text().primaryKey(), // references organizations (id)
  /** The largest `seq` of its deleted events. */
  seq: integer().notNull(),
})

/** Open streams of events. A stream renews its claim, so one that crashed ends with it. */
export const webhookStreams = sqliteTable(
  'webhook_streams',
  {
    /** The access token, or the account of a caller without one. */
    holder_id: text().notNull(),
    id: text().notNull(),
    organization_id: text().notNull(), // references organizations (id)
    claimed_until: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.holder_id, table.id] })],
)

/**
 * One row per event and endpoint. The unique key begins with the event, so deleting an event finds its deliveries.
 */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    id: text().primaryKey(),
    endpoint_id: text().notNull(), // references webhook_endpoints (id)
    event_id: text().notNull(), // references webhook_events (id)
    /** The edition of the event, which never changes. It decides who sees the delivery. */
    edition_id: text(),
    kind: text({ enum: types.webhook_deliveries.kind }).notNull(),
    status: text({ enum: types.webhook_deliveries.status }).notNull(),
    attempts: integer().notNull().default(0),
    /** Position in the retry schedule. A manual retry counts as an attempt and not as a step. */
    step: integer().notNull().default(0),
    /** The next attempt was asked for: `extra` beside the schedule, `alone` after the schedule has ended. */
    manual: text({ enum: types.webhook_deliveries.manual }),
    response_status_code: integer(),
    signature: text(),
    signed_at: integer(),
    last_attempt_at: integer(),
    /** The last attempt, as JSON. It moves to `webhook_attempts` when the next one is recorded. */
    last_attempt: text({ mode: 'json' }).$type<typeof types.webhook_deliveries.last_attempt.value>(),
    next_retry_at: integer(),
    claimed_until: integer(),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.event_id, table.endpoint_id)],
)

/** Attempts of a delivery before its last one, which stands in `webhook_deliveries.last_attempt`. */
export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    delivery_id: text().notNull(), // references webhook_deliveries (id)
    number: integer().notNull(),
    started_at: integer().notNull(),
    duration_ms: integer().notNull(),
    status_code: integer(),
    /** Why it failed; null for a success. */
    error: text(),
    is_manual: integer({ mode: 'boolean' }).notNull(),
    next_retry_at: integer(),
    next_reason: text({ enum: types.webhook_attempts.next_reason }),
    /** The beginning of what the receiver answered, as plain text. */
    response_text: text(),
  },
  (table) => [primaryKey({ columns: [table.delivery_id, table.number] })],
)
