// npm run schema makes this file from migrations/0027_signup_forms.sql and src/db/column-types.ts.
//
// Forms with which people sign up for consents, and their requests until they are confirmed.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

export const signupForms = sqliteTable('signup_forms', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  name: text().notNull(),
  name_key: text().notNull(),
  title: text({ mode: 'json' }).$type<typeof types.signup_forms.title.value>().notNull().default({}),
  text: text({ mode: 'json' }).$type<typeof types.signup_forms.text.value>().notNull().default({}),
  /** The languages of the page. The first one is the default. */
  languages: text({ mode: 'json' }).$type<typeof types.signup_forms.languages.value>().notNull(),
  /** Ids of consents of the same organisation or edition, in the order of the page. Some may have been deleted. */
  consent_ids: text({ mode: 'json' }).$type<typeof types.signup_forms.consent_ids.value>().notNull(),
  /** The origins that may embed the page and post to it. */
  allowed_sites: text({ mode: 'json' }).$type<typeof types.signup_forms.allowed_sites.value>().notNull().default([]),
  /** Where a visitor goes after the request. It belongs to an allowed site. */
  redirect_url: text(),
  mails_per_hour: integer().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/**
 * One row per request, which counts for the limits of an hour. A request that gets no mail has no address and no
 * evidence. No customer is named: a request belongs to an address.
 */
export const signupRequests = sqliteTable('signup_requests', {
  id: text().primaryKey(),
  /** The form may have been deleted since. */
  form_id: text().notNull(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  address: text(),
  /** Keyed hashes of the mailbox behind the address, and of the network. */
  mailbox_hash: text().notNull(),
  network_hash: text(),
  language: text({ enum: types.signup_requests.language }).notNull(),
  /** The consents with the versions of the wordings that were shown. */
  consents: text({ mode: 'json' }).$type<typeof types.signup_requests.consents.value>().notNull(),
  evidence: text({ mode: 'json' }).$type<typeof types.signup_requests.evidence.value>(),
  confirmed_at: integer(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
})
