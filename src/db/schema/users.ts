import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { messageChannels } from '../../domain/accounts/users.ts'

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
  email_folded: text().notNull().default(''),
  phone_digits: text().notNull().default(''),
  search: text().notNull(),
  search_given: text().notNull().default(''),
  last_seen_at: integer(),
  erased_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const userEditions = sqliteTable(
  'user_editions',
  {
    edition_id: text().notNull(),
    user_id: text().notNull(),
    created_at: integer().notNull(),
    email: text(),
    phone_number: text(),
    first_name: text().notNull().default(''),
    last_name: text().notNull().default(''),
    locale: text(),
    name_folded: text().notNull().default(''),
    email_folded: text().notNull().default(''),
    phone_digits: text().notNull().default(''),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.user_id] })],
)
