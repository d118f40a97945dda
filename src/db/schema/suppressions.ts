// npm run schema makes this file from migrations/0014_suppressions.sql and src/db/column-types.ts.
//
// Addresses that must not be written to.

import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Addresses that receive nothing but what the law demands. `address` is written as in `users`: a lower-case e-mail
 * address or an E.164 number.
 */
export const suppressions = sqliteTable(
  'suppressions',
  {
    id: text()
      .notNull()
      .default(sql`('sup_' || hex(randomblob(13)))`),
    organization_id: text().notNull(), // references organizations (id)
    channel: text({ enum: types.suppressions.channel }).notNull(),
    address: text().notNull(),
    reason: text({ enum: types.suppressions.reason }).notNull(),
    detail: text().notNull().default(''),
    campaign_id: text(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address] })],
)

/** Suppressed addresses of erased customers, hashed. They are suppressed again when the customer comes back. */
export const suppressionHashes = sqliteTable(
  'suppression_hashes',
  {
    organization_id: text().notNull(), // references organizations (id)
    channel: text({ enum: types.suppression_hashes.channel }).notNull(),
    address_hash: text().notNull(),
    reason: text({ enum: types.suppression_hashes.reason }).notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address_hash] })],
)

/** Addresses that refused one message and may take another: one row per message, however often it is reported. */
export const softBounces = sqliteTable(
  'soft_bounces',
  {
    organization_id: text().notNull(), // references organizations (id)
    channel: text({ enum: types.soft_bounces.channel }).notNull(),
    address: text().notNull(),
    reference: text().notNull(),
    bounced_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address, table.reference] })],
)
