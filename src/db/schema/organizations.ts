import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { memberRoles } from '../../domain/accounts/access.ts'
import type { RefundPolicy } from '../../domain/refunds/refund-policy.ts'

export const organizations = sqliteTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  name_key: text().notNull(),
  slug: text().notNull(),
  version: integer().notNull().default(1),
  search: text().notNull(),
  refund_policy: text({ mode: 'json' }).$type<Partial<RefundPolicy>>().notNull().default({}),
  avatar_file_id: text(),
  erasure_key: text()
    .notNull()
    .default(sql`(lower(hex(randomblob(32))))`),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  email: text().notNull(),
  created_at: integer().notNull(),
  last_seen_at: integer(),
})

export const events = sqliteTable('events', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const members = sqliteTable('members', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  account_id: text().notNull(),
  role: text({ enum: memberRoles }).notNull(),
  first_name: text().notNull(),
  last_name: text().notNull(),
  created_at: integer().notNull(),
})
