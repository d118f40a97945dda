import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { any } from '../list-spans.ts'

/**
 * Chunks of runs: orders of an edition in the order of an ordering, packed (`src/modules/orders/runs/entries.ts`). A sweep writes
 * them.
 */
export const orderRuns = sqliteTable(
  'order_runs',
  {
    edition_short_id: text().notNull(),
    ordering: text({ enum: ['amount', 'modified', 'number'] }).notNull(),
    generation: integer().notNull(),
    is_delta: integer({ mode: 'boolean' }).notNull(),
    number: integer().notNull(),
    first_value: any().notNull(),
    first_created_at: integer().notNull(),
    first_seq: integer().notNull(),
    spans: text({ mode: 'json' }).$type<readonly (readonly [span: number, orders: number])[]>().notNull(),
    entries: blob().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.edition_short_id, table.ordering, table.generation, table.is_delta, table.number] }),
  ],
)

/** Which runs of an edition lists read, and where the walk is that makes the next ones. */
export const orderRunStates = sqliteTable('order_run_states', {
  edition_short_id: text().primaryKey(),
  generation: integer().notNull().default(0),
  main_until: integer().notNull().default(0),
  main_late: integer().notNull().default(0),
  until: integer().notNull().default(0),
  late: integer().notNull().default(0),
  noted_until: integer().notNull().default(0),
  main_size: integer().notNull().default(0),
  delta_size: integer().notNull().default(0),
  walk: text({ mode: 'json' }),
})

/** Orders that changed without becoming young, as triggers note them. */
export const lateOrders = sqliteTable(
  'late_orders',
  {
    edition_short_id: text().notNull(),
    number: integer().notNull(),
    seq: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_short_id, table.number] })],
)
