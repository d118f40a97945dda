import type { Ctx } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import { checkAction, commitImport } from '../begin.ts'
import type { LoadedImport } from '../queries.ts'
import { beginPhase } from '../background/steps.ts'
import { nothingStaged } from './changed.ts'
import type { ColumnView } from '../columns/columns.ts'
import { issueError } from './issues.ts'

/** Begins to read every row by the mapping, if the mapping is complete. */
export async function processColumnMappings(ctx: Ctx, { row, issues }: ColumnView): Promise<LoadedImport> {
  checkAction(ctx, row, 'process', 'processed')
  if (issues.errors.length)
    throw new AppError('column_mapping_incomplete', 'The column mappings are not complete.', {
      errors: issues.errors.map(issueError),
    })
  return commitImport(ctx, row, {
    ...nothingStaged,
    ...beginPhase(row, 'stage', ctx.now()),
    status: 'processing_columns',
  })
}
