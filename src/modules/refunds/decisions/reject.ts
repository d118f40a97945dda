import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { updateVersion } from '../../../db/write.ts'
import { checkRefundTransition } from '../../../domain/refunds/refund-amounts.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import { isHeld } from '../../../domain/waiting.ts'
import { openEditions } from '../../editions/index.ts'
import {
  moveAmounts,
  requireUnchangedPurchases,
  loadPurchases,
  buildRefundAnnouncements,
} from '../../refund-payments/index.ts'
import { buildRefundEmailStatements, enqueueEmails } from '../../transactional-emails/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import type { RejectInput } from '../contract.ts'
import type { LoadedRefund, RefundDetailRow } from '../queries.ts'

const status = 'rejected'

/**
 * True if the request can be rejected. An approved one can while payments are held, because no provider was called for it.
 */
export const mayReject = (
  { config }: Pick<Ctx, 'config'>,
  { status: current }: Pick<LoadedRefund, 'status'>,
): boolean => refundLifecycle.allows(current, status) || (current === 'approved' && isHeld(config))

/** Releases the amount and e-mails the reason to the customer, unless `notify_customer` is false. */
export async function rejectRefundRequest(
  ctx: Ctx,
  refund: LoadedRefund,
  input: RejectInput,
): Promise<RefundDetailRow> {
  if (!mayReject(ctx, refund)) checkRefundTransition(refund.status, status, status)
  const now = ctx.now()
  const changes = {
    status: 'rejected' as const,
    rejection_reason: input.reason,
    notify_customer: input.notify_customer ?? refund.notify_customer,
    reviewed_by: ctx.caller.id,
    reviewed_at: now,
    due_at: null,
    waiting_reason: null,
    waiting_since: null,
    modified_at: now,
  }
  const rejectedRefund = { ...refund, ...changes, version: refund.version + 1 }
  const amount_minor = refund.requested_minor
  const purchases = await loadPurchases(ctx, refund.id)
  const events = buildRefundAnnouncements(refund, purchases, {
    action: 'refund_rejected',
    status,
    amount_minor,
    occurredAt: now,
  })
  const emailStatements = await buildRefundEmailStatements(ctx, 'refund_rejection', { ...rejectedRefund, amount_minor })
  const row = await commit(ctx, rejectedRefund, [
    ...openEditions(refund.edition_id),
    ...updateVersion(refundRequests, refund, changes),
    ...requireUnchangedPurchases(purchases),
    ...moveAmounts(refund, { refundedSign: 0, reservedSign: -1 }, { now }),
    ...emailStatements,
    ...announceAll(ctx, events),
  ])
  if (emailStatements.length) ctx.afterCommit(() => enqueueEmails(ctx))
  return row
}
