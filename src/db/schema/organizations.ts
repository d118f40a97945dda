// npm run schema makes this file from migrations/0001_organizations.sql and src/db/column-types.ts.
//
// Organizations, the people who work for them, and the tokens they call the API with. All times are integers:
// milliseconds since 1970, UTC. Amounts of money are integers in minor units. Ids end in 26 characters that begin with
// their time, so sorting by id sorts by creation. Text that is searched is folded by the service, not by SQL. Lists are
// sorted by `name_key` and `title_key`, which the service writes with the name or title (`buildSortKey`).

import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** One row per customer of this service; every other row belongs to one. */
export const organizations = sqliteTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  name_key: text().notNull(),
  slug: text().notNull().unique(),
  /** Conditions of the organization before a refund is approved. */
  refund_policy: text({ mode: 'json' }).$type<typeof types.organizations.refund_policy.value>().notNull().default({}),
  /** The price of one part of an SMS, for the plans of campaigns. */
  sms_price: text({ mode: 'json' }).$type<typeof types.organizations.sms_price.value>(),
  /** True if campaigns are sent only with the approval of a second account. */
  requires_campaign_approval: integer({ mode: 'boolean' }).notNull().default(false),
  avatar_file_id: text(), // references files (id)
  search: text().notNull(),
  /**
   * The key of the hashes that replace order ids of erased customers. Nothing else uses it, and it is never replaced:
   * with another key, imports would not recognise these orders.
   */
  erasure_key: text()
    .notNull()
    .default(sql`(lower(hex(randomblob(32))))`),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
