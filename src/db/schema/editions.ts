// npm run schema makes this file from migrations/0004_editions.sql and src/db/column-types.ts.
//
// Events, their editions, and the fee rules of editions.

import { integer, real, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** A series of editions, such as a yearly festival. */
export const events = sqliteTable('events', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** One edition of an event. Orders, purchases and refunds belong to an edition. */
export const editions = sqliteTable(
  'editions',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    event_id: text().notNull(), // references events (id)
    name: text().notNull(),
    name_key: text().notNull(),
    full_name: text().notNull(),
    slug: text().notNull(),
    start_at: integer(),
    end_at: integer(),
    timezone: text().notNull(),
    default_country_code: text({ enum: types.editions.default_country_code }).notNull(),
    is_draft: integer({ mode: 'boolean' }).notNull().default(true),
    is_archived: integer({ mode: 'boolean' }).notNull().default(false),
    published_at: integer(),
    default_language: text({ enum: types.editions.default_language }).notNull(),
    enabled_languages: text({ mode: 'json' }).$type<typeof types.editions.enabled_languages.value>().notNull(),
    tax_type: text({ enum: types.editions.tax_type }).notNull(),
    default_price_tax_rate: real().notNull().default(0),
    default_deposit_tax_rate: real().notNull().default(0),
    default_packaging_deposit_tax_rate: real().notNull().default(0),
    currency: text({ enum: types.editions.currency }).notNull(),
    fee_rule_id: text(), // references fee_rules (id)
    merchant_account_id: text(), // references merchant_accounts (id)
    merchant_account_extra_parameters: text({ mode: 'json' })
      .$type<typeof types.editions.merchant_account_extra_parameters.value>()
      .notNull()
      .default({}),
    merchant_id: text({ mode: 'json' }).$type<typeof types.editions.merchant_id.value>().notNull().default({}),
    metadata: text({ mode: 'json' }).$type<typeof types.editions.metadata.value>().notNull().default({}),
    sms_sender_name: text({ enum: types.editions.sms_sender_name }).notNull().default('Unset'),
    email_sender_name: text(),
    email_sender_address: text(),
    email_reply_to: text(),
    /** The account that last changed the name or the senders above. */
    sender_changed_by: text(),
    sender_changed_at: integer(),
    meta_title: text({ mode: 'json' }).$type<typeof types.editions.meta_title.value>().notNull().default({}),
    meta_description: text({ mode: 'json' })
      .$type<typeof types.editions.meta_description.value>()
      .notNull()
      .default({}),
    meta_image_id: text(),
    transaction_receipt_email_id: text(),
    refund_confirmation_email_id: text(),
    search: text().notNull(),
    version: integer().notNull().default(1),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.organization_id, table.slug)],
)

/** Fees that sales channels add to orders of the editions that refer to them. */
export const feeRules = sqliteTable('fee_rules', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  name: text().notNull(),
  name_key: text().notNull(),
  name_folded: text().notNull(),
  description: text().notNull().default(''),
  currency: text({ enum: types.fee_rules.currency }).notNull(),
  /** Per cent of the amount of an order. */
  rate: real().notNull().default(0),
  /** In the currency of the rule, beside the rate. */
  fixed_amount_minor: integer().notNull().default(0),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
