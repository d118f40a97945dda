import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { messageChannels } from '../../domain/accounts/users.ts'

/** Customers as roles of the organisation see them. */
export const users = sqliteTable('users', {
  seq: integer().primaryKey(),
  id: text().notNull(),
  organization_id: text().notNull(),
  email: text(),
  phone_number: text(),
  first_name: text().notNull().default(''),
  last_name: text().notNull().default(''),
  locale: text().notNull(),
  msg_channel: text({ enum: messageChannels }).notNull(),
  is_verified: integer({ mode: 'boolean' }).notNull().default(false),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  last_seen_at: integer(),
  erased_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  phone_digits: text().notNull().default(''),
  search_text: text().notNull().default(''),
})

/** Customers as roles of one edition see them: what the imports of this edition said about them. */
export const editionCustomers = sqliteTable('edition_customers', {
  seq: integer().primaryKey(),
  edition_id: text().notNull(),
  user_seq: integer().notNull(),
  created_at: integer().notNull(),
  email: text(),
  phone_number: text(),
  first_name: text().notNull().default(''),
  last_name: text().notNull().default(''),
  locale: text().notNull(),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  phone_digits: text().notNull().default(''),
  search_text: text().notNull().default(''),
})
