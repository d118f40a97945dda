// npm run schema makes this file from migrations/0010_refunds.sql and src/db/column-types.ts.
//
// Refund requests and batches of them. What is paid back, and reserved by open requests, stands with each purchase and
// payment, so one guarded update checks and reserves.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** A request to pay back an order, a payment or a purchase. */
export const refundRequests = sqliteTable('refund_requests', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  order_id: text().notNull(), // references orders (id)
  /** The payment that is paid back. */
  transaction_id: text().notNull(), // references transactions (id)
  /** Null for a refund of the whole order or payment. Its row in `refund_items` has the foreign key. */
  purchase_id: text(),
  user_id: text().notNull(), // references users (id)
  batch_id: text(),
  target: text({ enum: types.refund_requests.target }).notNull(),
  status: text({ enum: types.refund_requests.status }).notNull(),
  source: text({ enum: types.refund_requests.source }).notNull(),
  reason: text({ enum: types.refund_requests.reason }).notNull(),
  comment: text().notNull().default(''),
  currency: text({ enum: types.refund_requests.currency }).notNull(),
  requested_minor: integer().notNull(),
  approved_minor: integer(),
  refunded_minor: integer().notNull().default(0),
  /** The parts of the amount that is requested, approved or paid back. */
  price_minor: integer().notNull().default(0),
  deposit_minor: integer().notNull().default(0),
  handling_fee_minor: integer().notNull().default(0),
  service_fee_minor: integer().notNull().default(0),
  include_fees: integer({ mode: 'boolean' }).notNull().default(false),
  cancel_purchase: integer({ mode: 'boolean' }).notNull().default(false),
  notify_customer: integer({ mode: 'boolean' }).notNull().default(true),
  requested_by: text(),
  reviewed_by: text(),
  reviewed_at: integer(),
  rejection_reason: text(),
  note: text(),
  /** The gateway and the account that pay it back; null until it is approved. */
  service: text({ enum: types.refund_requests.service }),
  merchant_account_id: text(), // references merchant_accounts (id)
  attempts: integer().notNull().default(0),
  /** `<id>:<attempt>`, stored before the provider is called. */
  provider_key: text(),
  provider_key_at: integer(),
  /**
   * Decided together with the key: whose payment the reference is. Null before the first attempt, and for a reference
   * that no payment can have.
   */
  payment_check: text({ enum: types.refund_requests.payment_check }),
  /** True if a role of the organization approved it, and not one of the edition or the refund policy. */
  is_approved_by_organization: integer({ mode: 'boolean' }).notNull().default(false),
  provider_reference: text(),
  failure_code: text(),
  failure_message: text(),
  /** True if roles of an edition read the failure of an unknown payment instead. */
  is_failure_hidden: integer({ mode: 'boolean' }).notNull().default(false),
  /** The reason why an approved refund waits, and since when; null when it does not wait. */
  waiting_reason: text(),
  waiting_since: integer(),
  /** When the provider is called or asked next; null when nothing is due. */
  due_at: integer(),
  claimed_until: integer(),
  checks: integer().notNull().default(0),
  needs_attention: integer({ mode: 'boolean' }).notNull().default(false),
  metadata: text({ mode: 'json' }).$type<typeof types.refund_requests.metadata.value>().notNull().default({}),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  completed_at: integer(),
})

/**
 * The amount that a refund pays back, or reserves, for each purchase. A remainder that belongs to none, such as a
 * service fee, has no row.
 */
export const refundItems = sqliteTable(
  'refund_items',
  {
    refund_request_id: text().notNull(), // references refund_requests (id)
    purchase_id: text().notNull(), // references purchases (id)
    amount_minor: integer().notNull(),
    /** The parts of the purchase that the item pays back, so that later refunds know which are left. */
    price_minor: integer().notNull().default(0),
    deposit_minor: integer().notNull().default(0),
    handling_fee_minor: integer().notNull().default(0),
    /** The status of the purchase before this refund cancelled it; null when it did not. */
    status_before: text({ enum: types.refund_items.status_before }),
  },
  (table) => [primaryKey({ columns: [table.refund_request_id, table.purchase_id] })],
)

/**
 * Batches of refunds, for example for a cancelled edition. A dry run counts what would be paid back; once started,
 * a batch makes one request for each order.
 */
export const refundBatches = sqliteTable('refund_batches', {
  id: text().primaryKey(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  status: text({ enum: types.refund_batches.status }).notNull(),
  filter: text({ mode: 'json' }).$type<typeof types.refund_batches.filter.value>().notNull(),
  /** The percentage of what is left, times 100; 10000 pays everything back. */
  percent_hundredths: integer().notNull(),
  include_fees: integer({ mode: 'boolean' }).notNull(),
  cancel_purchases: integer({ mode: 'boolean' }).notNull(),
  notify_customers: integer({ mode: 'boolean' }).notNull(),
  reason: text({ enum: types.refund_batches.reason }).notNull(),
  message: text().notNull(),
  /** Counts of the dry run and of the requests since, each with the purchases that were left out. */
  dry_run: text({ mode: 'json' }).$type<typeof types.refund_batches.dry_run.value>().notNull(),
  customers_count: integer().notNull().default(0),
  requested: text({ mode: 'json' }).$type<typeof types.refund_batches.requested.value>().notNull(),
  /** The last order that was processed; null before the first. */
  cursor_created_at: integer(),
  cursor_seq: integer(),
  /** When the batch has work to do; null when it has none. */
  due_at: integer(),
  claimed_until: integer(),
  source: text({ enum: types.refund_batches.source }).notNull(),
  created_by: text().notNull(),
  started_by: text(),
  /** True if a role of the organization started it, and not one of the edition. */
  is_started_by_organization: integer({ mode: 'boolean' }).notNull().default(false),
  started_at: integer(),
  ended_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/** Customers counted by a dry run, so that each counts once. They are deleted when it ends. */
export const refundBatchCustomers = sqliteTable(
  'refund_batch_customers',
  {
    batch_id: text().notNull(), // references refund_batches (id)
    user_id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.batch_id, table.user_id] })],
)

/** Totals of the requests of each batch, kept by triggers, so that showing a batch counts nothing. */
export const refundBatchTotals = sqliteTable(
  'refund_batch_totals',
  {
    batch_id: text().notNull(), // references refund_batches (id)
    currency: text({ enum: types.refund_batch_totals.currency }).notNull(),
    status: text({ enum: types.refund_batch_totals.status }).notNull(),
    needs_attention: integer({ mode: 'boolean' }).notNull(),
    requests: integer().notNull(),
    amount_minor: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.batch_id, table.currency, table.status, table.needs_attention] })],
)
