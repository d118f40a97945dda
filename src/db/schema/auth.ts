import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const accessTokens = sqliteTable('access_tokens', {
  id: text().primaryKey(),
  account_id: text().notNull(),
  organization_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  token_hash: text().notNull(),
  prefix: text().notNull(),
  scopes: text().notNull(),
  created_at: integer().notNull(),
  expires_at: integer(),
  revoked_at: integer(),
  last_used_at: integer(),
  parent_id: text(),
  minter_member_id: text(),
  generation: integer().notNull().default(0),
  refused_at: integer(),
})

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    caller_id: text().notNull(),
    key_hash: text().notNull(),
    fingerprint: text().notNull(),
    claim_id: text().notNull(),
    claimed_until: integer().notNull(),
    expires_at: integer().notNull(),
    status: integer(),
    headers: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>(),
    body: text(),
  },
  (table) => [primaryKey({ columns: [table.caller_id, table.key_hash] })],
)
