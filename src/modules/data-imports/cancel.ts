import type { Ctx } from '../../context.ts'
import { checkAction, commitImport } from './begin.ts'
import type { LoadedImport } from './queries.ts'
import { enqueueImports, stopPhase } from './background/steps.ts'

/**
 * Ends the work under way. While orders are made, the next chunk sees it and settles the rest; everything else ends at
 * once, because no step of it can commit any more.
 */
export async function cancelDataImport(ctx: Ctx, row: LoadedImport): Promise<LoadedImport> {
  checkAction(ctx, row, 'cancel', 'cancelled')
  if (row.status === 'importing') {
    const next = { epoch: row.epoch + 1, heartbeat_at: ctx.now() }
    ctx.afterCommit(() => enqueueImports(ctx, [{ id: row.id, epoch: next.epoch }]))
    return commitImport(ctx, row, { status: 'cancelling', ...next })
  }
  return commitImport(ctx, row, { ...stopPhase(row), status: 'cancelled', completed_at: ctx.now() })
}
