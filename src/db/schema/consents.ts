// npm run schema makes this file from migrations/0013_consents.sql and src/db/column-types.ts.
//
// Consents, and what people answered.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** Definitions of consents. */
export const consents = sqliteTable('consents', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  /** The definition that this one was copied from. */
  origin_id: text(),
  key: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull().default(''),
  title: text({ mode: 'json' }).$type<typeof types.consents.title.value>().notNull().default({}),
  text: text({ mode: 'json' }).$type<typeof types.consents.text.value>().notNull().default({}),
  link_url: text({ mode: 'json' }).$type<typeof types.consents.link_url.value>().notNull().default({}),
  type: text({ enum: types.consents.type }).notNull(),
  channels: text({ mode: 'json' }).$type<typeof types.consents.channels.value>().notNull().default([]),
  legal_basis: text({ enum: types.consents.legal_basis }).notNull().default('consent'),
  is_required: integer({ mode: 'boolean' }).notNull().default(false),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  collect_at: text({ mode: 'json' }).$type<typeof types.consents.collect_at.value>().notNull().default([]),
  position: integer().notNull().default(0),
  expires_after_days: integer(),
  reconsent_on_change: integer({ mode: 'boolean' }).notNull().default(false),
  wording_version: integer().notNull().default(1),
  content_hash: text().notNull().default(''),
  metadata: text({ mode: 'json' }).$type<typeof types.consents.metadata.value>().notNull().default({}),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** The wording people were shown, by version. */
export const consentVersions = sqliteTable(
  'consent_versions',
  {
    consent_id: text().notNull(), // references consents (id)
    version: integer().notNull(),
    title: text({ mode: 'json' }).$type<typeof types.consent_versions.title.value>().notNull(),
    text: text({ mode: 'json' }).$type<typeof types.consent_versions.text.value>().notNull(),
    link_url: text({ mode: 'json' }).$type<typeof types.consent_versions.link_url.value>().notNull(),
    legal_basis: text({ enum: types.consent_versions.legal_basis }).notNull(),
    content_hash: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.consent_id, table.version] })],
)

/**
 * Answers, which are only ever added. They are numbered from 1 per person and definition: the key makes one of two
 * racing answers fail, and reads a history in order. `consents` is referenced by triggers, because a foreign key
 * would read every answer when a definition is deleted. So is `users`, because the answers of a customer who was
 * merged keep the id that their hashes cover. None of them is the latest: the answers that count are in the chains
 * of the other.
 */
export const consentRecords = sqliteTable(
  'consent_records',
  {
    id: text().notNull(),
    organization_id: text().notNull(), // references organizations (id)
    consent_id: text().notNull(),
    user_id: text().notNull(),
    number: integer().notNull().default(1),
    consent_version: integer().notNull(),
    content_hash: text().notNull(),
    edition_id: text(), // references editions (id)
    order_id: text(),
    /** The import that brought the answer. */
    import_id: text(),
    status: text({ enum: types.consent_records.status }).notNull(),
    /** The status of the last answer before it that was not pending. */
    previous_status: text({ enum: types.consent_records.previous_status }),
    method: text({ enum: types.consent_records.method }).notNull(),
    source: text().notNull(),
    language: text({ enum: types.consent_records.language }).notNull(),
    occurred_at: integer().notNull(),
    expires_at: integer(),
    previous_record_id: text(),
    /**
     * Proof that the answer was given, as text, because `evidence_hash` covers its exact characters. The hash stays
     * when a person is erased.
     */
    evidence: text(),
    evidence_hash: text(),
    /** A hash of this record and of the previous hash: a chain that shows later changes. */
    record_hash: text().notNull(),
    /** The version of the hash, which says which columns it covers. */
    hash_version: integer().notNull().default(1),
    is_latest: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.consent_id, table.number] })],
)

/** The numbers of records of a definition and of people with each status. Triggers keep it. */
export const consentStats = sqliteTable('consent_stats', {
  consent_id: text().primaryKey(),
  records: integer().notNull().default(0),
  given: integer().notNull().default(0),
  skipped: integer().notNull().default(0),
  withdrawn: integer().notNull().default(0),
  expired: integer().notNull().default(0),
})
