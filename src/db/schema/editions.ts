import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { paymentServices } from '../../domain/refunds/merchant-accounts.ts'
import { countryCodes, smsSenderNames, taxTypes } from '../../domain/editions/editions.ts'
import { type Language, languages, type TranslatedDict } from '../../domain/languages.ts'
import { type Currency, currencies } from '../../domain/money.ts'

const jsonObject = () => text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull().default({})
const translations = () => text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({})

export const editions = sqliteTable('editions', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  event_id: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  full_name: text().notNull(),
  slug: text().notNull(),
  start_at: integer(),
  end_at: integer(),
  timezone: text().notNull(),
  default_country_code: text({ enum: countryCodes }).notNull(),
  is_draft: integer({ mode: 'boolean' }).notNull().default(true),
  is_archived: integer({ mode: 'boolean' }).notNull().default(false),
  published_at: integer(),
  default_language: text({ enum: languages }).notNull(),
  enabled_languages: text({ mode: 'json' }).$type<readonly Language[]>().notNull(),
  tax_type: text({ enum: taxTypes }).notNull(),
  default_price_tax_rate: real().notNull().default(0),
  default_deposit_tax_rate: real().notNull().default(0),
  default_packaging_deposit_tax_rate: real().notNull().default(0),
  currency: text({ enum: currencies }).notNull(),
  fee_rule_id: text(),
  merchant_account_id: text(),
  merchant_account_extra_parameters: jsonObject(),
  merchant_id: jsonObject(),
  metadata: jsonObject(),
  sms_sender_name: text({ enum: smsSenderNames }).notNull().default('Unset'),
  email_sender_name: text(),
  email_sender_address: text(),
  email_reply_to: text(),
  meta_title: translations(),
  meta_description: translations(),
  meta_image_id: text(),
  transaction_receipt_email_id: text(),
  refund_confirmation_email_id: text(),
  search: text().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const feeRules = sqliteTable('fee_rules', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  name: text().notNull(),
  description: text().notNull().default(''),
  currency: text({ enum: currencies }).notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
})

export const merchantAccounts = sqliteTable('merchant_accounts', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  description: text().notNull().default(''),
  type: text({ enum: paymentServices }).notNull(),
  supported_currencies: text({ mode: 'json' }).$type<readonly Currency[]>().notNull(),
  provider_account: text(),
  sealed_api_key: text(),
  api_key_last4: text(),
  api_key_set_at: integer(),
  sealed_webhook_secret: text(),
  webhook_secret_set_at: integer(),
  sealed_with: text(),
  settle_manually: integer({ mode: 'boolean' }).notNull().default(false),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  version: integer().notNull().default(1),
  created_at: integer().notNull().default(0),
  modified_at: integer().notNull().default(0),
})

export const triggers = sqliteTable('triggers', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  kind: text().notNull(),
  channel: text().notNull(),
  email_message_id: text(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
