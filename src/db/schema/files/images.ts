import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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
