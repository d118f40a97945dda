import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const segments = sqliteTable('segments', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  search: text().notNull(),
  description: text().notNull().default(''),
  communication_type: text().notNull(),
  communication_channel: text().notNull(),
  expression: text().notNull(),
  is_time_dependent: integer().notNull(),
  status: text().notNull(),
  epoch: integer().notNull().default(0),
  members_epoch: integer().notNull().default(0),
  cursor_seq: integer().notNull().default(0),
  last_seq: integer().notNull().default(0),
  user_count: integer().notNull().default(0),
  excluded: text().notNull().default('{}'),
  calculated_at: integer(),
  calculation_started_at: integer(),
  heartbeat_at: integer(),
  error_message: text().notNull().default(''),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const segmentMembers = sqliteTable(
  'segment_members',
  {
    segment_seq: integer().notNull(),
    epoch: integer().notNull(),
    user_seq: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.segment_seq, table.epoch, table.user_seq] })],
)
