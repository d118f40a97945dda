import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { categories } from '../../../db/schema/catalog.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { CategoryQuery } from './contract.ts'
import { categoryColumns, type CategoryRow, categoryVisibility } from './queries.ts'

const filters: FilterTable<CategoryQuery> = {
  organization_id: equals(categories.organization_id),
  edition_id: equals(categories.edition_id),
  search: contains(categories.name_folded),
}

const sortColumns = {
  position: sql`${categories.position}`,
  name: sql`${categories.name_key}`,
  created: sql`${categories.created_at}`,
  modified: sql`${categories.modified_at}`,
}

export const listCategories = (ctx: Ctx, page: PageRequest, query: CategoryQuery): Promise<Page<CategoryRow>> =>
  paginate(ctx.db, page, {
    from: sql`${categories}`,
    where: [isVisibleIn(ctx.caller, categoryVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, 'position', sortColumns),
    id: sql`${categories.id}`,
    columns: categoryColumns,
    joins: sql`join ${categories} on ${categories.id} = page.id`,
  })
