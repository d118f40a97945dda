import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { updateVersion } from '../../db/write.ts'
import { refundBatchLifecycle } from '../../domain/refunds/refund-batches.ts'
import { wrongStatus } from './create.ts'
import { enqueueBatches } from './enqueue.ts'
import type { BatchDetailRow, LoadedBatch } from './queries.ts'

/** Stops a batch: it makes no more requests. The rows of its dry run are deleted in the background. */
export async function cancelBatch(ctx: Ctx, batch: LoadedBatch): Promise<BatchDetailRow> {
  if (!refundBatchLifecycle.allows(batch.status, 'cancelled')) throw wrongStatus(batch, 'cancelled')
  const now = ctx.now()
  const changes = { status: 'cancelled' as const, due_at: now, lease_until: null, ended_at: now, modified_at: now }
  const cancelled = await commit(
    ctx,
    { ...batch, ...changes, version: batch.version + 1 },
    updateVersion(refundBatches, batch, changes),
  )
  ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return cancelled
}
