// npm run schema makes this file from migrations/0018_segments.sql and src/db/column-types.ts.
//
// Segments of customers, calculated from an expression.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** A saved expression and the state of its calculation. */
export const segments = sqliteTable('segments', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  description: text().notNull().default(''),
  communication_type: text({ enum: types.segments.communication_type }).notNull(),
  communication_channel: text({ enum: types.segments.communication_channel }).notNull(),
  expression: text().notNull(),
  /**
   * Rises with each change of the expression, the type, the channel or the edition. An approval of a campaign holds
   * for one version.
   */
  content_version: integer().notNull().default(1),
  /** The account that made the last of these changes. Null: there was none. */
  content_changed_by: text(),
  content_changed_at: integer(),
  is_time_dependent: integer({ mode: 'boolean' }).notNull(),
  status: text({ enum: types.segments.status }).notNull(),
  /**
   * Each calculation has a number. The current members have `members_epoch`, and a running calculation writes
   * `epoch`.
   */
  epoch: integer().notNull().default(0),
  members_epoch: integer().notNull().default(0),
  /** A calculation walks through the people in a fixed order, up to the last one who existed at its start. */
  cursor_id: text().notNull().default(''),
  last_id: text().notNull().default(''),
  walked_count: integer().notNull().default(0),
  population_count: integer().notNull().default(0),
  matched_count: integer().notNull().default(0),
  user_count: integer().notNull().default(0),
  excluded: text({ mode: 'json' }).$type<typeof types.segments.excluded.value>().notNull().default({}),
  calculated_at: integer(),
  calculation_started_at: integer(),
  heartbeat_at: integer(),
  error_message: text().notNull().default(''),
  /** A deleted segment stays, because sent campaigns still show it. */
  deleted_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/**
 * People for whom the expression holds. `excluded_for` is null for members, and otherwise why the person is
 * excluded.
 */
export const segmentMembers = sqliteTable(
  'segment_members',
  {
    segment_seq: integer().notNull(),
    epoch: integer().notNull(),
    user_seq: integer().notNull(),
    excluded_for: text({ enum: types.segment_members.excluded_for }),
  },
  (table) => [primaryKey({ columns: [table.segment_seq, table.epoch, table.user_seq] })],
)

/** Who exported personal data, when, and which columns. */
export const segmentExports = sqliteTable('segment_exports', {
  id: text().primaryKey(),
  segment_id: text().notNull(), // references segments (id)
  organization_id: text().notNull(), // references organizations (id)
  /** The account that exported, or `root`. */
  caller_id: text().notNull(),
  request_id: text().notNull(),
  columns: text({ mode: 'json' }).$type<typeof types.segment_exports.columns.value>().notNull(),
  user_count: integer().notNull(),
  created_at: integer().notNull(),
})

/**
 * Sets of members that another set replaced. They stay readable for an hour, then a sweep deletes them in slices.
 */
export const segmentLeftovers = sqliteTable(
  'segment_leftovers',
  {
    segment_seq: integer().notNull(),
    epoch: integer().notNull(),
    left_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.segment_seq, table.epoch] })],
)
