// npm run schema makes this file from migrations/0015_email_messages.sql and src/db/column-types.ts.
//
// E-mail messages, their images, and what they compile to.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** Messages organizations write, and those the platform brings for them to adopt. */
export const emailMessages = sqliteTable('email_messages', {
  id: text().primaryKey(),
  organization_id: text(), // references organizations (id)
  edition_id: text(), // references editions (id)
  title: text().notNull(),
  title_key: text().notNull(),
  subject: text({ mode: 'json' }).$type<typeof types.email_messages.subject.value>().notNull().default({}),
  /** The line that inboxes show after the subject. */
  preheader: text({ mode: 'json' }).$type<typeof types.email_messages.preheader.value>().notNull().default({}),
  type: text({ enum: types.email_messages.type }).notNull(),
  scope: text({ enum: types.email_messages.scope }).notNull(),
  template: text({ enum: types.email_messages.template }).notNull().default('modern'),
  is_locked: integer({ mode: 'boolean' }).notNull().default(false),
  blocks: text({ mode: 'json' }).$type<typeof types.email_messages.blocks.value>().notNull().default([]),
  /** The account that changed the message last. Null: nobody has changed it since it was created. */
  modified_by: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/**
 * Images of messages, one row per file id in `email_messages.blocks`, so that a file in use is found by an index
 * and not deleted.
 */
export const emailMessageImages = sqliteTable(
  'email_message_images',
  {
    message_id: text().notNull(), // references email_messages (id)
    file_id: text().notNull(), // references files (id)
  },
  (table) => [primaryKey({ columns: [table.message_id, table.file_id] })],
)

/**
 * Compiled messages, one per message, sending edition and language. The hash covers everything that went into one.
 */
export const emailRenditions = sqliteTable(
  'email_renditions',
  {
    message_id: text().notNull(), // references email_messages (id)
    /** The edition that sends it; empty for none. */
    edition_id: text().notNull().default(''),
    language: text({ enum: types.email_renditions.language }).notNull(),
    content_hash: text().notNull(),
    subject: text().notNull(),
    html: text().notNull(),
    text: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.message_id, table.edition_id, table.language] })],
)
