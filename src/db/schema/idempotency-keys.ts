// npm run schema makes this file from migrations/0003_idempotency_keys.sql and src/db/column-types.ts.
//
// Requests that may be repeated and are executed once.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** Answers to requests that carried an `Idempotency-Key`, until they expire. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    caller_id: text().notNull(),
    key_hash: text().notNull(),
    fingerprint: text().notNull(),
    claim_id: text().notNull(),
    claimed_until: integer().notNull(),
    expires_at: integer().notNull(),
    status: integer(),
    headers: text({ mode: 'json' }).$type<typeof types.idempotency_keys.headers.value>(),
    body: text(),
  },
  (table) => [primaryKey({ columns: [table.caller_id, table.key_hash] })],
)
