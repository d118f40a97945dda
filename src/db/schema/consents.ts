import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  answerMethods,
  answerStatuses,
  type CollectPoint,
  consentTypes,
  legalBases,
  settledStatuses,
} from '../../domain/consents/consents.ts'
import { languages, type TranslatedDict } from '../../domain/languages.ts'
import { type Channel, channels } from '../../domain/messaging/messaging.ts'
import { suppressionReasons } from '../../domain/messaging/suppressions.ts'

export const consents = sqliteTable('consents', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  origin_id: text(),
  key: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  title: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  text: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  link_url: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  type: text({ enum: consentTypes }).notNull(),
  channels: text({ mode: 'json' }).$type<Channel[]>().notNull().default([]),
  legal_basis: text({ enum: legalBases }).notNull().default('consent'),
  is_required: integer({ mode: 'boolean' }).notNull().default(false),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  collect_at: text({ mode: 'json' }).$type<CollectPoint[]>().notNull().default([]),
  position: integer().notNull().default(0),
  expires_after_days: integer(),
  reconsent_on_change: integer({ mode: 'boolean' }).notNull().default(false),
  wording_version: integer().notNull().default(1),
  content_hash: text().notNull().default(''),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  search: text().notNull().default(''),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const consentVersions = sqliteTable(
  'consent_versions',
  {
    consent_id: text().notNull(),
    version: integer().notNull(),
    title: text({ mode: 'json' }).$type<TranslatedDict>().notNull(),
    text: text({ mode: 'json' }).$type<TranslatedDict>().notNull(),
    link_url: text({ mode: 'json' }).$type<TranslatedDict>().notNull(),
    legal_basis: text({ enum: legalBases }).notNull(),
    content_hash: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.consent_id, table.version] })],
)
export type ConsentVersionRow = typeof consentVersions.$inferSelect

export const consentRecords = sqliteTable(
  'consent_records',
  {
    id: text().notNull(),
    organization_id: text().notNull(),
    consent_id: text().notNull(),
    user_id: text().notNull(),
    number: integer().notNull().default(1),
    consent_version: integer().notNull(),
    content_hash: text().notNull(),
    edition_id: text(),
    order_id: text(),
    import_id: text(),
    status: text({ enum: answerStatuses }).notNull(),
    previous_status: text({ enum: settledStatuses }),
    method: text({ enum: answerMethods }).notNull(),
    source: text().notNull(),
    language: text({ enum: languages }).notNull(),
    occurred_at: integer().notNull(),
    expires_at: integer(),
    previous_record_id: text(),
    /** JSON as text, because the hash covers its exact characters. */
    evidence: text(),
    evidence_hash: text(),
    record_hash: text().notNull(),
    hash_version: integer().notNull().default(1),
    /** A number, because `verify:consents` reads rows without this schema. */
    is_latest: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.consent_id, table.number] })],
)

export const consentStats = sqliteTable('consent_stats', {
  consent_id: text().primaryKey(),
  records: integer().notNull().default(0),
  given: integer().notNull().default(0),
  skipped: integer().notNull().default(0),
  withdrawn: integer().notNull().default(0),
  expired: integer().notNull().default(0),
})

export const suppressions = sqliteTable(
  'suppressions',
  {
    id: text()
      .notNull()
      .default(sql`('sup_' || hex(randomblob(13)))`),
    organization_id: text().notNull(),
    channel: text({ enum: channels }).notNull(),
    address: text().notNull(),
    reason: text({ enum: suppressionReasons }).notNull(),
    detail: text().notNull().default(''),
    campaign_id: text(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address] })],
)
