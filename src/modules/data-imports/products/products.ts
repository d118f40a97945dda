import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { containsFolded } from '../../../db/search.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedImport } from '../queries.ts'
import type { ProductQuery } from './product-contract.ts'
import { type ImportProductRow, productFields } from './suggest-products.ts'

/** The key of a product is its folded names. */
export const listProducts = (
  ctx: Ctx,
  page: PageRequest,
  query: ProductQuery,
  { id }: LoadedImport,
): Promise<Page<ImportProductRow>> => {
  const { is_mapped, search, ordering } = query
  return paginate(ctx.db, page, {
    from: sql`import_products`,
    id: sql`import_products.position`,
    where: [
      sql`import_products.import_id = ${id}`,
      ...(is_mapped === undefined ? [] : [sql`(import_products.action is not null) = ${is_mapped ? 1 : 0}`]),
      ...(search ? [containsFolded(sql`import_products.product_key`, search)] : []),
    ],
    orderBy: buildOrderBy(ordering, 'position', {
      position: sql`import_products.position`,
      rows_count: sql`import_products.rows_count`,
      product: sql`import_products.product`,
    }),
    columns: productFields,
    joins: sql`join import_products on import_products.import_id = ${id} and import_products.position = page.id`,
  })
}
