import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  googleCallbackEvents,
  walletPassStatuses,
  walletPlatforms,
  walletProviders,
} from '../../domain/wallet/wallet.ts'

export const walletPasses = sqliteTable('wallet_passes', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  purchase_id: text().notNull(),
  platform: text({ enum: walletPlatforms }).notNull(),
  provider: text({ enum: walletProviders }).notNull(),
  serial_number: text().notNull().unique(),
  token_hash: text(),
  status: text({ enum: walletPassStatuses }).notNull(),
  registrations_count: integer().notNull().default(0),
  added_at: integer(),
  removed_at: integer(),
  callback_expires_at: integer(),
  change_number: integer().notNull(),
  changed_at: integer().notNull(),
  due_at: integer(),
  claimed_until: integer(),
  attempts: integer().notNull().default(0),
  update_error: text(),
  waiting_reason: text(),
  waiting_since: integer(),
  stored_at: integer(),
  voided_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const walletEditions = sqliteTable('wallet_editions', {
  edition_id: text().primaryKey(),
  has_google_passes: integer({ mode: 'boolean' }).notNull(),
  change_number: integer().notNull().default(1),
  due_at: integer(),
  claimed_until: integer(),
  attempts: integer().notNull().default(0),
  update_error: text(),
  waiting_reason: text(),
  waiting_since: integer(),
  apple_marked_to: text(),
  google_marked_to: text(),
  marked_at: integer().notNull().default(0),
})

export const walletRegistrations = sqliteTable(
  'wallet_registrations',
  {
    pass_id: text().notNull(),
    device_id: text().notNull(),
    push_token: text().notNull(),
    notified_number: integer().notNull(),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.pass_id, table.device_id] })],
)

export const walletCallbacks = sqliteTable('wallet_callbacks', {
  nonce_hash: text().primaryKey(),
  pass_id: text().notNull(),
  event: text({ enum: googleCallbackEvents }).notNull(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
})

export const capturedWalletKeys = sqliteTable('captured_wallet_keys', {
  key_value: text().primaryKey(),
  expires_at: integer().notNull(),
})
