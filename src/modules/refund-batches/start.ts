import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { updateVersion } from '../../db/write.ts'
import { mayAt } from '../../domain/accounts/access.ts'
import { nothingToRefund } from '../../domain/refunds/refund-amounts.ts'
import { type BatchSums, refundBatchLifecycle } from '../../domain/refunds/refund-batches.ts'
import { checkReview, readPolicy } from '../../domain/refunds/refund-policy.ts'
import { openEditions } from '../editions/index.ts'
import { wrongStatus } from './create.ts'
import { enqueueBatches } from './enqueue.ts'
import type { BatchDetailRow, LoadedBatch } from './queries.ts'

/** The policy judges the batch as a whole: the sum of each currency is what its reviewer approves. */
function checkPolicy(ctx: Ctx, batch: LoadedBatch, { amounts }: BatchSums): void {
  const policy = readPolicy(batch.refund_policy)
  for (const [currency, amount_minor = 0] of Object.entries(amounts))
    checkReview(policy, {
      amount_minor,
      currency,
      requested_by: batch.created_by,
      reviewer: ctx.caller.id,
      isAdmin: mayAt(ctx.caller, ['OA', 'EA'], batch.tenant),
    })
}

export async function startBatch(ctx: Ctx, batch: LoadedBatch): Promise<BatchDetailRow> {
  if (!refundBatchLifecycle.allows(batch.status, 'running')) throw wrongStatus(batch, 'started')
  const { counted } = batch
  if (counted.orders === 0) throw nothingToRefund()
  checkPolicy(ctx, batch, counted)
  const now = ctx.now()
  const changes = {
    status: 'running' as const,
    started_by: ctx.caller.id,
    started_at: now,
    due_at: now,
    lease_until: null,
    modified_at: now,
  }
  const started = await commit(ctx, { ...batch, ...changes, version: batch.version + 1 }, [
    ...openEditions(batch.edition_id),
    ...updateVersion(refundBatches, batch, changes),
  ])
  ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return started
}
