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

/** API tokens. A token ends with the token that created it and with the membership its creator acted by. */
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
  created_at: integer().notNull(),
})
