import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { messageChannels } from '../../domain/accounts/users.ts'
import { any } from './list-spans.ts'

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
  /** Empty where `address_folded` makes the same from the address. */
  email_folded: text().notNull().default(''),
  phone_digits: text().notNull().default(''),
  /** The folded name, or the character 30 where `name_folded` makes it from the names, with `email_folded` and the digits where there are any. */
  search: text().notNull(),
  search_given: text().notNull().default(''),
  last_seen_at: integer(),
  erased_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  /** The statements of the import count it, and no trigger. */
  counted_together: integer({ mode: 'boolean' }).notNull().default(false),
  /** The edition that has the customer, where it is one alone: otherwise null. Triggers on `edition_customers` keep it. */
  only_edition_short_id: text(),
})

export const editionCustomers = sqliteTable(
  'edition_customers',
  {
    /** `shortId` of the edition. */
    edition_short_id: text().notNull(),
    user_seq: integer().notNull(),
    created_at: integer().notNull(),
    email: text(),
    phone_number: text(),
    first_name: text().notNull().default(''),
    last_name: text().notNull().default(''),
    locale: text(),
    /** Empty where `given_name_folded` makes the same from the names. */
    name_folded: text().notNull().default(''),
    /** As that of customers. */
    email_folded: text().notNull().default(''),
    phone_digits: text().notNull().default(''),
    /** As that of customers. */
    counted_together: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.edition_short_id, table.user_seq] })],
)

/** How many customers are in exactly these editions, two or more. Triggers count them. */
export const sharedCustomers = sqliteTable(
  'shared_customers',
  {
    organization_short_id: text().notNull(),
    /** Short ids in their order, each behind a comma. */
    editions: text().notNull(),
    customers: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_short_id, table.editions] })],
)

/**
 * Of an organisation, in an ordering: how many settled customers stand from a key up to that of the next row. A sweep and
 * triggers write it. Keys are those of customers, and go with them.
 */
export const customerIntervals = sqliteTable(
  'customer_intervals',
  {
    scope: text().notNull(),
    ordering: text({ enum: ['email', 'no_email', 'phone', 'no_phone', 'seen', 'unseen'] }).notNull(),
    value: any().notNull(),
    created_at: integer().notNull(),
    seq: integer().notNull(),
    total: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.scope, table.ordering, table.value, table.created_at, table.seq] })],
)
