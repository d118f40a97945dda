// npm run schema makes this file from migrations/0002_accounts.sql and src/db/column-types.ts.
//
// People who sign in, their roles, and the tokens they call the API with.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** People who sign in. One account may be a member of several organizations. */
export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  email: text().notNull().unique(),
  created_at: integer().notNull(),
  last_seen_at: integer(),
})

/** The role that an account has in an organization, or in one of its editions. */
export const members = sqliteTable('members', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  account_id: text().notNull(), // references accounts (id)
  role: text({ enum: types.members.role }).notNull(),
  first_name: text().notNull(),
  last_name: text().notNull(),
  created_at: integer().notNull(),
})

/**
 * API tokens and sessions. A token ends with the token that created it and with the membership its creator acted
 * by. A token that was created in a session does not end with the session.
 */
export const accessTokens = sqliteTable('access_tokens', {
  id: text().primaryKey(),
  account_id: text().notNull(), // references accounts (id)
  organization_id: text(), // references organizations (id)
  parent_id: text(), // references access_tokens (id)
  minter_member_id: text(),
  /** The number of tokens above this one. */
  generation: integer().notNull().default(0),
  name: text().notNull(),
  name_key: text().notNull(),
  token_hash: text().notNull().unique(),
  prefix: text().notNull(),
  scopes: text().notNull(),
  expires_at: integer(),
  revoked_at: integer(),
  last_used_at: integer(),
  /** When a use after its end was last recorded. */
  refused_at: integer(),
  is_session: integer({ mode: 'boolean' }).notNull().default(false),
  /** When the person of a session signed in. Null if the identity provider does not say it. */
  signed_in_at: integer(),
  created_at: integer().notNull(),
})

/**
 * Codes to sign in with, which are sent by e-mail. An address that no member has gets a row too, so that all
 * addresses are answered alike. A code follows from the key of the Worker, the id and the salt, and is not stored.
 */
export const signInCodes = sqliteTable('sign_in_codes', {
  id: text().primaryKey(),
  /** Null if no member has the address. */
  account_id: text(), // references accounts (id)
  /** Keyed hashes, which count the codes of an hour. */
  address_hash: text().notNull(),
  network_hash: text(),
  salt: text().notNull(),
  tries: integer().notNull().default(0),
  used_at: integer(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
})

/** Links that sign a member in once. */
export const signInLinks = sqliteTable('sign_in_links', {
  id: text().primaryKey(),
  member_id: text().notNull(),
  secret_hash: text().notNull().unique(),
  used_at: integer(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
})
