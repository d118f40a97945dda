import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { any } from '../list-spans.ts'

/** How many rows of a chunk were created in a span of 2^31 milliseconds, or are of a kind. */
type Numbers = readonly (readonly [of: number, rows: number])[]

/** Where the walk that makes the next main runs of an edition is: how far it came in which ordering. */
export interface RunWalk {
  generation: number
  /** Of these runs, as the state of an edition has them. */
  until: number
  late: number
  size: number
  /** The place of the ordering among all. */
  ordering: number
  /** Of the next chunk. */
  number: number
  /** The key of the last row that was packed. */
  after: readonly (string | number)[] | null
}

const chunkColumns = {
  generation: integer().notNull(),
  is_delta: integer({ mode: 'boolean' }).notNull(),
  number: integer().notNull(),
  first_value: any().notNull(),
  first_created_at: integer().notNull(),
}

const packedColumns = {
  spans: text({ mode: 'json' }).$type<Numbers>().notNull(),
  entries: blob().notNull(),
}

const stateColumns = {
  generation: integer().notNull().default(0),
  main_until: integer().notNull().default(0),
  main_late: integer().notNull().default(0),
  until: integer().notNull().default(0),
  late: integer().notNull().default(0),
  noted_until: integer().notNull().default(0),
  main_size: integer().notNull().default(0),
  delta_size: integer().notNull().default(0),
  walk: text({ mode: 'json' }).$type<RunWalk>(),
}

/** Chunks of runs: refund requests of an edition in the order of an ordering, packed. A sweep writes them. */
export const refundRuns = sqliteTable(
  'refund_runs',
  {
    edition_id: text().notNull(),
    ordering: text({ enum: ['amount', 'modified', 'status'] }).notNull(),
    ...chunkColumns,
    first_id: text().notNull(),
    ...packedColumns,
    kinds: text({ mode: 'json' }).$type<Numbers>(),
  },
  (table) => [
    primaryKey({ columns: [table.edition_id, table.ordering, table.generation, table.is_delta, table.number] }),
  ],
)

export const refundRunStates = sqliteTable('refund_run_states', {
  edition_id: text().primaryKey(),
  ...stateColumns,
})

/** Refund requests that changed without becoming young, or were deleted. */
export const lateRefundRequests = sqliteTable(
  'late_refund_requests',
  {
    edition_id: text().notNull(),
    number: integer().notNull(),
    id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_id, table.number] })],
)
