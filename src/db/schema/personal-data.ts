import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { type Channel, channels } from '../../domain/messaging/messaging.ts'
import { suppressionReasons } from '../../domain/messaging/suppressions.ts'

export const erasures = sqliteTable('erasures', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  user_id: text().notNull().unique(),
  user_seq: integer().notNull(),
  reason: text().notNull().default(''),
  caller_id: text().notNull(),
  addresses: text({ mode: 'json' }).$type<[Channel, string][]>().notNull(),
  user_created_at: integer().notNull(),
  pass: integer().notNull().default(1),
  place: text().notNull().default(''),
  cursor: text().notNull().default(''),
  due_at: integer(),
  claimed_until: integer(),
  completed_at: integer(),
  created_at: integer().notNull(),
})

export const suppressionHashes = sqliteTable(
  'suppression_hashes',
  {
    organization_id: text().notNull(),
    channel: text({ enum: channels }).notNull(),
    address_hash: text().notNull(),
    reason: text({ enum: suppressionReasons }).notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address_hash] })],
)
