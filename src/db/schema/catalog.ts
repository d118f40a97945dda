// npm run schema makes this file from migrations/0006_catalog.sql and src/db/column-types.ts.
//
// Products that an edition sells, and places where they are picked up.

import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** Categories of products. */
export const categories = sqliteTable(
  'categories',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    edition_id: text().notNull(), // references editions (id)
    name: text().notNull(),
    name_key: text().notNull(),
    name_folded: text().notNull(),
    name_translations: text({ mode: 'json' })
      .$type<typeof types.categories.name_translations.value>()
      .notNull()
      .default({}),
    position: integer().notNull().default(0),
    version: integer().notNull().default(1),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.edition_id, table.name_folded)],
)

/** Products. Imports create products by name; their other fields are filled in later. */
export const products = sqliteTable(
  'products',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    edition_id: text().notNull(), // references editions (id)
    category_id: text(), // references categories (id)
    name: text().notNull(),
    /** A product that was merged has its id here, so that others may take its name. */
    name_folded: text().notNull(),
    /** The sort key of `name`. */
    name_key: text().notNull(),
    name_translations: text({ mode: 'json' })
      .$type<typeof types.products.name_translations.value>()
      .notNull()
      .default({}),
    /** Null until a price is set: an import knows what was paid, not what it costs. */
    price_minor: integer(),
    deposit_minor: integer(),
    is_variant_required: integer({ mode: 'boolean' }).notNull().default(false),
    is_pickup_required: integer({ mode: 'boolean' }).notNull().default(false),
    is_wallet_enabled: integer({ mode: 'boolean' }).notNull().default(false),
    /** File ids in the order in which they are shown. */
    images: text({ mode: 'json' }).$type<typeof types.products.images.value>().notNull().default([]),
    is_draft: integer({ mode: 'boolean' }).notNull().default(false),
    /** The product into which this one was merged. Its row stays, so that its id still leads to that product. */
    merged_into_id: text(), // references products (id)
    version: integer().notNull().default(1),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.edition_id, table.name_folded)],
)

/**
 * Other names by which imports find a product: its former names, those of products that were merged into it, and
 * those that somebody added.
 */
export const productAliases = sqliteTable(
  'product_aliases',
  {
    edition_id: text().notNull(), // references editions (id)
    name_folded: text().notNull(),
    product_id: text().notNull(), // references products (id)
    name: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.name_folded] })],
)

/**
 * Merges of one product into another. The row stays, so that the undo of an import finds what its products are
 * today.
 */
export const productMerges = sqliteTable('product_merges', {
  /** The product that was merged. */
  id: text().primaryKey(), // references products (id)
  edition_id: text().notNull(), // references editions (id)
  into_id: text().notNull(), // references products (id)
  /**
   * The ids of the product and of its variants and options that the other product has too, each with the id that
   * replaces it.
   */
  ids: text({ mode: 'json' }).$type<typeof types.product_merges.ids.value>().notNull(),
  /** The last order that was moved. Orders are walked by their creation. */
  orders_created_at: integer().notNull().default(-1),
  orders_seq: integer().notNull().default(-1),
  /** When the next orders are due; null when all orders are moved. */
  due_at: integer(),
  claimed_until: integer(),
  merged_at: integer().notNull(),
})

/**
 * Images of products, one row per file id in `products.images`, so that a file in use is found by an index and not
 * deleted.
 */
export const productImages = sqliteTable(
  'product_images',
  {
    product_id: text().notNull(), // references products (id)
    file_id: text().notNull(), // references files (id)
  },
  (table) => [primaryKey({ columns: [table.product_id, table.file_id] })],
)

/** Variants of a product, such as a size. */
export const variants = sqliteTable(
  'variants',
  {
    id: text().primaryKey(),
    product_id: text().notNull(), // references products (id)
    name: text().notNull(),
    name_folded: text().notNull(),
    is_active: integer({ mode: 'boolean' }).notNull().default(true),
    created_at: integer().notNull(),
  },
  (table) => [unique().on(table.product_id, table.name_folded)],
)

/** Options of a product that change its price. */
export const options = sqliteTable(
  'options',
  {
    id: text().primaryKey(),
    product_id: text().notNull(), // references products (id)
    name: text().notNull(),
    name_folded: text().notNull(),
    price_mod_minor: integer().notNull().default(0),
    deposit_mod_minor: integer().notNull().default(0),
    created_at: integer().notNull(),
  },
  (table) => [unique().on(table.product_id, table.name_folded)],
)

/** Places where purchases are picked up or used. */
export const locations = sqliteTable(
  'locations',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    edition_id: text().notNull(), // references editions (id)
    name: text().notNull(),
    name_key: text().notNull(),
    name_folded: text().notNull(),
    is_draft: integer({ mode: 'boolean' }).notNull().default(false),
    version: integer().notNull().default(1),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.edition_id, table.name_folded)],
)
