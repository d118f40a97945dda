// npm run schema makes this file from migrations/0007_customers.sql and src/db/column-types.ts.
//
// Customers of organizations, and what each edition was told about them.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * A customer of one organization, as roles of the organization see them. `seq` is the order of creation and the
 * rowid in the search index. It is never used again, because campaigns know a customer who was merged by it.
 */
export const users = sqliteTable('users', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(), // references organizations (id)
  email: text(),
  phone_number: text(),
  first_name: text().notNull().default(''),
  last_name: text().notNull().default(''),
  locale: text().notNull(),
  msg_channel: text({ enum: types.users.msg_channel }).notNull(),
  is_verified: integer({ mode: 'boolean' }).notNull().default(false),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  metadata: text({ mode: 'json' }).$type<typeof types.users.metadata.value>().notNull().default({}),
  last_seen_at: integer(),
  erased_at: integer(),
  /**
   * True if the organization added the customer without an edition. Roles of editions do not change such a customer.
   */
  is_of_organization: integer({ mode: 'boolean' }).notNull().default(false),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  phone_digits: text().notNull().default(''),
  /**
   * The folded name, the folded address and the digits of the number, separated by line breaks, which folded text
   * never contains, so that no search matches across two of them.
   */
  search_text: text().notNull().default(''),
})

/**
 * A customer of an edition, as roles of the edition see them: what imports of this edition said, and nothing that
 * came from elsewhere. `seq` is the order in which customers joined, and the rowid in the search index.
 */
export const editionCustomers = sqliteTable('edition_customers', {
  seq: integer().primaryKey(),
  edition_id: text().notNull(), // references editions (id)
  user_seq: integer().notNull(), // references users (seq)
  created_at: integer().notNull(),
  email: text(),
  phone_number: text(),
  first_name: text().notNull().default(''),
  last_name: text().notNull().default(''),
  locale: text().notNull(),
  metadata: text({ mode: 'json' }).$type<typeof types.edition_customers.metadata.value>().notNull().default({}),
  phone_digits: text().notNull().default(''),
  /** Data from the edition's imports, written as in `users.search_text`. */
  search_text: text().notNull().default(''),
})

/** Erasures of customers, which run step by step in the background. */
export const erasures = sqliteTable('erasures', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  user_id: text().notNull().unique(), // references users (id)
  user_seq: integer().notNull(),
  reason: text().notNull().default(''),
  /** The account that erased the customer, or `root`. */
  caller_id: text().notNull(),
  /** [[channel, address]] that the passes look for; empty once the erasure is complete. */
  addresses: text({ mode: 'json' }).$type<typeof types.erasures.addresses.value>().notNull(),
  /** When the customer was created. Nothing older names them. */
  user_created_at: integer().notNull(),
  /** There are two passes: the second finds what was written while the first ran. */
  pass: integer().notNull().default(1),
  /** The places that the pass searches, and its position; empty at its beginning. */
  place: text().notNull().default(''),
  cursor: text().notNull().default(''),
  /** When the next step is due; null after the last one. */
  due_at: integer(),
  claimed_until: integer(),
  completed_at: integer(),
  created_at: integer().notNull(),
})

/**
 * Customers who were merged into another one. Their rows in `users` are gone, and campaigns, links and records of
 * consents still name them.
 */
export const userMerges = sqliteTable('user_merges', {
  /** The customer who was merged. */
  id: text().primaryKey(),
  /** Their `users.seq`. */
  seq: integer().notNull().unique(),
  organization_id: text().notNull(), // references organizations (id)
  /** The customer who took their place. A later merge of that customer replaces it. */
  into_id: text().notNull(), // references users (id)
  /** The editions that the customer was in (JSON list of ids). Their roles may see who took the place. */
  edition_ids: text({ mode: 'json' }).$type<typeof types.user_merges.edition_ids.value>().notNull(),
  merged_at: integer().notNull(),
})

/**
 * Addresses that a customer has from customers who were merged into them. Imports find the customer by them, and
 * links that were sent to them still work. Nothing is sent to them.
 */
export const earlierAddresses = sqliteTable(
  'earlier_addresses',
  {
    user_id: text().notNull(), // references users (id)
    channel: text({ enum: types.earlier_addresses.channel }).notNull(),
    address: text().notNull(),
    organization_id: text().notNull(), // references organizations (id)
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.channel, table.address] })],
)
