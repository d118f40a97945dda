// npm run schema makes this file from migrations/0022_captures.sql and src/db/column-types.ts.
//
// What stands for the outside world in development and tests: records and answers of gateways, and a clock that moves.

import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Calls that the capture gateways recorded instead of sending. A repeated call with the same key records nothing.
 */
export const capturedMessages = sqliteTable(
  'captured_messages',
  {
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    channel: text({ enum: types.captured_messages.channel }).notNull(),
    call_key: text().notNull(),
    position: integer().notNull(),
    reference: text().notNull(),
    sender: text().notNull(),
    recipient: text().notNull(),
    reply_to: text(),
    subject: text().notNull().default(''),
    html: text().notNull().default(''),
    body: text().notNull(),
    headers: text({ mode: 'json' }).$type<typeof types.captured_messages.headers.value>().notNull().default({}),
    created_at: integer().notNull(),
  },
  (table) => [unique().on(table.channel, table.call_key, table.position)],
)

/** Records that the capture gateway for DNS returns, in development and tests. */
export const capturedDnsRecords = sqliteTable(
  'captured_dns_records',
  {
    name: text().notNull(),
    value: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.value] })],
)

/**
 * Root keys that callbacks are verified with in development and tests, where the platform is not asked for its own.
 */
export const capturedWalletKeys = sqliteTable('captured_wallet_keys', {
  key_value: text().primaryKey(),
  expires_at: integer().notNull(),
})

/** The clock in development: one row, once `POST /dev/clock` has moved it. */
export const devClock = sqliteTable('dev_clock', {
  id: integer().primaryKey(),
  /** The clock is this much ahead of the machine's. */
  offset_ms: integer().notNull(),
})
