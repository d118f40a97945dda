import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { requireOneChange, commit, retryLostRaces } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editions } from '../../db/schema/editions.ts'
import { refundRequests, type RefundRow } from '../../db/schema/sales/refunds.ts'
import { insertWhere } from '../../db/write.ts'
import { actAs, type Caller, mayAt, type RoleCode, roleCodes } from '../../domain/accounts/access.ts'
import { doesNotExist, editionArchived, fieldError, invalid, notFound, permissionDenied } from '../../domain/errors.ts'
import { isHeld } from '../../domain/orders/purchases.ts'
import { requestedAmount } from '../../domain/refunds/refund-amounts.ts'
import { isApprovedAtOnce, readPolicy } from '../../domain/refunds/refund-policy.ts'
import { type Shared, shareOut, totalParts } from '../../domain/refunds/refund-shares.ts'
import { refundAnnouncements } from '../refund-payments/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { afterApproval, approvedColumns, payingBack, type PayingBack } from './decisions/approval.ts'
import { createRefundRequest, type CreateForTargetInput, type CreateInput } from './contract.ts'
import type { RefundDetailRow } from './queries.ts'
import { itemStatement, type Reservation, reserveStatements } from './reserve.ts'
import { findSubject, maxOf, remaining, type RefundSubject, type RefundTarget } from './subject.ts'

const roles: readonly RoleCode[] = createRefundRequest.roles

export type PaidSubject = RefundSubject & { transaction_id: string }

export interface RequestedRefund {
  subject: PaidSubject
  target: RefundTarget
  input: CreateInput
  amount: number
  shares: Shared
}

/** The account that makes the request, and its source. */
type Asker = Pick<RefundRow, 'source' | 'requested_by'>

const currencyMismatch = (currency: string) =>
  invalid(fieldError(['currency'], 'currency_mismatch', `This order is in ${currency}.`))

/** Decides on the amount and the purchases; throws why there can be no request. */
function decide(subject: RefundSubject, target: RefundTarget, input: CreateInput): RequestedRefund {
  if (subject.is_archived) throw editionArchived()
  const { currency, transaction_id } = subject
  if (input.currency !== undefined && input.currency !== currency) throw currencyMismatch(currency)
  const facts = {
    purchase_status: target.kind === 'purchase' ? (subject.purchases[0]?.status ?? null) : null,
    payment_status: subject.transaction_status,
    max_minor: maxOf(subject, target.kind),
    currency,
  }
  const amount = requestedAmount(facts, input.amount, input.cancel_purchase ?? false)
  const held = subject.purchases.filter(({ status }) => isHeld(status))
  const shares = shareOut(amount, held.map(remaining))
  return { subject: { ...subject, transaction_id: transaction_id ?? '' }, target, input, amount, shares }
}

export function rowOf(
  ctx: Pick<JobCtx, 'now' | 'newId'>,
  { subject, target, input, amount, shares }: RequestedRefund,
  asker: Asker,
): RefundRow {
  const now = ctx.now()
  return {
    id: ctx.newId('refund_request'),
    organization_id: subject.organization_id,
    edition_id: subject.edition_id,
    order_id: subject.order_id,
    transaction_id: subject.transaction_id,
    purchase_id: target.kind === 'purchase' ? target.id : null,
    user_id: subject.user_id,
    batch_id: null,
    target: target.kind,
    status: 'pending',
    source: asker.source,
    reason: input.reason,
    comment: input.comment ?? '',
    currency: subject.currency,
    requested_minor: amount,
    approved_minor: null,
    refunded_minor: 0,
    ...totalParts(shares),
    include_fees: input.include_fees ?? false,
    cancel_purchase: input.cancel_purchase ?? false,
    notify_customer: input.notify_customer ?? true,
    requested_by: asker.requested_by,
    reviewed_by: null,
    reviewed_at: null,
    rejection_reason: null,
    note: null,
    service: null,
    merchant_account_id: null,
    attempts: 0,
    provider_key: null,
    provider_key_at: null,
    is_payable: false,
    provider_reference: null,
    failure_code: null,
    failure_message: null,
    due_at: null,
    lease_until: null,
    checks: 0,
    needs_attention: false,
    metadata: input.metadata ?? {},
    version: 1,
    created_at: now,
    modified_at: now,
    completed_at: null,
  }
}

/** How a request that the policy approves at once is paid back; null for one that waits for a review. */
async function approvalAtOnce(ctx: Ctx, { subject, amount }: RequestedRefund): Promise<PayingBack | null> {
  const asked = (subject.refunded_minor ?? 0) + (subject.reserved_minor ?? 0) + amount
  return isApprovedAtOnce(readPolicy(subject.refund_policy), asked) ? payingBack(ctx, subject, amount) : null
}

