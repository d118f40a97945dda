// npm run schema makes this file from migrations/0017_sender_domains.sql and src/db/column-types.ts.
//
// Domains that e-mails are sent from.

import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Domains an organization may send from. Several organizations may ask for a domain; at most one has it verified.
 */
export const senderDomains = sqliteTable(
  'sender_domains',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    /** In lower case, without a dot at the end. */
    domain: text().notNull(),
    status: text({ enum: types.sender_domains.status }).notNull(),
    /** The value that the TXT record has to contain. */
    token: text().notNull(),
    verified_at: integer(),
    verified_by: text({ enum: types.sender_domains.verified_by }),
    checked_at: integer(),
    check_outcome: text({ enum: types.sender_domains.check_outcome }),
    /** The domain at the provider that sends, and the DNS records that it wants. */
    provider_domain_id: text(),
    provider_records: text({ mode: 'json' })
      .$type<typeof types.sender_domains.provider_records.value>()
      .notNull()
      .default([]),
    version: integer().notNull().default(1),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.organization_id, table.domain)],
)
