import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { fileStatuses } from '../../domain/files/files.ts'

export const files = sqliteTable('files', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  purpose: text().notNull(),
  mime_type: text().notNull(),
  size: integer().notNull(),
  checksum_sha256: text().notNull().default(''),
  width: integer(),
  height: integer(),
  status: text({ enum: fileStatuses }).notNull().default('ready'),
  access_key: text().notNull(),
  storage_key: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
