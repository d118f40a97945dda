import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit, abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { refundItems, refundRequests } from '../../../db/schema/refunds.ts'
import { insertAll, remove, updateVersion } from '../../../db/write.ts'
import { mayAt, pickOrganizationRoles, admins } from '../../../domain/accounts/access.ts'
import { AppError, editionArchived, LostRace } from '../../../domain/errors.ts'
import { capturedStatuses, wasCaptured } from '../../../domain/orders/orders.ts'
import {
  chooseAmount,
  checkPositive,
  checkRefundTransition,
  buildExceedsError,
} from '../../../domain/refunds/refund-amounts.ts'
import { checkReview, readPolicy } from '../../../domain/refunds/refund-policy.ts'
import { type RefundShares, shareAmount, shrinkShares, sumParts } from '../../../domain/refunds/refund-shares.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import { openEditions } from '../../editions/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import * as contract from '../contract.ts'
import { loadRefundItems, type LoadedRefund, type RefundDetailRow } from '../queries.ts'
import {
  loadRefundableOrder,
  computeMaxAmount,
  splitRemaining,
  computeRemainingAmount,
  type RefundableOrder,
  type RefundablePurchase,
  type RefundTarget,
} from '../refundable-order.ts'
import { buildReserveStatements, buildShrinkStatements } from '../reserve.ts'
import { buildApproval, buildApprovedColumns, merchantNotReady, choosePayout } from './approval.ts'

/** Roles that may approve the refund of a payment that several editions have. */
const approvingRoles = pickOrganizationRoles(contract.approveRefundRequest.roles)

type Decision = contract.ApproveInput & { amount: number; isCancelling: boolean }

const getTarget = ({ target, purchase_id, order_id }: LoadedRefund): RefundTarget =>
  target === 'purchase' && purchase_id !== null ? { kind: target, id: purchase_id } : { kind: 'order', id: order_id }

/** Checks that the caller may approve the request, and chooses the amount. */
function prepareDecision(ctx: Ctx, refund: LoadedRefund, input: contract.ApproveInput): Decision {
  checkRefundTransition(refund.status, 'approved', 'approved')
  if (refund.is_archived) throw editionArchived()
  // The provider has paid an earlier attempt, so a new attempt would pay twice.
  if (refund.needs_attention)
    throw new AppError('invalid_transition', 'The provider has already paid an earlier attempt of this refund.', {
      extra: { current_status: refund.status, allowed_transitions: [] },
    })
  const isCancelling = input.cancel_purchase ?? refund.cancel_purchase
  const amount = input.amount ?? refund.approved_minor ?? refund.requested_minor
  checkPositive(amount, isCancelling)
  if (amount > refund.requested_minor) throw buildExceedsError(refund.requested_minor, refund.currency)
  checkReview(readPolicy(refund.refund_policy), {
    amount_minor: amount,
    currency: refund.currency,
    requested_by: refund.requested_by,
    reviewer: ctx.caller.id,
    isAdmin: mayAt(ctx.caller, admins, refund.tenant),
  })
  return { ...input, amount, isCancelling }
}

interface ApprovedAmounts {
  shares: RefundShares
  /** Statements that run directly before the one that changes the request. */
  statementsBefore: Statement[]
  /** Statements that run directly after it. */
  statementsAfter: Statement[]
}

/**
 * Aborts the batch when the payment does not cover the amount. It runs after a smaller amount has released the rest.
 */
const requirePaymentCover = (refund: LoadedRefund, amount: number): Statement =>
  abortUnless(sql`exists (select 1 from transactions where transactions.id = ${refund.transaction_id}
    and ${inList(sql`status`, capturedStatuses)}
    and (${amount} = 0 or amount_minor >= refunded_minor + reserved_minor))`)

/** Computes the amounts of a pending request, which has reserved them: the same ones, or smaller ones. */
async function computePendingAmounts(
  ctx: Ctx,
  refund: LoadedRefund,
  order: RefundableOrder,
  amount: number,
): Promise<ApprovedAmounts> {
  const { transaction_status } = order
  if (transaction_status === null || !wasCaptured(transaction_status))
    throw new AppError('transaction_not_captured', 'Only captured payments can be refunded.', {
      extra: { current_status: transaction_status },
    })
  // An import may have lowered the amount of the payment since the request.
  const otherRefunds = (order.refunded_minor ?? 0) + (order.reserved_minor ?? 0) - refund.requested_minor
  // The provider may have paid back more of a shared payment than one order had left.
  const sharedMax = (order.shared_minor ?? Number.POSITIVE_INFINITY) + refund.requested_minor
  const max = Math.max(0, Math.min((order.amount_minor ?? 0) - otherRefunds, sharedMax))
  if (amount > max) throw buildExceedsError(max, refund.currency)
  const items = await loadRefundItems(ctx, refund.id)
  const coverCheck = requirePaymentCover(refund, amount)
  if (amount === refund.requested_minor)
    return {
      shares: { items, service_fee_minor: refund.service_fee_minor },
      statementsBefore: [],
      statementsAfter: [coverCheck],
    }
  const shares = shrinkShares(amount, items)
  const statementsAfter = [...buildShrinkStatements(refund, items, shares), coverCheck]
  return { shares, statementsBefore: [], statementsAfter }
}

