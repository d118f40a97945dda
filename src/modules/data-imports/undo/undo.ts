import type { Ctx } from '../../../context.ts'
import { checkAction, commitImport } from '../begin.ts'
import type { LoadedImport } from '../queries.ts'
import { beginPhase } from '../background/steps.ts'

/** Begins the undo of an import. Only imports of files store the data that it needs. */
export async function undoDataImport(ctx: Ctx, row: LoadedImport): Promise<LoadedImport> {
  checkAction(ctx, row, 'undo', 'undone')
  return commitImport(ctx, row, {
    status: 'undoing',
    undone_orders: 0,
    kept_orders: 0,
    ...beginPhase(row, 'undo', ctx.now()),
  })
}
