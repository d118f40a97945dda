import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import { refundItems, refundRequests } from '../../db/schema/refunds.ts'
import { update, updateVersion } from '../../db/write.ts'
import { computeRestoredStatus, type PurchaseStatus } from '../../domain/orders/purchases.ts'
import { hiddenFailure } from '../../domain/refunds/payment-checks.ts'
import type { RefundOutcome } from '../../gateways/payments/payments.ts'
import { buildRefundEmailStatements } from '../transactional-emails/index.ts'
import { markPassesChanged } from '../wallet/index.ts'
import { moveAmounts, requireUnchangedPurchases } from './amounts.ts'
import { cancelTransaction, type RefundChanges } from './complete.ts'
import {
  getAmount,
  loadPurchases,
  buildRefundAnnouncements,
  buildRefundEvent,
  type RefundedPurchase,
} from './refund.ts'

type RefundFailure = Pick<
  Extract<RefundOutcome, { state: 'failed' }>,
  'provider_reference' | 'code' | 'message' | 'is_hidden'
>
type FailCtx = Pick<JobCtx, 'config' | 'db' | 'newId' | 'now'>

const maxMessageLength = 500
const status = 'failed'

const markFailed = (refund: RefundRow, failure: RefundFailure, now: number): Statement[] =>
  updateVersion(refundRequests, refund, {
    status,
    refunded_minor: 0,
    failure_code: failure.code,
    failure_message: failure.message.slice(0, maxMessageLength),
    is_failure_hidden: failure.is_hidden ?? false,
    waiting_reason: null,
    waiting_since: null,
    provider_reference: failure.provider_reference ?? refund.provider_reference,
    due_at: null,
    claimed_until: null,
    needs_attention: false,
    completed_at: null,
    modified_at: now,
  })

const buildFailureAnnouncements = (
  refund: RefundRow,
  failure: RefundFailure,
  purchases: readonly RefundedPurchase[],
  change: { occurredAt: number; computeStatus?: (purchase: RefundedPurchase) => PurchaseStatus },
) => {
  const amount_minor = getAmount(refund)
  const { occurredAt } = change
  // Endpoints of an edition get the event, and roles of an edition do not see a hidden failure.
  const failure_code = failure.is_hidden ? hiddenFailure.code : failure.code
  return [
    ...buildRefundAnnouncements(refund, purchases, { action: 'refund_failed', status, amount_minor, ...change }),
    buildRefundEvent(refund, { status, previous_status: refund.status, amount_minor, failure_code, occurredAt }),
  ]
}

/** Builds the statements that mark a refund as failed and release its reserved amounts. */
export async function buildFailure(ctx: FailCtx, refund: RefundRow, failure: RefundFailure): Promise<RefundChanges> {
  const now = ctx.now()
  const purchases = await loadPurchases(ctx, refund.id)
  return {
    statements: [
      ...markFailed(refund, failure, now),
      ...requireUnchangedPurchases(purchases),
      ...moveAmounts(refund, { refundedSign: 0, reservedSign: -1 }, { now }),
    ],
    announcements: buildFailureAnnouncements(refund, failure, purchases, { occurredAt: now }),
  }
}

interface OtherCancellation {
  refund_request_id: string
  purchase_id: string
}

/** Selects other completed refunds with `cancel_purchase` for purchases that this refund cancelled. */
const selectOtherCancellations = (refundId: string): SQL<OtherCancellation> =>
  sql<OtherCancellation>`select min(others.refund_request_id) as refund_request_id, others.purchase_id
    from refund_items as items
    cross join refund_items as others on others.purchase_id = items.purchase_id
      and others.refund_request_id <> items.refund_request_id
    cross join refund_requests on refund_requests.id = others.refund_request_id
    where items.refund_request_id = ${refundId} and items.status_before is not null
      and ${and(eq(refundRequests.status, 'completed'), eq(refundRequests.cancel_purchase, true))}
    group by others.purchase_id`

