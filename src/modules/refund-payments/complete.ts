import { eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import { transactions } from '../../db/schema/orders.ts'
import { refundItems, refundRequests } from '../../db/schema/refunds.ts'
import { addToOrderText } from '../../db/search.ts'
import { insert, update } from '../../db/write.ts'
import { purchaseLifecycle } from '../../domain/orders/purchases.ts'
import { computeNextRecheck } from '../../domain/refunds/refund-payments.ts'
import { refundLifecycle } from '../../domain/refunds/refunds.ts'
import { buildRefundEmailStatements } from '../transactional-emails/index.ts'
import { markPassesChanged } from '../wallet/index.ts'
import type { Announcement } from '../webhooks/index.ts'
import { moveAmounts, requireUnchangedPurchases } from './amounts.ts'
import {
  getAmount,
  loadPurchases,
  buildRefundAnnouncements,
  buildRefundEvent,
  type RefundedPurchase,
} from './refund.ts'

export interface RefundChanges {
  statements: Statement[]
  announcements: Announcement[]
}

export interface Completion {
  provider_reference: string | null
  /** Given when the same transaction writes the items of the refund, because they cannot be read before. */
  purchases?: readonly RefundedPurchase[]
}

const cancelledStatus = 'refunded'
const cancellableStatuses = purchaseLifecycle.sourcesOf(cancelledStatus)
const isCancellable = ({ status }: RefundedPurchase): boolean => cancellableStatuses.includes(status)

/** Adds the refund to the transactions of its order, and its id to the search text. A refund of 0 is not added. */
export function buildTransaction(
  ctx: Pick<JobCtx, 'now' | 'newId'>,
  refund: RefundRow,
  provider_reference: string | null,
): Statement[] {
  const amount_minor = getAmount(refund)
  if (amount_minor === 0) return []
  const id = ctx.newId('transaction')
  return [
    insert(transactions, {
      id,
      order_id: refund.order_id,
      type: 'refund',
      status: 'captured',
      service: refund.service ?? 'manual',
      amount_minor,
      currency: refund.currency,
      service_fee_minor: refund.service_fee_minor,
      handling_fee_minor: refund.handling_fee_minor,
      provider_reference,
      merchant_account_id: refund.merchant_account_id,
      refund_request_id: refund.id,
      created_at: ctx.now(),
    }),
    addToOrderText(refund.order_id, id),
  ]
}

/**
 * Moves the refund's amounts from reserved to refunded, and cancels its purchases if `cancel_purchase` is set: the first
 * statement stores their status in `status_before`, and the second one cancels the purchases that have it.
 */
function refundPurchases(refund: RefundRow, cancelledIds: readonly string[], now: number): Statement[] {
  const status_before = sql`(select status from purchases
    where purchases.id = refund_items.purchase_id and ${inList(sql`status`, cancellableStatuses)})`
  return [
    ...(refund.cancel_purchase
      ? [update(refundItems, { status_before }, eq(refundItems.refund_request_id, refund.id))]
      : []),
    ...moveAmounts(
      refund,
      { refundedSign: 1, reservedSign: -1 },
      { now, status: sql`iif(items.status_before is null, purchases.status, ${cancelledStatus})` },
    ),
    ...(cancelledIds.length ? [markPassesChanged(cancelledIds, now)] : []),
  ]
}

/** A provider may reverse a refund, so the refund is looked up again some days later. */
const computeRecheckTime = (refund: RefundRow, reference: string | null, now: number): number | null =>
  (reference ?? refund.provider_reference) === null || refund.service === 'manual' ? null : computeNextRecheck(now, now)

const status = 'completed'

const markCompleted = (refund: RefundRow, reference: string | null, now: number): Statement[] => [
  update(
    refundRequests,
    {
      status,
      refunded_minor: getAmount(refund),
      provider_reference: reference ?? refund.provider_reference,
      failure_code: null,
      failure_message: null,
      is_failure_hidden: false,
      waiting_reason: null,
      waiting_since: null,
      due_at: computeRecheckTime(refund, reference, now),
      claimed_until: null,
      needs_attention: false,
      completed_at: now,
      modified_at: now,
      version: refund.version + 1,
    },
    sql`id = ${refund.id} and version = ${refund.version}
      and ${inList(sql`status`, refundLifecycle.sourcesOf(status))}`,
  ),
  requireOneChange(),
]

/**
 * Builds the statements that complete a refund. `refund` is the row as it is when they run: approved or processing. The
 * batch is a lost race when the refund or a purchase has changed. Call `enqueueEmails` after the commit.
 */
export async function buildCompletion(
  ctx: Pick<JobCtx, 'config' | 'db' | 'newId' | 'now'>,
  refund: RefundRow,
  { provider_reference, purchases: knownPurchases }: Completion,
): Promise<RefundChanges> {
  const now = ctx.now()
  const amount_minor = getAmount(refund)
  const purchases = knownPurchases ?? (await loadPurchases(ctx, refund.id))
  const isCancelled = (purchase: RefundedPurchase) => refund.cancel_purchase && isCancellable(purchase)
  return {
    statements: [
      ...markCompleted(refund, provider_reference, now),
      ...requireUnchangedPurchases(purchases),
      ...refundPurchases(
        refund,
        purchases.filter(isCancelled).map(({ id }) => id),
        now,
      ),
      ...buildTransaction(ctx, refund, provider_reference),
      ...(await buildRefundEmailStatements(ctx, 'refund_confirmation', {
        ...refund,
        status,
        amount_minor,
      })),
    ],
    announcements: [
      ...buildRefundAnnouncements(refund, purchases, {
        action: 'refunded',
        status,
        amount_minor,
        occurredAt: now,
        computeStatus: (purchase) => (isCancelled(purchase) ? cancelledStatus : purchase.status),
      }),
      buildRefundEvent(refund, {
        status,
        previous_status: refund.status,
        amount_minor,
        failure_code: null,
        occurredAt: now,
      }),
    ],
  }
}

/** Cancels the transaction of a refund that the provider reversed. */
export const cancelTransaction = (refundId: string): Statement =>
  update(
    transactions,
    { status: 'cancelled' },
    sql`${eq(transactions.refund_request_id, refundId)} and ${eq(transactions.status, 'captured')}`,
  )
