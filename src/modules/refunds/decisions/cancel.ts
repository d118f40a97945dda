import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { update, updateVersion } from '../../../db/write.ts'
import { permissionDenied } from '../../../domain/errors.ts'
import { checkRefundTransition } from '../../../domain/refunds/refund-amounts.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import { openEditions } from '../../editions/index.ts'
import { moveAmounts } from '../../refund-payments/index.ts'
import * as contract from '../contract.ts'
import type { LoadedRefund, RefundDetailRow } from '../queries.ts'

const status = 'cancelled'

export async function cancelRefundRequest(ctx: Ctx, refund: LoadedRefund): Promise<RefundDetailRow> {
  if (refund.requested_by !== ctx.caller.id)
    throw permissionDenied(
      contract.cancelRefundRequest.roles,
      [],
      'Only the account that requested a refund may cancel it. Reject it instead.',
    )
  checkRefundTransition(refund.status, status, status)
  const now = ctx.now()
  const changes = { status: 'cancelled' as const, modified_at: now }
  return commit(ctx, { ...refund, ...changes, version: refund.version + 1 }, [
    ...openEditions(refund.edition_id),
    ...updateVersion(refundRequests, refund, changes),
    ...moveAmounts(refund, { refundedSign: 0, reservedSign: -1 }, { now }),
  ])
}

const isPendingRequestFor = (purchaseIds: readonly string[]): SQL =>
  sql`${inList(sql`refund_requests.status`, refundLifecycle.sourcesOf(status))} and refund_requests.id in
    (select refund_request_id from refund_items where ${inList(sql`purchase_id`, purchaseIds)})`

/**
 * Cancels the pending requests for these purchases and releases their amounts, for the transaction that cancels them.
 */
export function buildCancelStatements(purchaseIds: readonly string[], now: number): Statement[] {
  if (purchaseIds.length === 0) return []
  const isCancelled = isPendingRequestFor(purchaseIds)
  return [
    sql`update purchases set reserved_minor = reserved_minor - released.amount_minor, modified_at = ${now},
        version = version + 1
      from (select refund_items.purchase_id, sum(refund_items.amount_minor) as amount_minor
        from refund_requests cross join refund_items on refund_items.refund_request_id = refund_requests.id
        where ${isCancelled} group by refund_items.purchase_id) as released
      where purchases.id = released.purchase_id`,
    sql`update transactions set reserved_minor = reserved_minor - released.amount_minor
      from (select transaction_id, sum(requested_minor) as amount_minor from refund_requests
        where ${isCancelled} group by transaction_id) as released
      where transactions.id = released.transaction_id`,
    update(refundRequests, { status, modified_at: now, version: sql`${refundRequests.version} + 1` }, isCancelled),
  ]
}
