import type { Ctx } from '../../../context.ts'
import { type ImportOptions, noProducts } from '../../../domain/data-imports/data-imports.ts'
import type { LoadedImport } from '../queries.ts'
import type { ImportChanges } from '../background/steps.ts'
import { loadMapping, type MappingState, prepare, summaryOf } from './state.ts'

/** The columns that are cleared when the rows have to be staged again. */
export const nothingStaged = {
  valid_rows: 0,
  invalid_rows: 0,
  processed_rows: 0,
  total_orders: 0,
  row_counts: {},
  product_summary: noProducts,
  error_code: null,
  error_message: null,
} satisfies ImportChanges

export const loadState = (ctx: Pick<Ctx, 'db'>, row: LoadedImport, options: ImportOptions): Promise<MappingState> =>
  loadMapping(ctx.db, row.id, row, options)

/** The columns of an import after a change of its mapping: its rows are staged again. */
export async function mappingChanges(
  ctx: Ctx,
  row: LoadedImport,
  next: { options: ImportOptions; state?: MappingState },
): Promise<ImportChanges & { status: 'mapping_columns' }> {
  const state = next.state ?? (await loadState(ctx, row, next.options))
  const summary = summaryOf(state, prepare(state, ctx.now()))
  return { ...nothingStaged, status: 'mapping_columns', column_summary: summary }
}