/**
 * A failed request of a batch is retried for its own purchases, any other request for all purchases that are still
 * refundable.
 */
async function listRetriedPurchases(
  ctx: Ctx,
  refund: LoadedRefund,
  order: RefundableOrder,
): Promise<RefundablePurchase[]> {
  const refundablePurchases = order.purchases.filter(({ is_refundable }) => is_refundable)
  if (refund.batch_id === null) return refundablePurchases
  const ownIds = new Set((await loadRefundItems(ctx, refund.id)).map(({ purchase_id }) => purchase_id))
  return refundablePurchases.filter(({ id }) => ownIds.has(id))
}

/** Computes the amounts of a failed request, which has released them, and reserves them again. */
async function computeRetriedAmounts(
  ctx: Ctx,
  refund: LoadedRefund,
  order: RefundableOrder,
  { amount, isCancelling }: Decision,
): Promise<ApprovedAmounts> {
  const { kind } = getTarget(refund)
  const purchases = await listRetriedPurchases(ctx, refund, order)
  const limits = {
    purchase: kind === 'purchase' ? (order.purchases[0] ?? null) : null,
    payment_status: order.transaction_status,
    max_minor:
      refund.batch_id === null
        ? computeMaxAmount(order, kind)
        : computeRemainingAmount(order, purchases, refund.service_fee_minor > 0),
    currency: order.currency,
  }
  chooseAmount(limits, amount, isCancelling)
  const shares = shareAmount(amount, purchases.map(splitRemaining))
  return {
    shares,
    statementsBefore: [...buildReserveStatements({ refund, shares, purchases }, amount), requireOneChange()],
    statementsAfter: [
      remove(refundItems, eq(refundItems.refund_request_id, refund.id)),
      ...insertAll(
        refundItems,
        shares.items.map((item) => ({ refund_request_id: refund.id, ...item })),
      ),
    ],
  }
}

export async function approveRefundRequest(
  ctx: Ctx,
  refund: LoadedRefund,
  input: contract.ApproveInput,
): Promise<RefundDetailRow> {
  const decision = prepareDecision(ctx, refund, input)
  const { amount, isCancelling, note, notify_customer } = decision
  const order = await loadRefundableOrder(ctx, getTarget(refund), refund.include_fees)
  if (!order) throw new LostRace('the order is gone')
  const { shares, statementsBefore, statementsAfter } =
    refund.status === 'failed'
      ? await computeRetriedAmounts(ctx, refund, order, decision)
      : await computePendingAmounts(ctx, refund, order, amount)
  const payout = await choosePayout(ctx, order, amount)
  if (!payout) throw merchantNotReady()
  const now = ctx.now()
  const changes = {
    ...buildApprovedColumns(refund, payout, now),
    approved_minor: amount,
    ...sumParts(shares),
    cancel_purchase: isCancelling,
    notify_customer: notify_customer ?? refund.notify_customer,
    note: note ?? refund.note,
    reviewed_by: ctx.caller.id,
    reviewed_at: now,
    is_approved_by_organization: mayAt(ctx.caller, approvingRoles, refund.tenant),
    modified_at: now,
  }
  const purchaseIds = new Set(shares.items.map(({ purchase_id }) => purchase_id))
  const purchases = order.purchases.filter(({ id }) => purchaseIds.has(id))
  const approval = await buildApproval(ctx, { ...refund, ...changes, version: refund.version + 1 }, payout, purchases)
  const row = await commit(ctx, { ...refund, ...approval.refund }, [
    ...openEditions(refund.edition_id),
    ...statementsBefore,
    ...updateVersion(refundRequests, refund, changes),
    ...statementsAfter,
    ...approval.statements,
    ...announceAll(ctx, approval.announcements),
  ])
  ctx.afterCommit(() => approval.enqueue(ctx))
  return row
}

/** Approves a failed request again with the same amount and settings. */
export async function retryRefundRequest(ctx: Ctx, refund: LoadedRefund): Promise<RefundDetailRow> {
  checkRefundTransition(refund.status, 'approved', 'retried')
  if (refund.status !== 'failed')
    throw new AppError('invalid_transition', `Refund request in status '${refund.status}' cannot be retried.`, {
      extra: { current_status: refund.status, allowed_transitions: refundLifecycle.targetsOf(refund.status) },
    })
  return approveRefundRequest(ctx, refund, {})
}
