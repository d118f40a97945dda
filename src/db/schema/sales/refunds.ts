import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { currencies } from '../../../domain/money.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { paymentServices } from '../../../domain/refunds/merchant-accounts.ts'
import { paymentChecks } from '../../../domain/refunds/payment-checks.ts'
import { refundReasons, refundSources, refundStatuses, refundTargets } from '../../../domain/refunds/refunds.ts'

export const refundRequests = sqliteTable('refund_requests', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  order_id: text().notNull(),
  transaction_id: text().notNull(),
  purchase_id: text(),
  user_id: text().notNull(),
  batch_id: text(),
  target: text({ enum: refundTargets }).notNull(),
  status: text({ enum: refundStatuses }).notNull(),
  source: text({ enum: refundSources }).notNull(),
  reason: text({ enum: refundReasons }).notNull(),
  comment: text().notNull().default(''),
  currency: text({ enum: currencies }).notNull(),
  requested_minor: integer().notNull(),
  approved_minor: integer(),
  refunded_minor: integer().notNull().default(0),
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
  service: text({ enum: paymentServices }),
  merchant_account_id: text(),
  attempts: integer().notNull().default(0),
  provider_key: text(),
  provider_key_at: integer(),
  /** Decided with the key of an attempt: whose payment the reference is. */
  payment_check: text({ enum: paymentChecks }),
  is_approved_by_organization: integer({ mode: 'boolean' }).notNull().default(false),
  provider_reference: text(),
  failure_code: text(),
  failure_message: text(),
  /** True if roles of an edition read the failure of an unknown payment instead. */
  is_failure_hidden: integer({ mode: 'boolean' }).notNull().default(false),
  waiting_reason: text(),
  waiting_since: integer(),
  due_at: integer(),
  claimed_until: integer(),
  checks: integer().notNull().default(0),
  needs_attention: integer({ mode: 'boolean' }).notNull().default(false),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull().default({}),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
  completed_at: integer(),
})

export const refundItems = sqliteTable(
  'refund_items',
  {
    refund_request_id: text().notNull(),
    purchase_id: text().notNull(),
    amount_minor: integer().notNull(),
    price_minor: integer().notNull().default(0),
    deposit_minor: integer().notNull().default(0),
    handling_fee_minor: integer().notNull().default(0),
    status_before: text({ enum: purchaseStatuses }),
  },
  (table) => [primaryKey({ columns: [table.refund_request_id, table.purchase_id] })],
)

export type RefundRow = typeof refundRequests.$inferSelect

export const paymentEvents = sqliteTable(
  'payment_events',
  {
    merchant_account_id: text().notNull(),
    id: text().notNull(),
    kind: text().notNull(),
    provider_reference: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchant_account_id, table.id] })],
)
