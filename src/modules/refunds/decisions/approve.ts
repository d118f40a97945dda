import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit, abortUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { refundItems, refundRequests } from '../../../db/schema/sales/refunds.ts'
import { inList } from '../../../db/visibility.ts'
import { insertAll, remove, updateVersion } from '../../../db/write.ts'
import { mayAt } from '../../../domain/accounts/access.ts'
import { AppError, editionArchived, LostRace } from '../../../domain/errors.ts'
import { capturedStatuses, wasCaptured } from '../../../domain/orders/orders.ts'
import { isHeld } from '../../../domain/orders/purchases.ts'
import { requestedAmount, checkPositive, checkTransition, exceeds } from '../../../domain/refunds/refund-amounts.ts'
import { checkReview, readPolicy } from '../../../domain/refunds/refund-policy.ts'
import { type Shared, shareOut, shrink, totalParts } from '../../../domain/refunds/refund-shares.ts'
import { openEditions } from '../../editions/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import { afterApproval, approvedColumns, merchantNotReady, payingBack } from './approval.ts'
import type { ApproveInput } from '../contract.ts'
import { itemsOf, type LoadedRefund, type RefundDetailRow } from '../queries.ts'
import { reserveStatements, shrinkStatements } from '../reserve.ts'
import {
  findSubject,
  maxOf,
  remaining,
  restOf,
  type RefundSubject,
  type SubjectPurchase,
  type RefundTarget,
} from '../subject.ts'

type Approval = ApproveInput & { amount: number; isCancelling: boolean }

const targetOf = ({ target, purchase_id, order_id }: LoadedRefund): RefundTarget =>
  target === 'purchase' && purchase_id !== null ? { kind: target, id: purchase_id } : { kind: 'order', id: order_id }

/** Decides on the amount to approve; throws why the request cannot be approved. */
function decide(ctx: Ctx, refund: LoadedRefund, input: ApproveInput): Approval {
  checkTransition(refund.status, 'approved', 'approved')
  if (refund.is_archived) throw editionArchived()
  // The provider paid an earlier attempt after all: another attempt would pay twice.
  if (refund.needs_attention)
    throw new AppError('invalid_transition', 'The provider has paid an earlier attempt of this refund.', {
      extra: { current_status: refund.status, allowed_transitions: [] },
    })
  const isCancelling = input.cancel_purchase ?? refund.cancel_purchase
  const amount = input.amount ?? refund.approved_minor ?? refund.requested_minor
  checkPositive(amount, isCancelling)
  if (amount > refund.requested_minor) throw exceeds(refund.requested_minor, refund.currency)
  checkReview(readPolicy(refund.refund_policy), {
    amount_minor: amount,
    currency: refund.currency,
    requested_by: refund.requested_by,
    reviewer: ctx.caller.id,
    isAdmin: mayAt(ctx.caller, ['OA', 'EA'], refund.tenant),
  })
  return { ...input, amount, isCancelling }
}

interface ApprovedAmounts {
  shares: Shared
  /** Statements before the change of the request, and directly after it. */
  before: Statement[]
  after: Statement[]
}

/**
 * Aborts the batch when the payment no longer covers the amount. It runs after a smaller amount has released the
 * difference.
 */
const paymentCovers = (refund: LoadedRefund, amount: number): Statement =>
  abortUnless(sql`exists (select 1 from transactions where transactions.id = ${refund.transaction_id}
    and ${inList(sql`status`, capturedStatuses)}
    and (${amount} = 0 or amount_minor >= refunded_minor + reserved_minor))`)

