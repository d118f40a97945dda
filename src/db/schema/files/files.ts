import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { filePurposes, fileStatuses } from '../../../domain/files/files.ts'
import type { TranslatedDict } from '../../../domain/languages.ts'
import { scanStates } from '../../../domain/files/scans.ts'

const tagList = () => text({ mode: 'json' }).$type<readonly string[]>().notNull()
const jsonObject = () => text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull()

export const files = sqliteTable('files', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  name_key: text().notNull(),
  title: text().notNull().default(''),
  alt_text: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  purpose: text({ enum: filePurposes }).notNull(),
  mime_type: text().notNull(),
  size: integer().notNull(),
  checksum_sha256: text().notNull().default(''),
  width: integer(),
  height: integer(),
  status: text({ enum: fileStatuses }).notNull().default('ready'),
  access_key: text().notNull(),
  storage_key: text(),
  uploaded_by: text(),
  tags: tagList().default([]),
  metadata: jsonObject().default({}),
  search: text().notNull().default(''),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** The bytes of files. Files of an organisation with equal bytes share one row. */
export const storedObjects = sqliteTable('stored_objects', {
  storage_key: text().primaryKey(),
  organization_id: text().notNull(),
  checksum_sha256: text().notNull(),
  size: integer().notNull(),
  is_missing: integer({ mode: 'boolean' }).notNull().default(false),
  created_at: integer().notNull(),
})

export const organizationStorage = sqliteTable('organization_storage', {
  organization_id: text().primaryKey(),
  used_bytes: integer().notNull(),
  limit_bytes: integer(),
})

export const fileUploads = sqliteTable('file_uploads', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  name: text().notNull(),
  title: text().notNull(),
  tags: tagList(),
  metadata: jsonObject(),
  size: integer().notNull(),
  content_type: text(),
  storage_key: text().notNull(),
  store_upload_id: text().notNull(),
  uploaded_by: text(),
  file_id: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  expires_at: integer().notNull(),
})

export const fileUploadParts = sqliteTable(
  'file_upload_parts',
  {
    upload_id: text().notNull(),
    number: integer().notNull(),
    size: integer().notNull(),
    checksum_sha256: text().notNull(),
    store_etag: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.upload_id, table.number] })],
)

export const objectsToDelete = sqliteTable('objects_to_delete', {
  storage_key: text().primaryKey(),
  store_upload_id: text(),
  created_at: integer().notNull(),
})

export const storageSweeps = sqliteTable('storage_sweeps', {
  name: text().primaryKey(),
  after_key: text().notNull(),
  begun_at: integer().notNull(),
})

export const fileScans = sqliteTable('file_scans', {
  file_id: text().primaryKey(),
  state: text({ enum: scanStates.states }).notNull(),
  reason: text(),
  attempts: integer().notNull().default(0),
  due_at: integer(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const productImages = sqliteTable(
  'product_images',
  { product_id: text().notNull(), file_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.product_id, table.file_id] })],
)

export const emailMessageImages = sqliteTable(
  'email_message_images',
  { message_id: text().notNull(), file_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.message_id, table.file_id] })],
)
