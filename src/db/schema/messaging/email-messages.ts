import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Block } from '../../../domain/email/blocks/blocks.ts'
import { languages, type TranslatedDict } from '../../../domain/languages.ts'
import { emailMessageScopes, emailMessageTypes, emailTemplates } from '../../../domain/messaging/email-messages.ts'

export const emailMessages = sqliteTable('email_messages', {
  id: text().primaryKey(),
  organization_id: text(),
  edition_id: text(),
  title: text().notNull(),
  title_key: text().notNull(),
  subject: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  type: text({ enum: emailMessageTypes }).notNull(),
  scope: text({ enum: emailMessageScopes }).notNull(),
  template: text({ enum: emailTemplates }).notNull().default('modern'),
  is_locked: integer({ mode: 'boolean' }).notNull().default(false),
  blocks: text({ mode: 'json' }).$type<Block[]>().notNull().default([]),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const emailRenditions = sqliteTable(
  'email_renditions',
  {
    message_id: text().notNull(),
    edition_id: text().notNull().default(''),
    language: text({ enum: languages }).notNull(),
    content_hash: text().notNull(),
    subject: text().notNull(),
    html: text().notNull(),
    text: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.message_id, table.edition_id, table.language] })],
)
