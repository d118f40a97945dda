import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { importProducts } from '../../../db/schema/data-imports.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedImport } from '../queries.ts'
import type { ProductQuery } from './product-contract.ts'
import { type ImportProductRow, importProductFields } from './suggest-products.ts'

const filters: FilterTable<ProductQuery> = {
  is_mapped: (isMapped) => sql`(${importProducts.action} is not null) = ${isMapped ? 1 : 0}`,
  // The product key contains the folded names of product, variant and location.
  search: contains(importProducts.product_key),
}

const sortColumns = {
  position: sql`${importProducts.position}`,
  rows_count: sql`${importProducts.rows_count}`,
  product: sql`${importProducts.name_key}`,
}

export const listProductMappings = (
  ctx: Ctx,
  page: PageRequest,
  query: ProductQuery,
  { id }: LoadedImport,
): Promise<Page<ImportProductRow>> =>
  paginate(ctx.db, page, {
    from: sql`import_products`,
    where: [sql`import_products.import_id = ${id}`, ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, 'position', sortColumns),
    id: sql`import_products.position`,
    columns: importProductFields,
    joins: sql`join import_products on import_products.import_id = ${id} and import_products.position = page.id`,
  })
