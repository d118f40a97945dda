import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { abortUnless, requireOneChange, commit, retryLostRaces } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { buildReferenceTotal } from '../../db/refunds.ts'
import type { RefundRow } from '../../db/rows.ts'
import { editions } from '../../db/schema/editions.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { insertWhere } from '../../db/write.ts'
import {
  actAs,
  type Caller,
  hasSignedIn,
  mayAt,
  pickOrganizationRoles,
  type RoleCode,
  roleCodes,
} from '../../domain/accounts/access.ts'
import {
  doesNotExist,
  editionArchived,
  fieldError,
  invalid,
  LostRace,
  notFound,
  permissionDenied,
} from '../../domain/errors.ts'
import { chooseAmount } from '../../domain/refunds/refund-amounts.ts'
import { isApprovedAutomatically, readPolicy } from '../../domain/refunds/refund-policy.ts'
import { type RefundShares, shareAmount, sumParts } from '../../domain/refunds/refund-shares.ts'
import { buildRefundAnnouncements, untriedPaymentColumns } from '../refund-payments/index.ts'
import { type Announcement, announceAll } from '../webhooks/index.ts'
import * as contract from './contract.ts'
import { buildApproval, buildApprovedColumns, choosePayout, type Payout } from './decisions/approval.ts'
import type { RefundDetailRow } from './queries.ts'
import {
  loadRefundableOrder,
  computeMaxAmount,
  splitRemaining,
  type RefundableOrder,
  type RefundTarget,
} from './refundable-order.ts'
import { insertItems, type Reservation, buildReserveStatements } from './reserve.ts'

const roles: readonly RoleCode[] = contract.createRefundRequest.roles

export type PaidOrder = RefundableOrder & { transaction_id: string }

export interface RequestedRefund {
  order: PaidOrder
  target: RefundTarget
  input: contract.CreateInput
  amount: number
  shares: RefundShares
}

type RefundAuthor = Pick<RefundRow, 'source' | 'requested_by'>

const buildCurrencyError = (currency: string) =>
  invalid(fieldError(['currency'], 'currency_mismatch', `The currency of this order is ${currency}.`))

/** Checks the request, and computes its amount and the share of each purchase. */
function prepareRequest(order: RefundableOrder, target: RefundTarget, input: contract.CreateInput): RequestedRefund {
  if (order.is_archived) throw editionArchived()
  const { currency } = order
  if (input.currency !== undefined && input.currency !== currency) throw buildCurrencyError(currency)
  const limits = {
    purchase: target.kind === 'purchase' ? (order.purchases[0] ?? null) : null,
    payment_status: order.transaction_status,
    max_minor: computeMaxAmount(order, target.kind),
    currency,
  }
  const amount = chooseAmount(limits, input.amount, input.cancel_purchase ?? false)
  const refundablePurchases = order.purchases.filter(({ is_refundable }) => is_refundable)
  const shares = shareAmount(amount, refundablePurchases.map(splitRemaining))
  // `chooseAmount` refuses an order without a payment.
  return { order: { ...order, transaction_id: order.transaction_id ?? '' }, target, input, amount, shares }
}

export function buildRefundRow(
  ctx: Pick<JobCtx, 'now' | 'newId'>,
  { order, target, input, amount, shares }: RequestedRefund,
  author: RefundAuthor,
): RefundRow {
  const now = ctx.now()
  return {
    id: ctx.newId('refund_request'),
    organization_id: order.organization_id,
    edition_id: order.edition_id,
    order_id: order.order_id,
    transaction_id: order.transaction_id,
    purchase_id: target.kind === 'purchase' ? target.id : null,
    user_id: order.user_id,
    batch_id: null,
    target: target.kind,
    status: 'pending',
    source: author.source,
    reason: input.reason,
    comment: input.comment ?? '',
    currency: order.currency,
    requested_minor: amount,
    approved_minor: null,
    refunded_minor: 0,
    ...sumParts(shares),
    include_fees: input.include_fees ?? false,
    cancel_purchase: input.cancel_purchase ?? false,
    notify_customer: input.notify_customer ?? true,
    requested_by: author.requested_by,
    reviewed_by: null,
    reviewed_at: null,
    rejection_reason: null,
    note: null,
    is_approved_by_organization: false,
    service: null,
    merchant_account_id: null,
    attempts: 0,
    ...untriedPaymentColumns,
    due_at: null,
    metadata: input.metadata ?? {},
    version: 1,
    created_at: now,
    modified_at: now,
    completed_at: null,
  }
}

/**
 * Chooses how a request is paid that the refund policy approves automatically. Returns null when a review is needed.
 */
async function approveByPolicy(ctx: Ctx, { order, amount }: RequestedRefund): Promise<Payout | null> {
  const total = (order.reference_total_minor ?? 0) + amount
  if (!isApprovedAutomatically(readPolicy(order.refund_policy), total)) return null
  const payout = await choosePayout(ctx, order, amount)
  // For an edition role it fails like the refund of a payment that nobody knows, so that it reveals nothing.
  const isReviewed = order.is_of_other_edition && mayAt(ctx.caller, pickOrganizationRoles(roles), order.tenant)
  return payout?.way === 'by provider' && isReviewed ? null : payout
}

/** Aborts the batch when simultaneous requests together reach the amount below which the policy approves them. */
const requirePolicy = ({ transaction_id, refund_policy }: PaidOrder): Statement =>
  abortUnless(sql`(select ${buildReferenceTotal(sql`transactions`)} from transactions
    where transactions.id = ${transaction_id}) < ${readPolicy(refund_policy).auto_approve_below ?? 0}`)

