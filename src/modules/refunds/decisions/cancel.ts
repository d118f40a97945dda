import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { refundRequests } from '../../../db/schema/sales/refunds.ts'
import { inList } from '../../../db/visibility.ts'
import { update, updateVersion } from '../../../db/write.ts'
import { permissionDenied } from '../../../domain/errors.ts'
import { checkTransition } from '../../../domain/refunds/refund-amounts.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import { openEditions } from '../../editions/index.ts'
import { moveAmounts } from '../../refund-payments/index.ts'
import { cancelRefundRequest } from '../contract.ts'
import type { LoadedRefund, RefundDetailRow } from '../queries.ts'

const status = 'cancelled'

/** Only the account that made the request may cancel it, with any of its tokens. */
export async function cancelRefund(ctx: Ctx, refund: LoadedRefund): Promise<RefundDetailRow> {
  if (refund.requested_by !== ctx.caller.id)
    throw permissionDenied(
      cancelRefundRequest.roles,
      [],
      'Only the account that requested a refund may cancel it. Reject it instead.',
    )
  checkTransition(refund.status, status, status)
  const now = ctx.now()
  const changes = { status: 'cancelled' as const, modified_at: now }
  return commit(ctx, { ...refund, ...changes, version: refund.version + 1 }, [
    ...openEditions(refund.edition_id),
    ...updateVersion(refundRequests, refund, changes),
    ...moveAmounts(refund, { refunded: 0, reserved: -1 }, { now }),
  ])
}

const cancellable = (purchaseIds: readonly string[]): SQL =>
  sql`${inList(sql`refund_requests.status`, refundLifecycle.sourcesOf(status))} and refund_requests.id in
    (select refund_request_id from refund_items where ${inList(sql`purchase_id`, purchaseIds)})`

/**
 * Cancels the requests for these purchases that were not reviewed yet, and releases their amounts. Part of the
 * transaction that cancels the purchases. There are three statements for any number of purchases, and none without
 * purchases.
 */
export function cancelRefundsOf(purchaseIds: readonly string[], now: number): Statement[] {
  if (purchaseIds.length === 0) return []
  const asked = cancellable(purchaseIds)
  return [
    sql`update purchases set reserved_minor = reserved_minor - released.amount_minor, modified_at = ${now},
        version = version + 1
      from (select refund_items.purchase_id, sum(refund_items.amount_minor) as amount_minor
        from refund_requests cross join refund_items on refund_items.refund_request_id = refund_requests.id
        where ${asked} group by refund_items.purchase_id) as released
      where purchases.id = released.purchase_id`,
    sql`update transactions set reserved_minor = reserved_minor - released.amount_minor
      from (select transaction_id, sum(requested_minor) as amount_minor from refund_requests
        where ${asked} group by transaction_id) as released
      where transactions.id = released.transaction_id`,
    update(refundRequests, { status, modified_at: now, version: sql`${refundRequests.version} + 1` }, asked),
  ]
}
