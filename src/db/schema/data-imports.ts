import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const dataImports = sqliteTable('data_imports', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  account_id: text(),
  name: text().notNull(),
  source: text().notNull(),
  external_source: text(),
  status: text().notNull(),
  options: text().notNull(),
  total_rows: integer().notNull(),
  created_orders: integer().notNull(),
  updated_orders: integer().notNull(),
  skipped_orders: integer().notNull(),
  failed_orders: integer().notNull(),
  results: text().notNull(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
