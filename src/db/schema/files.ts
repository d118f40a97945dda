// npm run schema makes this file from migrations/0011_files.sql and src/db/column-types.ts.
//
// Files of organizations and the bytes they refer to.

import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Bytes an organization keeps, once per content; rows of `files` count the references. A storage key is used once:
 * bytes that are deleted and uploaded again get a new key, so a late deletion never meets a new upload.
 */
export const storedObjects = sqliteTable(
  'stored_objects',
  {
    storage_key: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    checksum_sha256: text().notNull(),
    size: integer().notNull(),
    /** True if the sweep did not find the bytes. The next upload of the same content brings them back. */
    is_missing: integer({ mode: 'boolean' }).notNull().default(false),
    created_at: integer().notNull(),
  },
  (table) => [unique().on(table.organization_id, table.checksum_sha256)],
)

/** A file as clients see it. Several files may share the same bytes. */
export const files = sqliteTable('files', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  name: text().notNull(),
  name_key: text().notNull(),
  title: text().notNull().default(''),
  alt_text: text({ mode: 'json' }).$type<typeof types.files.alt_text.value>().notNull().default({}),
  purpose: text({ enum: types.files.purpose }).notNull(),
  mime_type: text().notNull(),
  size: integer().notNull(),
  checksum_sha256: text().notNull().default(''),
  width: integer(),
  height: integer(),
  access_key: text().notNull(),
  storage_key: text(), // references stored_objects (storage_key)
  status: text({ enum: types.files.status }).notNull().default('ready'),
  /** An account; null for the superuser. */
  uploaded_by: text(),
  tags: text({ mode: 'json' }).$type<typeof types.files.tags.value>().notNull().default([]),
  metadata: text({ mode: 'json' }).$type<typeof types.files.metadata.value>().notNull().default({}),
  search: text().notNull().default(''),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** Bytes of stored objects and of open uploads, by organization. */
export const organizationStorage = sqliteTable('organization_storage', {
  organization_id: text().primaryKey(), // references organizations (id)
  used_bytes: integer().notNull(),
  /** The limit of the organization; null for the usual one. */
  limit_bytes: integer(),
})

/**
 * Uploads in parts. A completed upload keeps its row for a day, so that completing it again returns the same file.
 */
export const fileUploads = sqliteTable('file_uploads', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text(), // references editions (id)
  name: text().notNull(),
  title: text().notNull(),
  tags: text({ mode: 'json' }).$type<typeof types.file_uploads.tags.value>().notNull(),
  metadata: text({ mode: 'json' }).$type<typeof types.file_uploads.metadata.value>().notNull(),
  size: integer().notNull(),
  /** The media type that the client declares for the whole file. */
  content_type: text(),
  storage_key: text().notNull(),
  /** The store's own id of the upload. */
  store_upload_id: text().notNull(),
  uploaded_by: text(),
  file_id: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  expires_at: integer().notNull(),
})

/** Parts of an upload that have arrived. */
export const fileUploadParts = sqliteTable(
  'file_upload_parts',
  {
    upload_id: text().notNull(), // references file_uploads (id)
    number: integer().notNull(),
    size: integer().notNull(),
    checksum_sha256: text().notNull(),
    store_etag: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.upload_id, table.number] })],
)

/** Bytes that no row refers to any more. A row with a `store_upload_id` is an upload to abort. */
export const objectsToDelete = sqliteTable('objects_to_delete', {
  storage_key: text().primaryKey(),
  store_upload_id: text(),
  created_at: integer().notNull(),
})

/**
 * Scans of files by a virus scanner, and their results. A file without a row was taken while no scanner was
 * configured.
 */
export const fileScans = sqliteTable('file_scans', {
  file_id: text().primaryKey(), // references files (id)
  state: text({ enum: types.file_scans.state }).notNull(),
  reason: text(),
  attempts: integer().notNull().default(0),
  /** When the scanner is asked next; null once it has answered. */
  due_at: integer(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