const clearStatusBefore = ({ id }: RefundRow, purchaseIds: readonly string[]): Statement =>
  update(
    refundItems,
    { status_before: null },
    and(eq(refundItems.refund_request_id, id), inList(sql`${refundItems.purchase_id}`, purchaseIds)),
  )

/** Moves the cancellation to the other refund, so that the purchase stays cancelled until that one fails as well. */
function moveCancellations(refund: RefundRow, others: readonly OtherCancellation[]): Statement[] {
  const pairs = JSON.stringify(others.map(({ refund_request_id, purchase_id }) => [refund_request_id, purchase_id]))
  return [
    abortUnless(sql`(select count(*) from (${selectOtherCancellations(refund.id)})) = ${others.length}`),
    ...(others.length
      ? [
          sql`update refund_items set status_before = (select failed.status_before from refund_items as failed
              where failed.refund_request_id = ${refund.id} and failed.purchase_id = refund_items.purchase_id)
            where (refund_request_id, purchase_id) in (select value ->> 0, value ->> 1 from json_each(${pairs}))`,
          clearStatusBefore(
            refund,
            others.map(({ purchase_id }) => purchase_id),
          ),
        ]
      : []),
  ]
}

/** Aborts the batch when the status of the order has changed since the read, because it decides that of its purchases. */
const requireUnchangedOrder = ({ order_id }: RefundRow, [purchase]: readonly RefundedPurchase[]): Statement[] =>
  purchase
    ? [abortUnless(sql`exists (select 1 from orders where id = ${order_id} and status = ${purchase.order_status})`)]
    : []

/**
 * Builds the statements for a completed refund that the provider reversed: they subtract its amounts and restore the
 * status of purchases that it cancelled, unless their order is cancelled. The lifecycle of purchases has no such
 * transition, because this undoes one.
 */
export async function buildReversal(ctx: FailCtx, refund: RefundRow, failure: RefundFailure): Promise<RefundChanges> {
  const now = ctx.now()
  const purchases = await loadPurchases(ctx, refund.id)
  // `cancel_purchase` sets a purchase to `refunded`, not to `cancelled`.
  const cancelledStatus: PurchaseStatus = 'refunded'
  const others = await ctx.db.all(selectOtherCancellations(refund.id))
  const isRestored = (purchase: RefundedPurchase) =>
    purchase.status === cancelledStatus &&
    purchase.status_before !== null &&
    others.every(({ purchase_id }) => purchase_id !== purchase.id)
  const computeStatus = (purchase: RefundedPurchase) =>
    isRestored(purchase)
      ? computeRestoredStatus(purchase.status_before ?? purchase.status, purchase.order_status)
      : purchase.status
  const restoredPurchases = purchases.filter(isRestored)
  const restoredIds = restoredPurchases.map(({ id }) => id)
  const activeStatus = computeRestoredStatus('active', restoredPurchases[0]?.order_status ?? 'completed')
  return {
    statements: [
      ...markFailed(refund, failure, now),
      ...requireUnchangedPurchases(purchases),
      ...requireUnchangedOrder(refund, restoredPurchases),
      ...moveCancellations(refund, others),
      ...moveAmounts(
        refund,
        { refundedSign: -1, reservedSign: 0 },
        {
          now,
          status: sql`iif(purchases.status = ${cancelledStatus} and items.status_before is not null,
            iif(items.status_before = 'active', ${activeStatus}, items.status_before), purchases.status)`,
        },
      ),
      cancelTransaction(refund.id),
      ...(restoredIds.length ? [clearStatusBefore(refund, restoredIds), markPassesChanged(restoredIds, now)] : []),
      ...(await buildRefundEmailStatements(ctx, 'refund_correction', {
        ...refund,
        status,
        amount_minor: getAmount(refund),
      })),
    ],
    announcements: buildFailureAnnouncements(refund, failure, purchases, {
      occurredAt: now,
      computeStatus,
    }),
  }
}