const isOpen = (editionId: string): SQL =>
  sql`not exists (select 1 from ${editions} where ${editions.id} = ${editionId} and ${editions.is_archived} = 1)`

/** Each statement checks that the one before it changed its rows. Otherwise the batch is aborted. */
export function creation(reservation: Reservation): Statement[] {
  const { refund, shares } = reservation
  const { items } = shares
  return [
    ...reserveStatements(reservation, refund.requested_minor),
    insertWhere(refundRequests, refund, sql`changes() = 1 and ${isOpen(refund.edition_id)}`),
    // A request without items has no statement after it that checks this.
    ...(items.length ? [itemStatement(refund.id, items)] : [requireOneChange()]),
  ]
}

function detailOf({ subject, target }: RequestedRefund, refund: RefundRow): RefundDetailRow {
  const bought = target.kind === 'purchase' ? subject.purchases[0] : undefined
  const { purchases: _, ...head } = subject
  return {
    ...head,
    vendor_code: bought?.vendor_code ?? null,
    product_id: bought?.product_id ?? null,
    product_name: bought?.product_name ?? null,
    product_is_draft: bought?.product_is_draft ?? null,
    product_images: bought?.product_images ?? [],
    variant_id: bought?.variant_id ?? null,
    variant_name: bought?.variant_name ?? null,
    customer_id: subject.user_id,
    ...refund,
  }
}

export const sourceOf = ({ credential }: Caller): RefundRow['source'] => (credential.kind === 'oidc' ? 'admin' : 'api')

async function create(ctx: Ctx, asked: RequestedRefund): Promise<RefundDetailRow> {
  const { subject, amount, shares } = asked
  const pending = rowOf(ctx, asked, { source: sourceOf(ctx.caller), requested_by: ctx.caller.id })
  const paying = await approvalAtOnce(ctx, asked)
  const refund = paying
    ? { ...pending, ...approvedColumns(pending, paying, pending.created_at), approved_minor: amount }
    : pending
  const named = new Set(shares.items.map(({ purchase_id }) => purchase_id))
  const purchases = subject.purchases.filter(({ id }) => named.has(id))
  const requested = refundAnnouncements(refund, purchases, {
    action: 'refund_requested',
    status: 'pending',
    amount_minor: amount,
    occurredAt: refund.created_at,
  })
  const approved = paying && (await afterApproval(ctx, refund, paying, purchases))
  const created = await commit(ctx, detailOf(asked, approved?.refund ?? refund), [
    ...creation({ refund, shares, purchases }),
    ...(approved?.statements ?? []),
    ...announceAll(ctx, [...requested, ...(approved?.announcements ?? [])]),
  ])
  if (approved) ctx.afterCommit(() => approved.enqueue(ctx))
  return created
}

/** A request for a purchase that the path names, and that the caller may change. */
export const createPurchaseRefund = (ctx: Ctx, id: string, input: CreateInput): Promise<RefundDetailRow> =>
  retryLostRaces(async () => {
    const target = { kind: 'purchase', id } as const
    const subject = await findSubject(ctx, target, input.include_fees ?? false)
    if (!subject) throw notFound()
    return create(ctx, decide(subject, target, input))
  })

/** The one target that a body names. */
function targetOf(input: CreateForTargetInput): RefundTarget & { field: string } {
  const named = (['purchase', 'order', 'transaction'] as const).flatMap((kind) => {
    const field = `${kind}_id` as const
    const id = input[field]
    return typeof id === 'string' ? [{ kind, id, field }] : []
  })
  const [target, another] = named
  if (target && !another) return target
  const detail = 'Exactly one of purchase_id, order_id and transaction_id.'
  throw invalid(fieldError([another?.field ?? 'purchase_id'], 'exactly_one_target', detail))
}

export function createRefund(ctx: Ctx, input: CreateForTargetInput): Promise<RefundDetailRow> {
  const target = targetOf(input)
  // The body names where the operation acts, so a caller who may only read there is told which role it takes.
  const reader = { ...ctx, caller: actAs(ctx.caller, roleCodes) }
  return retryLostRaces(async () => {
    const subject = await findSubject(reader, target, input.include_fees ?? false)
    if (!subject) throw doesNotExist(target.field)
    if (!mayAt(ctx.caller, roles, subject.tenant)) throw permissionDenied(roles)
    return create(ctx, decide(subject, target, input))
  })
}
