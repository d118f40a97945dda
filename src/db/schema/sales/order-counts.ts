import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { any } from '../list-spans.ts'

const counted = () => integer().notNull().default(0)

const countedOrders = () => ({
  pending_online: counted(),
  pending_in_person: counted(),
  pending_imported: counted(),
  confirmed_online: counted(),
  confirmed_in_person: counted(),
  confirmed_imported: counted(),
  completed_online: counted(),
  completed_in_person: counted(),
  completed_imported: counted(),
  cancelled_online: counted(),
  cancelled_in_person: counted(),
  cancelled_imported: counted(),
})

/**
 * Triggers and `countTogether` write it: a column of each status and type of an order, one of all purchases and one of each of
 * their statuses; in spans of `longBits` also the customers of the edition, who are in any of its spans. Generated columns
 * `orders` and `bought` have all orders and all purchases.
 */
export const orderCounts = sqliteTable(
  'order_counts',
  {
    span_bits: integer().notNull(),
    edition_id: text().notNull(),
    span: integer().notNull(),
    ...countedOrders(),
    changes: integer().notNull().default(0),
    customers: counted(),
    /** Of any status. */
    purchases: counted(),
    purchases_pending: counted(),
    purchases_active: counted(),
    purchases_used: counted(),
    purchases_refunded: counted(),
    purchases_expired: counted(),
    purchases_cancelled: counted(),
    /** Of the longest spans: goes up with each change of a purchase that a search could find. */
    purchase_changes: counted(),
    /** The same with each change of the amount of an order, or of the time of its last change. */
    sort_changes: counted(),
  },
  (table) => [primaryKey({ columns: [table.span_bits, table.edition_id, table.span] })],
)

/**
 * Of an edition or an organisation, in an ordering: how many settled orders stand from a key up to that of the next row. A
 * sweep and triggers write it.
 */
export const orderIntervals = sqliteTable(
  'order_intervals',
  {
    scope: text().notNull(),
    ordering: text({ enum: ['amount', 'modified', 'number', 'unnumbered'] }).notNull(),
    value: any().notNull(),
    created_at: integer().notNull(),
    seq: integer().notNull(),
    ...countedOrders(),
  },
  (table) => [primaryKey({ columns: [table.scope, table.ordering, table.value, table.created_at, table.seq] })],
)

export const listCounts = sqliteTable(
  'list_counts',
  {
    slot: integer().notNull(),
    key: text().notNull(),
    version: integer().notNull(),
    total: integer().notNull(),
    counted_at: integer().notNull(),
    hits: text(),
  },
  (table) => [primaryKey({ columns: [table.slot] })],
)
