import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { columnFields } from '../mapping/state.ts'
import type { ColumnQuery } from './column-contract.ts'
import { addIssues, type ColumnView, type ColumnWithIssues } from './columns.ts'

export async function listColumnMappings(
  ctx: Ctx,
  page: PageRequest,
  { ordering }: ColumnQuery,
  view: ColumnView,
): Promise<Page<ColumnWithIssues>> {
  const columnPage = await paginate(ctx.db, page, {
    from: sql`import_columns`,
    where: [sql`import_columns.import_id = ${view.row.id}`],
    orderBy: buildOrderBy(ordering, 'source_index', { source_index: sql`import_columns.source_index` }),
    id: sql`import_columns.source_index`,
    columns: columnFields,
    joins: sql`join import_columns on import_columns.import_id = ${view.row.id}
      and import_columns.source_index = page.id`,
  })
  return { ...columnPage, rows: columnPage.rows.map((column) => addIssues(column, view)) }
}
