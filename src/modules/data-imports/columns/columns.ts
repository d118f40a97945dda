import type { Ctx } from '../../../context.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { sql } from 'drizzle-orm'
import { readOptions } from '../../../domain/data-imports/data-imports.ts'
import { canonicalRangeLength, readCanonical, type IndexedRow } from '../../../domain/data-imports/files/canonical.ts'
import { readBytes } from '../../../domain/data-imports/files/source.ts'
import type { PreparedMappings } from '../../../domain/data-imports/mapping/index.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { findImport, type LoadedImport } from '../queries.ts'
import type { ColumnQuery } from './column-contract.ts'
import { issuesOf, type MappingIssue } from '../mapping/issues.ts'
import { loadState } from '../mapping/changed.ts'
import { canonicalOf, formatOf } from '../mapping/source.ts'
import { columnFields, type ColumnRow, type MappingState, prepare } from '../mapping/state.ts'

/** The columns of an import with their faults. */
export interface ColumnView {
  /** Of the import. */
  id: string
  tenant: Tenant
  row: LoadedImport
  state: MappingState
  prepared: PreparedMappings
  issues: { errors: MappingIssue[]; warnings: MappingIssue[] }
}

export function viewOf(ctx: Ctx, row: LoadedImport, state: MappingState): ColumnView {
  const prepared = prepare(state, ctx.now())
  return { id: row.id, tenant: row.tenant, row, state, prepared, issues: issuesOf(state, prepared) }
}

export async function findColumnView(ctx: Ctx, id: string): Promise<ColumnView> {
  const row = await findImport(ctx, id)
  return viewOf(ctx, row, await loadState(ctx, row, readOptions(row.options)))
}

export interface ColumnWithIssues extends ColumnRow {
  issues: readonly MappingIssue[]
  is_required: boolean
}

export const withIssues = (column: ColumnRow, view: ColumnView): ColumnWithIssues => ({
  ...column,
  issues: view.issues.errors.concat(view.issues.warnings).filter(({ column: at }) => at === column.source_index),
  is_required: view.prepared.readers.some(
    ({ field }) => field.key === column.target_field && (field.is_required || field.one_of !== null),
  ),
})

export async function listColumns(
  ctx: Ctx,
  page: PageRequest,
  { ordering }: ColumnQuery,
  view: ColumnView,
): Promise<Page<ColumnWithIssues>> {
  const found = await paginate(ctx.db, page, {
    from: sql`import_columns`,
    id: sql`import_columns.source_index`,
    where: [sql`import_columns.import_id = ${view.row.id}`],
    orderBy: buildOrderBy(ordering, 'source_index', { source_index: sql`import_columns.source_index` }),
    columns: columnFields,
    joins: sql`join import_columns on import_columns.import_id = ${view.row.id}
      and import_columns.source_index = page.id`,
  })
  return { ...found, rows: found.rows.map((column) => withIssues(column, view)) }
}

/** The first rows of the file, as far as one range of its canonical copy has them. */
export async function firstRowsOf(ctx: Ctx, row: LoadedImport, count: number): Promise<IndexedRow[]> {
  if (row.canonical_size === null) return []
  const file = canonicalOf(ctx, formatOf(row))
  const bytes = await readBytes(file, 0, canonicalRangeLength)
  return readCanonical(bytes, 0, bytes.byteLength >= file.size)
    .filter(({ kind }) => kind === 'data')
    .slice(0, count)
}
