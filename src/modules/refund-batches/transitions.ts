import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import { updateVersion } from '../../db/write.ts'
import { mayAt, pickOrganizationRoles, admins } from '../../domain/accounts/access.ts'
import { AppError } from '../../domain/errors.ts'
import { nothingToRefund } from '../../domain/refunds/refund-amounts.ts'
import { type BatchSums, refundBatchLifecycle } from '../../domain/refunds/refund-batches.ts'
import { checkReview, readPolicy } from '../../domain/refunds/refund-policy.ts'
import { openEditions } from '../editions/index.ts'
import * as contract from './contract.ts'
import { enqueueBatches } from './enqueue.ts'
import type { BatchDetailRow, BatchRow, LoadedBatch } from './queries.ts'

const buildTransitionError = ({ status }: BatchRow, participle: string): AppError =>
  new AppError('invalid_transition', `Refund batch in status '${status}' cannot be ${participle}.`, {
    extra: { current_status: status, allowed_transitions: refundBatchLifecycle.targetsOf(status) },
  })

/** The refund policy applies to the batch as a whole: its reviewer approves the total of each currency. */
function checkPolicy(ctx: Ctx, batch: LoadedBatch, { amounts }: BatchSums): void {
  const policy = readPolicy(batch.refund_policy)
  for (const [currency, amount_minor = 0] of Object.entries(amounts))
    checkReview(policy, {
      amount_minor,
      currency,
      requested_by: batch.created_by,
      reviewer: ctx.caller.id,
      isAdmin: mayAt(ctx.caller, admins, batch.tenant),
    })
}

export async function startRefundBatch(ctx: Ctx, batch: LoadedBatch): Promise<BatchDetailRow> {
  if (!refundBatchLifecycle.allows(batch.status, 'running')) throw buildTransitionError(batch, 'started')
  const { dry_run } = batch
  if (dry_run.orders === 0) throw nothingToRefund()
  checkPolicy(ctx, batch, dry_run)
  const now = ctx.now()
  const changes = {
    status: 'running' as const,
    started_by: ctx.caller.id,
    is_started_by_organization: mayAt(ctx.caller, pickOrganizationRoles(contract.startRefundBatch.roles), batch.tenant),
    started_at: now,
    due_at: now,
    claimed_until: null,
    modified_at: now,
  }
  const startedBatch = await commit(ctx, { ...batch, ...changes, version: batch.version + 1 }, [
    ...openEditions(batch.edition_id),
    ...updateVersion(refundBatches, batch, changes),
  ])
  ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return startedBatch
}

/** Stops a batch. A job deletes the rows of its dry run. */
export async function cancelRefundBatch(ctx: Ctx, batch: LoadedBatch): Promise<BatchDetailRow> {
  if (!refundBatchLifecycle.allows(batch.status, 'cancelled')) throw buildTransitionError(batch, 'cancelled')
  const now = ctx.now()
  const changes = { status: 'cancelled' as const, due_at: now, claimed_until: null, ended_at: now, modified_at: now }
  const cancelledBatch = await commit(
    ctx,
    { ...batch, ...changes, version: batch.version + 1 },
    updateVersion(refundBatches, batch, changes),
  )
  ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return cancelledBatch
}
