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

/** The orderings of customers. */
export const customerOrderings = [
  'number',
  'joined',
  'email',
  'phone',
  'seen',
  'given_joined',
  'given_email',
  'given_phone',
] as const

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

/** Chunks of runs: customers of an edition in the order of an ordering, packed and compressed. A sweep writes them. They have addresses and telephone numbers. */
export const customerRuns = sqliteTable(
  'customer_runs',
  {
    edition_short_id: text().notNull(),
    ordering: text({ enum: customerOrderings }).notNull(),
    ...chunkColumns,
    first_user_seq: integer().notNull(),
    ...packedColumns,
    kinds: text({ mode: 'json' }).$type<Numbers>(),
    /** Entries say which editions have a customer, where several do. */
    has_owners: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.edition_short_id, table.ordering, table.generation, table.is_delta, table.number] }),
  ],
)

export const customerRunStates = sqliteTable('customer_run_states', {
  edition_short_id: text().primaryKey(),
  ...stateColumns,
  /** When the walk of its main runs began. */
  walked_at: integer().notNull().default(0),
  /** The generation all of whose chunks have owners. */
  owners_generation: integer().notNull().default(0),
})

/** Customers who changed, joined or left an edition without being young. */
export const lateCustomers = sqliteTable(
  'late_customers',
  {
    edition_short_id: text().notNull(),
    number: integer().notNull(),
    user_seq: integer().notNull(),
    /** Runs may have a value of theirs that is no longer stored otherwise. */
    is_personal: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition_short_id, table.number] })],
)
