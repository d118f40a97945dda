import { isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { products } from '../../../db/schema/catalog.ts'
import type { RowOf } from '../../../db/select.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { ProductQuery } from './product-contract.ts'
import { productVisibility, summaryColumns } from './queries.ts'

const filters: FilterTable<ProductQuery> = {
  organization_id: equals(products.organization_id),
  edition_id: equals(products.edition_id),
  category_id: equals(products.category_id),
  is_draft: equals(products.is_draft),
  search: contains(products.name_folded),
}

const sortColumns = {
  created: sql`${products.created_at}`,
  modified: sql`${products.modified_at}`,
  name: sql`${products.name_key}`,
}

const listColumns = {
  ...summaryColumns,
  variants_count: sql<number>`(select count(*) from variants where product_id = ${products.id})`,
  options_count: sql<number>`(select count(*) from options where product_id = ${products.id})`,
}

export const listProducts = (
  ctx: Ctx,
  page: PageRequest,
  query: ProductQuery,
): Promise<Page<RowOf<typeof listColumns>>> =>
  paginate(ctx.db, page, {
    from: sql`${products}`,
    where: [
      isVisibleIn(ctx.caller, productVisibility, query),
      isNull(products.merged_into_id),
      ...buildConditions(filters, query),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${products.id}`,
    columns: listColumns,
    joins: sql`join ${products} on ${products.id} = page.id`,
  })
