// npm run schema makes this file from migrations/0025_sweep_positions.sql and src/db/column-types.ts.
//
// Sweeps: how far they are, and when they last ran.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** The position of each sweep that reads a part of a table or of the file store each time. */
export const sweepPositions = sqliteTable('sweep_positions', {
  name: text().primaryKey(),
  after_key: text().notNull(),
  begun_at: integer().notNull(),
})

/** The last run of all sweeps. It is one row, so that a minute in which nothing is due writes no more than that. */
export const sweepRuns = sqliteTable('sweep_runs', {
  id: integer().primaryKey(),
  sweeps: text({ mode: 'json' }).$type<typeof types.sweep_runs.sweeps.value>().notNull(),
  /** The last time at which a run of all sweeps ended, on the clock of the machine. */
  ended_at: integer().notNull(),
})
