import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { capturedChannels } from '../../../domain/messaging/messaging.ts'

export const capturedMessages = sqliteTable('captured_messages', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  channel: text({ enum: capturedChannels }).notNull(),
  call_key: text().notNull(),
  position: integer().notNull(),
  reference: text().notNull(),
  sender: text().notNull(),
  recipient: text().notNull(),
  reply_to: text(),
  subject: text().notNull().default(''),
  html: text().notNull().default(''),
  body: text().notNull(),
  headers: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull().default({}),
  created_at: integer().notNull(),
})