const isEditionOpen = (editionId: string): SQL =>
  sql`not exists (select 1 from ${editions} where ${editions.id} = ${editionId} and ${editions.is_archived} = 1)`

/** Reserves the amounts and writes the request. Each statement aborts the batch when the one before changed no row. */
export function buildCreateStatements(reservation: Reservation): Statement[] {
  const { refund, shares } = reservation
  const { items } = shares
  return [
    ...buildReserveStatements(reservation, refund.requested_minor),
    insertWhere(refundRequests, refund, sql`changes() = 1 and ${isEditionOpen(refund.edition_id)}`),
    // The statement that writes the items would check this, but a request may have none.
    ...(items.length ? [insertItems(refund.id, items)] : [requireOneChange()]),
  ]
}

function buildDetailRow({ order, target }: RequestedRefund, refund: RefundRow): RefundDetailRow {
  const purchase = target.kind === 'purchase' ? order.purchases[0] : undefined
  const { purchases: _, ...head } = order
  return {
    ...head,
    vendor_code: purchase?.vendor_code ?? null,
    product_id: purchase?.product_id ?? null,
    product_name: purchase?.product_name ?? null,
    product_is_draft: purchase?.product_is_draft ?? null,
    product_images: purchase?.product_images ?? [],
    variant_id: purchase?.variant_id ?? null,
    variant_name: purchase?.variant_name ?? null,
    customer_id: order.user_id,
    ...refund,
  }
}

export const getRefundSource = (caller: Caller): RefundRow['source'] => (hasSignedIn(caller) ? 'admin' : 'api')

/** A request that is not stored yet, and what has to be written and announced with it. */
interface PlannedRefund {
  row: RefundDetailRow
  statements: Statement[]
  announcements: Announcement[]
  /** Sends the queue messages after the commit. */
  enqueue: (job: JobCtx) => Promise<void>
}

async function planRequest(ctx: Ctx, request: RequestedRefund): Promise<PlannedRefund> {
  const { order, amount, shares } = request
  const pendingRefund = buildRefundRow(ctx, request, {
    source: getRefundSource(ctx.caller),
    requested_by: ctx.caller.id,
  })
  const payout = await approveByPolicy(ctx, request)
  const refund = payout
    ? {
        ...pendingRefund,
        ...buildApprovedColumns(pendingRefund, payout, pendingRefund.created_at),
        approved_minor: amount,
      }
    : pendingRefund
  const purchaseIds = new Set(shares.items.map(({ purchase_id }) => purchase_id))
  const purchases = order.purchases.filter(({ id }) => purchaseIds.has(id))
  const requestAnnouncements = buildRefundAnnouncements(refund, purchases, {
    action: 'refund_requested',
    status: 'pending',
    amount_minor: amount,
    occurredAt: refund.created_at,
  })
  const approval = payout && (await buildApproval(ctx, refund, payout, purchases))
  return {
    row: buildDetailRow(request, approval?.refund ?? refund),
    statements: [
      ...buildCreateStatements({ refund, shares, purchases }),
      ...(approval ? [requirePolicy(order), ...approval.statements] : []),
    ],
    announcements: [...requestAnnouncements, ...(approval?.announcements ?? [])],
    enqueue: approval?.enqueue ?? (async () => undefined),
  }
}

async function createRequest(ctx: Ctx, request: RequestedRefund): Promise<RefundDetailRow> {
  const { row, statements, announcements, enqueue } = await planRequest(ctx, request)
  await commit(ctx, row, [...statements, ...announceAll(ctx, announcements)])
  ctx.afterCommit(() => enqueue(ctx))
  return row
}

/** Plans a request for what is left of an order, for the transaction that cancels the order. */
export async function planOrderRefund(ctx: Ctx, orderId: string, input: contract.CreateInput): Promise<PlannedRefund> {
  const target = { kind: 'order', id: orderId } as const
  const order = await loadRefundableOrder(ctx, target, input.include_fees ?? false)
  if (!order) throw new LostRace('the order is gone')
  return planRequest(ctx, prepareRequest(order, target, input))
}

export const createPurchaseRefundRequest = (
  ctx: Ctx,
  id: string,
  input: contract.CreateInput,
): Promise<RefundDetailRow> =>
  retryLostRaces(async () => {
    const target = { kind: 'purchase', id } as const
    const order = await loadRefundableOrder(ctx, target, input.include_fees ?? false)
    if (!order) throw notFound()
    return createRequest(ctx, prepareRequest(order, target, input))
  })

function readTarget(input: contract.CreateForTargetInput): RefundTarget & { field: string } {
  const targets = (['purchase', 'order', 'transaction'] as const).flatMap((kind) => {
    const field = `${kind}_id` as const
    const id = input[field]
    return typeof id === 'string' ? [{ kind, id, field }] : []
  })
  const [target, otherTarget] = targets
  if (target && !otherTarget) return target
  const detail = 'Send exactly one of purchase_id, order_id and transaction_id.'
  throw invalid(fieldError([otherTarget?.field ?? 'purchase_id'], 'exactly_one_target', detail))
}

export function createRefundRequest(ctx: Ctx, input: contract.CreateForTargetInput): Promise<RefundDetailRow> {
  const target = readTarget(input)
  // The order is read with all roles of the caller, so a viewer gets 403 with the required roles instead of 400.
  const reader = { ...ctx, caller: actAs(ctx.caller, roleCodes) }
  return retryLostRaces(async () => {
    const order = await loadRefundableOrder(reader, target, input.include_fees ?? false)
    if (!order) throw doesNotExist(target.field)
    if (!mayAt(ctx.caller, roles, order.tenant)) throw permissionDenied(roles)
    return createRequest(ctx, prepareRequest(order, target, input))
  })
}
