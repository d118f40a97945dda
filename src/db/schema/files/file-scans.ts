import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { scanStates } from '../../../domain/files/scans.ts'

export const fileScans = sqliteTable('file_scans', {
  file_id: text().primaryKey(),
  state: text({ enum: scanStates.states }).notNull(),
  reason: text(),
  attempts: integer().notNull().default(0),
  due_at: integer(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
