import type { Ctx } from '../../context.ts'
import { listChangeableEditions } from '../../db/customers.ts'
import { AppError } from '../../domain/errors.ts'
import { stopPhase, beginPhase } from './background/steps.ts'
import { checkAction, commitImport } from './begin.ts'
import type { ColumnView } from './columns/columns.ts'
import { toFieldError } from './mapping/issues.ts'
import { emptyStaging } from './mapping/state.ts'
import type { LoadedImport } from './queries.ts'

/**
 * Cancels an import. While orders are created, the work continues under a new epoch and marks the rest as cancelled.
 * Other work ends at once, because none of its steps can commit any more.
 */
export async function cancelDataImport(ctx: Ctx, row: LoadedImport): Promise<LoadedImport> {
  checkAction(ctx, row, 'cancel', 'cancelled')
  if (row.status === 'importing') {
    const nextEpoch = { epoch: row.epoch + 1, heartbeat_at: ctx.now() }
    return commitImport(ctx, row, { status: 'cancelling', ...nextEpoch })
  }
  return commitImport(ctx, row, { ...stopPhase(row), status: 'cancelled', completed_at: ctx.now() })
}

/** Starts an undo, which has the rights of its caller. */
export async function undoDataImport(ctx: Ctx, row: LoadedImport): Promise<LoadedImport> {
  checkAction(ctx, row, 'undo', 'undone')
  return commitImport(ctx, row, {
    status: 'undoing',
    undone_orders: 0,
    kept_orders: 0,
    shared_customer_orders: 0,
    resume_key: null,
    stored_results: null,
    ...beginPhase(row, 'undo', ctx.now()),
    position: {
      stage: 'orders',
      below: null,
      changeable: listChangeableEditions(ctx.caller, row.organization_id),
    },
  })
}

export async function processColumnMappings(ctx: Ctx, { row, issues }: ColumnView): Promise<LoadedImport> {
  checkAction(ctx, row, 'process', 'processed')
  if (issues.errors.length)
    throw new AppError('column_mapping_incomplete', 'The column mappings are not complete.', {
      errors: issues.errors.map(toFieldError),
    })
  return commitImport(ctx, row, {
    ...emptyStaging,
    ...beginPhase(row, 'stage', ctx.now()),
    status: 'processing_columns',
  })
}
