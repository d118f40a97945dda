import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const products = sqliteTable('products', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  is_draft: integer().notNull().default(0),
  created_at: integer().notNull(),
})

export const variants = sqliteTable('variants', {
  id: text().primaryKey(),
  product_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  created_at: integer().notNull(),
})

export const options = sqliteTable('options', {
  id: text().primaryKey(),
  product_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  price_mod_minor: integer().notNull().default(0),
  deposit_mod_minor: integer().notNull().default(0),
  created_at: integer().notNull(),
})

export const locations = sqliteTable('locations', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  is_draft: integer().notNull().default(0),
  created_at: integer().notNull(),
})
