// npm run schema makes this file from migrations/0025_sweep_positions.sql and src/db/column-types.ts.
//
// Sweeps that read a part of a table or of the file store each time.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The position that each of these sweeps has reached. */
export const sweepPositions = sqliteTable('sweep_positions', {
  name: text().primaryKey(),
  after_key: text().notNull(),
  begun_at: integer().notNull(),
})
