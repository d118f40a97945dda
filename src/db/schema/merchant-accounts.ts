// npm run schema makes this file from migrations/0005_merchant_accounts.sql and src/db/column-types.ts.
//
// Accounts at payment providers, and what the providers report.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Accounts at payment providers. Secrets are sealed with a key of the Worker; the account id and the column name
 * are part of the seal.
 */
export const merchantAccounts = sqliteTable('merchant_accounts', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  name: text().notNull(),
  name_key: text().notNull(),
  description: text().notNull().default(''),
  type: text({ enum: types.merchant_accounts.type }).notNull(),
  supported_currencies: text({ mode: 'json' })
    .$type<typeof types.merchant_accounts.supported_currencies.value>()
    .notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  settle_manually: integer({ mode: 'boolean' }).notNull().default(false),
  provider_account: text(),
  sealed_api_key: text(),
  api_key_last4: text(),
  api_key_set_at: integer(),
  sealed_webhook_secret: text(),
  webhook_secret_set_at: integer(),
  /** The key of the Worker that sealed the secrets; null where nothing is sealed. */
  sealed_with: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull().default(0),
  modified_at: integer().notNull().default(0),
})

/** Webhooks of payment providers that were processed, so that each is processed once. */
export const paymentEvents = sqliteTable(
  'payment_events',
  {
    merchant_account_id: text().notNull(),
    /** The provider's id of the event. */
    id: text().notNull(),
    kind: text().notNull(),
    provider_reference: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchant_account_id, table.id] })],
)
