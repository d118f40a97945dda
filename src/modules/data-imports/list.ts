import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { dataImports } from '../../db/schema/data-imports.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { ImportQuery } from './import-contract.ts'
import { importColumns, type ImportDetailRow, importVisibility } from './queries.ts'

const filters: FilterTable<ImportQuery> = {
  organization_id: equals(dataImports.organization_id),
  edition_id: equals(dataImports.edition_id),
  status: equals(dataImports.status),
  source: equals(dataImports.source),
  search: contains(dataImports.search),
}

const sortColumns = {
  created: sql`${dataImports.created_at}`,
  modified: sql`${dataImports.modified_at}`,
  name: sql`${dataImports.name_key}`,
  status: sql`${dataImports.status}`,
}

export const listDataImports = (ctx: Ctx, page: PageRequest, query: ImportQuery): Promise<Page<ImportDetailRow>> =>
  paginate(ctx.db, page, {
    from: sql`data_imports`,
    where: [isVisibleIn(ctx.caller, importVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`data_imports.id`,
    columns: importColumns,
    joins: sql`join data_imports on data_imports.id = page.id
      join organizations on organizations.id = data_imports.organization_id
      join editions on editions.id = data_imports.edition_id
      left join files on files.id = data_imports.file_id`,
  })
