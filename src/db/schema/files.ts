import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const files = sqliteTable('files', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  purpose: text().notNull(),
  mime_type: text().notNull(),
  size: integer().notNull(),
  access_key: text().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
