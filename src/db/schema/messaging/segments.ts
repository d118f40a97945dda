import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { channels } from '../../../domain/messaging/messaging.ts'
import {
  communicationTypes,
  type ExclusionReason,
  exclusionReasons,
  segmentStatuses,
} from '../../../domain/segments.ts'

export const segments = sqliteTable('segments', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  description: text().notNull().default(''),
  communication_type: text({ enum: communicationTypes }).notNull(),
  communication_channel: text({ enum: channels }).notNull(),
  expression: text().notNull(),
  is_time_dependent: integer({ mode: 'boolean' }).notNull(),
  status: text({ enum: segmentStatuses }).notNull(),
  epoch: integer().notNull().default(0),
  members_epoch: integer().notNull().default(0),
  cursor_id: text().notNull().default(''),
  last_id: text().notNull().default(''),
  walked_count: integer().notNull().default(0),
  population_count: integer().notNull().default(0),
  matched_count: integer().notNull().default(0),
  user_count: integer().notNull().default(0),
  excluded: text({ mode: 'json' }).$type<Partial<Record<ExclusionReason, number>>>().notNull().default({}),
  calculated_at: integer(),
  calculation_started_at: integer(),
  heartbeat_at: integer(),
  error_message: text().notNull().default(''),
  deleted_at: integer(),
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
    excluded_for: text({ enum: exclusionReasons }),
  },
  (table) => [primaryKey({ columns: [table.segment_seq, table.epoch, table.user_seq] })],
)
export type StoredSegmentRow = typeof segments.$inferSelect

export const segmentExports = sqliteTable('segment_exports', {
  id: text().primaryKey(),
  segment_id: text().notNull(),
  organization_id: text().notNull(),
  caller_id: text().notNull(),
  request_id: text().notNull(),
  columns: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  user_count: integer().notNull(),
  created_at: integer().notNull(),
})

export const segmentLeftovers = sqliteTable(
  'segment_leftovers',
  {
    segment_seq: integer().notNull(),
    epoch: integer().notNull(),
    left_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.segment_seq, table.epoch] })],
)
