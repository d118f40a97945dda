import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { currencies } from '../../../domain/money.ts'
import { type BatchFilter, type BatchSums, refundBatchStatuses } from '../../../domain/refunds/refund-batches.ts'
import { refundReasons, refundSources, refundStatuses } from '../../../domain/refunds/refunds.ts'

export const refundBatches = sqliteTable('refund_batches', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  status: text({ enum: refundBatchStatuses }).notNull(),
  filter: text({ mode: 'json' }).$type<BatchFilter>().notNull(),
  percent_hundredths: integer().notNull(),
  include_fees: integer({ mode: 'boolean' }).notNull(),
  cancel_purchases: integer({ mode: 'boolean' }).notNull(),
  notify_customers: integer({ mode: 'boolean' }).notNull(),
  reason: text({ enum: refundReasons }).notNull(),
  message: text().notNull(),
  dry_run: text({ mode: 'json' }).$type<BatchSums>().notNull(),
  customers_count: integer().notNull().default(0),
  requested: text({ mode: 'json' }).$type<BatchSums>().notNull(),
  cursor_created_at: integer(),
  cursor_seq: integer(),
  due_at: integer(),
  claimed_until: integer(),
  source: text({ enum: refundSources }).notNull(),
  created_by: text().notNull(),
  started_by: text(),
  is_started_by_organization: integer({ mode: 'boolean' }).notNull().default(false),
  started_at: integer(),
  ended_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const refundBatchCustomers = sqliteTable(
  'refund_batch_customers',
  { batch_id: text().notNull(), user_id: text().notNull() },
  (table) => [primaryKey({ columns: [table.batch_id, table.user_id] })],
)

export const refundBatchTotals = sqliteTable(
  'refund_batch_totals',
  {
    batch_id: text().notNull(),
    currency: text({ enum: currencies }).notNull(),
    status: text({ enum: refundStatuses }).notNull(),
    needs_attention: integer({ mode: 'boolean' }).notNull(),
    requests: integer().notNull(),
    amount_minor: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.batch_id, table.currency, table.status, table.needs_attention] })],
)
