import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { TranslatedDict } from '../../../domain/languages.ts'

export const categories = sqliteTable('categories', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  name: text().notNull(),
  name_translations: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  position: integer().notNull().default(0),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const products = sqliteTable('products', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  is_draft: integer({ mode: 'boolean' }).notNull().default(false),
  created_at: integer().notNull(),
  category_id: text(),
  name_translations: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  price_minor: integer(),
  deposit_minor: integer(),
  is_variant_required: integer({ mode: 'boolean' }).notNull().default(false),
  is_pickup_required: integer({ mode: 'boolean' }).notNull().default(false),
  is_wallet_enabled: integer({ mode: 'boolean' }).notNull().default(false),
  images: text({ mode: 'json' }).$type<readonly string[]>().notNull().default([]),
})

export const variants = sqliteTable('variants', {
  id: text().primaryKey(),
  product_id: text().notNull(),
  name: text().notNull(),
  name_folded: text().notNull(),
  created_at: integer().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull().default(true),
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
  is_draft: integer({ mode: 'boolean' }).notNull().default(false),
  created_at: integer().notNull(),
})

export const passDesigns = sqliteTable('pass_designs', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  product_id: text(),
  name: text().notNull(),
  design: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull().default({}),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
