import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import { orders } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { refundItems, refundRequests } from '../../db/schema/refunds.ts'
import { type RowOf, select, buildSelectList } from '../../db/select.ts'
import { listChanges, type Representation, systemActor } from '../../domain/audit.ts'
import { toMajor } from '../../domain/money.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { RefundStatus } from '../../domain/refunds/refunds.ts'
import { toIso } from '../../domain/time/instants.ts'
import { recordAudit } from '../audit-log/index.ts'
import { purchaseEventFields, purchaseEventJoins, buildPurchaseEvent } from '../purchases/index.ts'
import type { Announcement } from '../webhooks/index.ts'

const refundedFields = {
  ...purchaseEventFields,
  status: purchases.status,
  /** The status before this refund cancelled the purchase; null when it did not. */
  status_before: refundItems.status_before,
  order_status: orders.status,
}

/** A purchase of a refund with the fields of its webhook event. */
export type RefundedPurchase = RowOf<typeof refundedFields>

type RefundCtx = Pick<JobCtx, 'db'>

export const loadRefund = ({ db }: RefundCtx, id: string): Promise<RefundRow | undefined> =>
  db.first(select(getTableColumns(refundRequests)).from(refundRequests).where(eq(refundRequests.id, id)))

export const loadPurchases = ({ db }: RefundCtx, refundId: string): Promise<RefundedPurchase[]> =>
  db.all(
    sql<RefundedPurchase>`select ${buildSelectList(refundedFields)}
      from ${refundItems} cross join ${purchases} on ${purchases.id} = ${refundItems.purchase_id} ${purchaseEventJoins}
      where ${refundItems.refund_request_id} = ${refundId} order by ${purchases.id}`,
  )

/** Returns the approved amount, or before the approval the requested amount. */
export const getAmount = (refund: Pick<RefundRow, 'requested_minor' | 'approved_minor'>): number =>
  refund.approved_minor ?? refund.requested_minor

/** The columns of a request that no payment attempt has changed. */
export const untriedPaymentColumns = {
  provider_key: null,
  provider_key_at: null,
  payment_check: null,
  provider_reference: null,
  failure_code: null,
  failure_message: null,
  is_failure_hidden: false,
  waiting_reason: null,
  waiting_since: null,
  claimed_until: null,
  checks: 0,
  needs_attention: false,
}

type RefundAction = Extract<Announcement, { kind: 'purchase.action' }>['data']['action'] & `refund${string}`

interface RefundChange {
  action: RefundAction
  /** The status of the refund after the change. */
  status: RefundStatus
  amount_minor: number
  occurredAt: number
  /** Computes the status of a purchase after the change. */
  computeStatus?: (purchase: RefundedPurchase) => PurchaseStatus
}

/** Builds the webhook events about a change of a refund: one for each of its purchases. */
export const buildRefundAnnouncements = (
  refund: Pick<RefundRow, 'id' | 'currency'>,
  refundedPurchases: readonly RefundedPurchase[],
  { action, status, amount_minor, occurredAt, computeStatus = (purchase) => purchase.status }: RefundChange,
): Announcement[] =>
  refundedPurchases.map((purchase) => {
    const event = buildPurchaseEvent(purchase, { action, status: computeStatus(purchase), occurredAt })
    const refund_request = {
      id: refund.id,
      status,
      amount: toMajor(amount_minor),
      currency: refund.currency,
    }
    return { ...event, data: { ...event.data, refund_request } }
  })

interface RefundResult {
  status: 'completed' | 'failed'
  /** Null for a refund that was made at the provider. */
  previous_status: RefundStatus | null
  amount_minor: number
  /** Null for a completed refund. */
  failure_code: string | null
  occurredAt: number
}

/** Builds the webhook event about the end of a refund. */
export const buildRefundEvent = (
  refund: Pick<RefundRow, 'id' | 'organization_id' | 'edition_id' | 'order_id' | 'user_id' | 'source' | 'currency'>,
  { status, previous_status, amount_minor, failure_code, occurredAt }: RefundResult,
): Announcement => ({
  kind: `refund.${status}`,
  organization_id: refund.organization_id,
  edition_id: refund.edition_id,
  data: {
    refund_request: {
      id: refund.id,
      status,
      source: refund.source,
      amount: toMajor(amount_minor),
      currency: refund.currency,
      failure_code,
    },
    previous_status,
    order: { id: refund.order_id },
    user: { api_id: refund.user_id },
    occurred_at: toIso(occurredAt),
  },
})

type RefundAuditAction =
  | 'requestBatchRefund'
  | 'completeRefund'
  | 'failRefund'
  | 'takeBackRefund'
  | 'recordProviderRefund'

/** Builds the audit entry of background work on a refund. `request_id` is the key of the attempt. */
export const buildRefundAudit = (
  job: Pick<JobCtx, 'now' | 'newId'>,
  action: RefundAuditAction,
  refund: RefundRow,
  change: { before: Representation | null; after: Representation },
): Statement =>
  recordAudit(
    {
      caller: { id: systemActor, credential: { id: null } },
      requestId: refund.provider_key ?? refund.id,
      now: job.now(),
      id: job.newId('audit_entry'),
    },
    {
      action,
      organization_id: refund.organization_id,
      edition_id: refund.edition_id,
      resource_type: 'refund_request',
      resource_id: refund.id,
      changes: listChanges(change.before, change.after),
    },
  )
