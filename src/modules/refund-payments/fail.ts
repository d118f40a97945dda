import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { refundItems, refundRequests, type RefundRow } from '../../db/schema/sales/refunds.ts'
import { inList } from '../../db/visibility.ts'
import { update, updateVersion } from '../../db/write.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { RefundOutcome } from '../../gateways/payments/payments.ts'
import { refundEmailStatements } from '../transactional-emails/index.ts'
import { markPassesChanged } from '../wallet/index.ts'
import { moveAmounts, purchasesAreAsRead } from './amounts.ts'
import { cancelTransaction, type RefundChanges } from './complete.ts'
import { amountOf, purchasesOf, refundAnnouncements, type RefundedPurchase } from './refund.ts'

type RefundFailure = Pick<Extract<RefundOutcome, { state: 'failed' }>, 'provider_reference' | 'code' | 'message'>
type FailCtx = Pick<JobCtx, 'db' | 'now' | 'newId'>

const maxMessageLength = 500
const status = 'failed'

const markFailed = (refund: RefundRow, failure: RefundFailure, now: number): Statement[] =>
  updateVersion(refundRequests, refund, {
    status,
    refunded_minor: 0,
    failure_code: failure.code,
    failure_message: failure.message.slice(0, maxMessageLength),
    provider_reference: failure.provider_reference ?? refund.provider_reference,
    due_at: null,
    lease_until: null,
    needs_attention: false,
    completed_at: null,
    modified_at: now,
  })

const announced = (
  refund: RefundRow,
  purchases: readonly RefundedPurchase[],
  now: number,
  statusOf?: (purchase: RefundedPurchase) => PurchaseStatus,
) =>
  refundAnnouncements(refund, purchases, {
    action: 'refund_failed',
    status,
    amount_minor: amountOf(refund),
    occurredAt: now,
    ...(statusOf && { statusOf }),
  })

/** The refund failed: releases the reserved amounts. */
export async function failureStatements(
  ctx: FailCtx,
  refund: RefundRow,
  failure: RefundFailure,
): Promise<RefundChanges> {
  const now = ctx.now()
  const purchases = await purchasesOf(ctx, refund.id)
  return {
    statements: [
      ...markFailed(refund, failure, now),
      ...purchasesAreAsRead(purchases),
      ...moveAmounts(refund, { refunded: 0, reserved: -1 }, { now }),
    ],
    announcements: announced(refund, purchases, now),
  }
}

interface OtherCancellation {
  refund_request_id: string
  purchase_id: string
}

/** Other completed refunds with `cancel_purchase` for purchases that this refund cancelled. */
const otherCancellations = (refundId: string): SQL<OtherCancellation> =>
  sql<OtherCancellation>`select min(others.refund_request_id) as refund_request_id, others.purchase_id
    from refund_items as items
    cross join refund_items as others on others.purchase_id = items.purchase_id
      and others.refund_request_id <> items.refund_request_id
    cross join refund_requests on refund_requests.id = others.refund_request_id
    where items.refund_request_id = ${refundId} and items.status_before is not null
      and ${and(eq(refundRequests.status, 'completed'), eq(refundRequests.cancel_purchase, true))}
    group by others.purchase_id`

const forgetStatus = ({ id }: RefundRow, purchaseIds: readonly string[]): Statement =>
  update(
    refundItems,
    { status_before: null },
    and(eq(refundItems.refund_request_id, id), inList(sql`${refundItems.purchase_id}`, purchaseIds)),
  )

/** Moves the cancellation to the other refund: the purchase stays cancelled until that refund fails as well. */
function moveCancellations(refund: RefundRow, others: readonly OtherCancellation[]): Statement[] {
  const pairs = JSON.stringify(others.map(({ refund_request_id, purchase_id }) => [refund_request_id, purchase_id]))
  return [
    abortUnless(sql`(select count(*) from (${otherCancellations(refund.id)})) = ${others.length}`),
    ...(others.length
      ? [
          sql`update refund_items set status_before = (select own.status_before from refund_items as own
              where own.refund_request_id = ${refund.id} and own.purchase_id = refund_items.purchase_id)
            where (refund_request_id, purchase_id) in (select value ->> 0, value ->> 1 from json_each(${pairs}))`,
          forgetStatus(
            refund,
            others.map(({ purchase_id }) => purchase_id),
          ),
        ]
      : []),
  ]
}

/**
 * The provider took back a completed refund: its amounts are subtracted again, and purchases that it cancelled get
 * their earlier status. The lifecycle of purchases has no such transition, because this undoes one.
 */
export async function takenBackStatements(
  ctx: FailCtx,
  refund: RefundRow,
  failure: RefundFailure,
): Promise<RefundChanges> {
  const now = ctx.now()
  const purchases = await purchasesOf(ctx, refund.id)
  const cancelled = 'refunded'
  const others = await ctx.db.all(otherCancellations(refund.id))
  const isRestored = (purchase: RefundedPurchase) =>
    purchase.status === cancelled &&
    purchase.status_before !== null &&
    others.every(({ purchase_id }) => purchase_id !== purchase.id)
  const restored = purchases.filter(isRestored).map(({ id }) => id)
  return {
    statements: [
      ...markFailed(refund, failure, now),
      ...purchasesAreAsRead(purchases),
      ...moveCancellations(refund, others),
      ...moveAmounts(
        refund,
        { refunded: -1, reserved: 0 },
        {
          now,
          status: sql`iif(purchases.status = ${cancelled} and items.status_before is not null, items.status_before,
            purchases.status)`,
        },
      ),
      cancelTransaction(refund.id),
      ...(restored.length ? [forgetStatus(refund, restored), markPassesChanged(restored, now)] : []),
      ...(await refundEmailStatements(ctx, 'refund_correction', { ...refund, status, amount_minor: amountOf(refund) })),
    ],
    announcements: announced(refund, purchases, now, (purchase) =>
      isRestored(purchase) ? (purchase.status_before ?? purchase.status) : purchase.status,
    ),
  }
}
