import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { messageChannels } from '../../domain/accounts/users.ts'

/**
 * Indexes, with what reads them, of customers as roles of the organisation see them:
 * - users_by_email: one customer for each address of an organisation; imports find people by it, and lists are ordered.
 * - users_by_phone_only: one customer for each number of those without an address.
 * - users_by_joining: lists and the walks of segment calculations.
 */
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
  /** See `searchColumns`. */
  search_text: text().notNull().default(''),
})

/**
 * Indexes, with what reads them, of what the imports of an edition said of customers, which roles of this edition see:
 * - edition_customers_of_edition: a customer is in an edition once.
 * - edition_customers_of_user: the editions of a customer, and which of them the customer joined last.
 * - edition_customers_by_joining: lists and the walks of segment calculations.
 */
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
  /** See `searchColumns`. */
  search_text: text().notNull().default(''),
})
