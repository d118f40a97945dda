import type { Ctx } from '../../../context.ts'
import { checkTransition } from '../../../domain/refunds/refund-amounts.ts'
import { AppError } from '../../../domain/errors.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import { approveRefund } from './approve.ts'
import type { LoadedRefund, RefundDetailRow } from '../queries.ts'

/** Approves a failed request once more, with the amount and the terms that it failed with. */
export async function retryRefund(ctx: Ctx, refund: LoadedRefund): Promise<RefundDetailRow> {
  checkTransition(refund.status, 'approved', 'retried')
  if (refund.status !== 'failed')
    throw new AppError('invalid_transition', `Refund request in status '${refund.status}' cannot be retried.`, {
      extra: { current_status: refund.status, allowed_transitions: refundLifecycle.targetsOf(refund.status) },
    })
  return approveRefund(ctx, refund, {})
}