/** The amounts of a pending request: those that it has reserved, or smaller ones. */
async function keptAmounts(
  ctx: Ctx,
  refund: LoadedRefund,
  subject: RefundSubject,
  amount: number,
): Promise<ApprovedAmounts> {
  const { transaction_status } = subject
  if (transaction_status === null || !wasCaptured(transaction_status))
    throw new AppError('transaction_not_captured', 'Only a payment that was captured is paid back.', {
      extra: { current_status: transaction_status },
    })
  // An import may have made the payment smaller since.
  const others = (subject.refunded_minor ?? 0) + (subject.reserved_minor ?? 0) - refund.requested_minor
  // So may the provider have paid back more than an order that shares the payment has left.
  const shared = subject.shared_minor ?? Number.POSITIVE_INFINITY
  const max = Math.max(0, Math.min((subject.amount_minor ?? 0) - others, shared + refund.requested_minor))
  if (amount > max) throw exceeds(max, refund.currency)
  const items = await itemsOf(ctx, refund.id)
  const covered = paymentCovers(refund, amount)
  if (amount === refund.requested_minor)
    return { shares: { items, service_fee_minor: refund.service_fee_minor }, before: [], after: [covered] }
  const shares = shrink(amount, items)
  return { shares, before: [], after: [...shrinkStatements(refund, items, shares), covered] }
}

/**
 * The purchases that a failed request may pay back. A request of a batch keeps its purchases; others are for all
 * purchases that are still held.
 */
async function purchasesAgain(ctx: Ctx, refund: LoadedRefund, subject: RefundSubject): Promise<SubjectPurchase[]> {
  const held = subject.purchases.filter(({ status }) => isHeld(status))
  if (refund.batch_id === null) return held
  const named = new Set((await itemsOf(ctx, refund.id)).map(({ purchase_id }) => purchase_id))
  return held.filter(({ id }) => named.has(id))
}

/**
 * The amounts of a failed request: it has released its amounts, so they are reserved again, as far as the purchases
 * still have them.
 */
async function amountsAgain(
  ctx: Ctx,
  refund: LoadedRefund,
  subject: RefundSubject,
  { amount, isCancelling }: Approval,
): Promise<ApprovedAmounts> {
  const { kind } = targetOf(refund)
  const purchases = await purchasesAgain(ctx, refund, subject)
  const facts = {
    purchase_status: kind === 'purchase' ? (subject.purchases[0]?.status ?? null) : null,
    payment_status: subject.transaction_status,
    max_minor:
      refund.batch_id === null ? maxOf(subject, kind) : restOf(subject, purchases, refund.service_fee_minor > 0),
    currency: subject.currency,
  }
  requestedAmount(facts, amount, isCancelling)
  const shares = shareOut(amount, purchases.map(remaining))
  return {
    shares,
    before: [...reserveStatements({ refund, shares, purchases }, amount), requireOneChange()],
    after: [
      remove(refundItems, eq(refundItems.refund_request_id, refund.id)),
      ...insertAll(
        refundItems,
        shares.items.map((item) => ({ refund_request_id: refund.id, ...item })),
      ),
    ],
  }
}

export async function approveRefund(ctx: Ctx, refund: LoadedRefund, input: ApproveInput): Promise<RefundDetailRow> {
  const approval = decide(ctx, refund, input)
  const { amount, isCancelling, note, notify_customer } = approval
  const subject = await findSubject(ctx, targetOf(refund), refund.include_fees)
  if (!subject) throw new LostRace('the order is gone')
  const { shares, before, after } =
    refund.status === 'failed'
      ? await amountsAgain(ctx, refund, subject, approval)
      : await keptAmounts(ctx, refund, subject, amount)
  const paying = await payingBack(ctx, subject, amount)
  if (!paying) throw merchantNotReady()
  const now = ctx.now()
  const changes = {
    ...approvedColumns(refund, paying, now),
    approved_minor: amount,
    ...totalParts(shares),
    cancel_purchase: isCancelling,
    notify_customer: notify_customer ?? refund.notify_customer,
    note: note ?? refund.note,
    reviewed_by: ctx.caller.id,
    reviewed_at: now,
    modified_at: now,
  }
  const named = new Set(shares.items.map(({ purchase_id }) => purchase_id))
  const purchases = subject.purchases.filter(({ id }) => named.has(id))
  const approved = await afterApproval(ctx, { ...refund, ...changes, version: refund.version + 1 }, paying, purchases)
  const answer = await commit(ctx, { ...refund, ...approved.refund }, [
    ...openEditions(refund.edition_id),
    ...before,
    ...updateVersion(refundRequests, refund, changes),
    ...after,
    ...approved.statements,
    ...announceAll(ctx, approved.announcements),
  ])
  ctx.afterCommit(() => approved.enqueue(ctx))
  return answer
}
