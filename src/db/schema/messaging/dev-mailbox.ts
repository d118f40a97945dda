import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const capturedMessages = sqliteTable('captured_messages', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  channel: text().notNull(),
  call_key: text().notNull(),
  position: integer().notNull(),
  reference: text().notNull(),
  sender: text().notNull(),
  recipient: text().notNull(),
  reply_to: text(),
  subject: text().notNull().default(''),
  html: text().notNull().default(''),
  body: text().notNull(),
  headers: text().notNull().default('{}'),
  created_at: integer().notNull(),
})
