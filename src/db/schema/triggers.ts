import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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
