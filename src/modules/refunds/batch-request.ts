import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import { toMajor } from '../../domain/money.ts'
import { shareAmount } from '../../domain/refunds/refund-shares.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'
import { buildRefundAudit, buildRefundAnnouncements } from '../refund-payments/index.ts'
import type { Announcement } from '../webhooks/index.ts'
import { buildCreateStatements, buildRefundRow, type PaidOrder } from './create.ts'
import { buildApproval, buildApprovedColumns, type Payout } from './decisions/approval.ts'
import { splitRemaining } from './refundable-order.ts'

/** The request of a batch for one order. */
export interface BatchRequest {
  batch: {
    id: string
    reason: RefundReason
    source: RefundRow['source']
    includes_fees: boolean
    cancels: boolean
    notifies: boolean
    /** The account that made the batch, and the one that started it. */
    created_by: string
    started_by: string
    /** True if a role of the organisation started it, which approves its requests. */
    is_started_by_organization: boolean
    started_at: number
  }
  purchases: readonly string[]
  amount_minor: number
  payout: Payout
}

export interface BatchRequestChanges {
  statements: Statement[]
  announcements: Announcement[]
}

/**
 * Builds an approved request for some purchases of an order. It writes what a single request and its approval write.
 */
export async function buildBatchRequest(
  ctx: JobCtx,
  order: PaidOrder,
  request: BatchRequest,
): Promise<BatchRequestChanges> {
  const { batch, amount_minor, payout } = request
  const purchaseIds = new Set(request.purchases)
  const purchases = order.purchases.filter(({ id }) => purchaseIds.has(id))
  const shares = shareAmount(amount_minor, purchases.map(splitRemaining))
  const [purchase] = purchases
  const isForPurchase = purchase !== undefined && purchases.length === 1 && shares.service_fee_minor === 0
  const target = isForPurchase
    ? ({ kind: 'purchase', id: purchase.id } as const)
    : ({ kind: 'order', id: order.order_id } as const)
  const input = {
    reason: batch.reason,
    include_fees: batch.includes_fees,
    cancel_purchase: batch.cancels,
    notify_customer: batch.notifies,
  }
  const requestedRefund = { order, target, input, amount: amount_minor, shares }
  const pendingRefund = buildRefundRow(ctx, requestedRefund, { source: batch.source, requested_by: batch.created_by })
  const refund: RefundRow = {
    ...pendingRefund,
    ...buildApprovedColumns(pendingRefund, payout, pendingRefund.created_at),
    batch_id: batch.id,
    approved_minor: amount_minor,
    reviewed_by: batch.started_by,
    is_approved_by_organization: batch.is_started_by_organization,
    reviewed_at: batch.started_at,
  }
  const requestAnnouncements = buildRefundAnnouncements(refund, purchases, {
    action: 'refund_requested',
    status: 'pending',
    amount_minor,
    occurredAt: refund.created_at,
  })
  const approval = await buildApproval(ctx, refund, payout, purchases)
  const auditedFields = { batch_id: batch.id, status: approval.refund.status, requested_amount: toMajor(amount_minor) }
  return {
    statements: [
      ...buildCreateStatements({ refund, shares, purchases }),
      ...approval.statements,
      buildRefundAudit(ctx, 'requestBatchRefund', refund, { before: null, after: auditedFields }),
    ],
    announcements: [...requestAnnouncements, ...approval.announcements],
  }
}
