import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { toMajor } from '../../domain/money.ts'
import { shareOut } from '../../domain/refunds/refund-shares.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'
import { auditRefund, refundAnnouncements } from '../refund-payments/index.ts'
import type { Announcement } from '../webhooks/index.ts'
import { afterApproval, approvedColumns, type PayingBack } from './decisions/approval.ts'
import { creation, type PaidSubject, rowOf } from './create.ts'
import { remaining } from './subject.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'

/** What a batch requests for one order, and how it is paid back. */
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
    started_at: number
  }
  purchases: readonly string[]
  amount_minor: number
  paying: PayingBack
}

export interface RequestChanges {
  statements: Statement[]
  announcements: Announcement[]
}

/** The statements of an approved request for some purchases of an order: what single requests and approvals write. */
export async function batchRequestStatements(
  ctx: JobCtx,
  subject: PaidSubject,
  request: BatchRequest,
): Promise<RequestChanges> {
  const { batch, amount_minor, paying } = request
  const named = new Set(request.purchases)
  const purchases = subject.purchases.filter(({ id }) => named.has(id))
  const shares = shareOut(amount_minor, purchases.map(remaining))
  const [only] = purchases
  const isOfOne = only !== undefined && purchases.length === 1 && shares.service_fee_minor === 0
  const target = isOfOne
    ? ({ kind: 'purchase', id: only.id } as const)
    : ({ kind: 'order', id: subject.order_id } as const)
  const input = {
    reason: batch.reason,
    include_fees: batch.includes_fees,
    cancel_purchase: batch.cancels,
    notify_customer: batch.notifies,
  }
  const asked = { subject, target, input, amount: amount_minor, shares }
  const pending = rowOf(ctx, asked, { source: batch.source, requested_by: batch.created_by })
  const refund: RefundRow = {
    ...pending,
    ...approvedColumns(pending, paying, pending.created_at),
    batch_id: batch.id,
    approved_minor: amount_minor,
    reviewed_by: batch.started_by,
    reviewed_at: batch.started_at,
  }
  const requested = refundAnnouncements(refund, purchases, {
    action: 'refund_requested',
    status: 'pending',
    amount_minor,
    occurredAt: refund.created_at,
  })
  const approved = await afterApproval(ctx, refund, paying, purchases)
  const after = { batch_id: batch.id, status: approved.refund.status, requested_amount: toMajor(amount_minor) }
  return {
    statements: [
      ...creation({ refund, shares, purchases }),
      ...approved.statements,
      auditRefund(ctx, 'requestBatchRefund', refund, { before: null, after }),
    ],
    announcements: [...requested, ...approved.announcements],
  }
}
