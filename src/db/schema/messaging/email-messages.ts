import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const emailMessages = sqliteTable('email_messages', {
  id: text().primaryKey(),
  organization_id: text(),
  edition_id: text(),
  title: text().notNull(),
  subject: text().notNull().default('{}'),
  type: text().notNull(),
  scope: text().notNull(),
  template: text().notNull().default('modern'),
  is_locked: integer().notNull().default(0),
  blocks: text().notNull().default('[]'),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const emailRenditions = sqliteTable(
  'email_renditions',
  {
    message_id: text().notNull(),
    edition_id: text().notNull().default(''),
    language: text().notNull(),
    content_hash: text().notNull(),
    subject: text().notNull(),
    html: text().notNull(),
    text: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.message_id, table.edition_id, table.language] })],
)
