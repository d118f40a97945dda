import type { Ctx } from '../../context.ts'
import { checkAction, commitImport } from './begin.ts'
import type { LoadedImport } from './queries.ts'
import { stopPhase } from './background/steps.ts'

/**
 * Cancels an import. While orders are created, the work goes on under a new epoch and marks the rest as cancelled.
 * Other work ends at once: no step of it can commit any more.
 */
export async function cancelDataImport(ctx: Ctx, row: LoadedImport): Promise<LoadedImport> {
  checkAction(ctx, row, 'cancel', 'cancelled')
  if (row.status === 'importing') {
    const next = { epoch: row.epoch + 1, heartbeat_at: ctx.now() }
    return commitImport(ctx, row, { status: 'cancelling', ...next })
  }
  return commitImport(ctx, row, { ...stopPhase(row), status: 'cancelled', completed_at: ctx.now() })
}
