import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { refundItems, refundRequests, type RefundRow } from '../../db/schema/sales/refunds.ts'
import { type RowOf, select, buildSelectList } from '../../db/select.ts'
import { toMajor } from '../../domain/money.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { RefundStatus } from '../../domain/refunds/refunds.ts'
import { announcedFields, announcedJoins, purchaseAction } from '../purchases/index.ts'
import type { Announcement } from '../webhooks/index.ts'

const refundedFields = {
  ...announcedFields,
  status: purchases.status,
  /** The status before this refund cancelled it; null when it did not. */
  status_before: refundItems.status_before,
}

/** A purchase of a refund, as events show it. */
export type RefundedPurchase = RowOf<typeof refundedFields>

type RefundCtx = Pick<JobCtx, 'db'>

export const loadRefund = ({ db }: RefundCtx, id: string): Promise<RefundRow | undefined> =>
  db.first(select(getTableColumns(refundRequests)).from(refundRequests).where(eq(refundRequests.id, id)))

export const purchasesOf = ({ db }: RefundCtx, refundId: string): Promise<RefundedPurchase[]> =>
  db.all(
    sql<RefundedPurchase>`select ${buildSelectList(refundedFields)}
      from ${refundItems} cross join ${purchases} on ${purchases.id} = ${refundItems.purchase_id} ${announcedJoins}
      where ${refundItems.refund_request_id} = ${refundId} order by ${purchases.id}`,
  )

/** What is paid back once the refund is granted. */
export const amountOf = (refund: Pick<RefundRow, 'requested_minor' | 'approved_minor'>): number =>
  refund.approved_minor ?? refund.requested_minor

type RefundAction = Extract<Announcement, { kind: 'purchase.action' }>['data']['action'] & `refund${string}`

interface RefundChange {
  action: RefundAction
  /** The status that the refund has afterwards. */
  status: RefundStatus
  amount_minor: number
  occurredAt: number
  /** The status that a purchase has afterwards. */
  statusOf?: (purchase: RefundedPurchase) => PurchaseStatus
}

/** The events of a change of a refund: one for each of its purchases. */
export const refundAnnouncements = (
  refund: Pick<RefundRow, 'id' | 'currency'>,
  refunded: readonly RefundedPurchase[],
  { action, status, amount_minor, occurredAt, statusOf = (purchase) => purchase.status }: RefundChange,
): Announcement[] =>
  refunded.map((purchase) => {
    const event = purchaseAction(purchase, { action, status: statusOf(purchase), occurredAt })
    const refund_request = {
      id: refund.id,
      status,
      amount: toMajor(amount_minor),
      currency: refund.currency,
    }
    return { ...event, data: { ...event.data, refund_request } }
  })
