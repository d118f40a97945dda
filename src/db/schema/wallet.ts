// npm run schema makes this file from migrations/0021_wallet.sql and src/db/column-types.ts.
//
// Passes for the wallets of phones.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** The look of passes. A design without a product is for every product that has none of its own. */
export const passDesigns = sqliteTable('pass_designs', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  product_id: text(), // references products (id)
  name: text().notNull(),
  name_key: text().notNull(),
  name_folded: text().notNull(),
  /** Colours and texts as JSON. */
  design: text({ mode: 'json' }).$type<typeof types.pass_designs.design.value>().notNull().default({}),
  /** An image of the organization, which Google shows. */
  logo_image_id: text(), // references files (id)
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** One row per pass. */
export const walletPasses = sqliteTable('wallet_passes', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  purchase_id: text().notNull(), // references purchases (id)
  platform: text({ enum: types.wallet_passes.platform }).notNull(),
  /** The vendor of the platform when the pass was issued. Events name it. */
  provider: text({ enum: types.wallet_passes.provider }).notNull(),
  serial_number: text().notNull().unique(),
  /**
   * SHA-256 of the token that a phone shows to the web service; null on platforms without one, and after an erasure.
   */
  token_hash: text(),
  status: text({ enum: types.wallet_passes.status }).notNull(),
  /** The number of phones that hold the pass. */
  registrations_count: integer().notNull().default(0),
  added_at: integer(),
  removed_at: integer(),
  /** Expiry of the last callback that counted. An older one comes too late. */
  callback_expires_at: integer(),
  /** Rises with every change of any pass, so that a phone can ask for what changed since. */
  change_number: integer().notNull(),
  /** Moves by at least a second, because HTTP dates have whole seconds. */
  changed_at: integer().notNull(),
  /** When the platform is told of the last change; null when it knows. */
  due_at: integer(),
  claimed_until: integer(),
  attempts: integer().notNull().default(0),
  update_error: text(),
  /** The reason why the last change waits at the platform, and since when. `due_at` is the next attempt. */
  waiting_reason: text(),
  waiting_since: integer(),
  /** When Google stored its copy. Null until then, and for Apple. */
  stored_at: integer(),
  voided_at: integer(),
  /** The accounts that issued and voided the pass. */
  created_by: text(),
  voided_by: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/**
 * Content that all passes of an edition show: one row per edition that has passes. When it changes, Google is told
 * once, because it stores the edition as the class of its passes. Apple's passes are marked as changed step by
 * step.
 */
export const walletEditions = sqliteTable('wallet_editions', {
  edition_id: text().primaryKey(), // references editions (id)
  has_google_passes: integer({ mode: 'boolean' }).notNull(),
  /** Rises with every change. */
  change_number: integer().notNull().default(1),
  /** When Google is told of the last change of the class; null when it knows. 0 is at once. */
  due_at: integer(),
  claimed_until: integer(),
  attempts: integer().notNull().default(0),
  update_error: text(),
  /** The reason why the last change waits at Google, and since when. `due_at` is the next attempt. */
  waiting_reason: text(),
  waiting_since: integer(),
  /** The last pass for Apple that was marked since the last change; null when all are. Empty before the first one. */
  apple_marked_to: text(),
  /** The last pass for Google that was marked, as above. They are marked only when more than their class changes. */
  google_marked_to: text(),
  /** When passes were last marked. Editions take turns. */
  marked_at: integer().notNull().default(0),
})

/** Phones that ask for the changes of a pass. */
export const walletRegistrations = sqliteTable(
  'wallet_registrations',
  {
    pass_id: text().notNull(), // references wallet_passes (id)
    device_id: text().notNull(),
    push_token: text().notNull(),
    /** The change that the phone was last told of. */
    notified_number: integer().notNull(),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.pass_id, table.device_id] })],
)

/** Callbacks that were processed, until they expire, so that each nonce counts once. */
export const walletCallbacks = sqliteTable('wallet_callbacks', {
  nonce_hash: text().primaryKey(),
  pass_id: text().notNull(), // references wallet_passes (id)
  event: text({ enum: types.wallet_callbacks.event }).notNull(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
})
