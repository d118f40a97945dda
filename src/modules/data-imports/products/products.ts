import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { containsFolded } from '../../../db/search.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedImport } from '../queries.ts'
import type { ProductQuery, ProductMapping } from './product-contract.ts'
import { type ImportProductRow, importProductFields } from './suggest-products.ts'
import type { z } from '@hono/zod-openapi'

/** The search uses the product key, which contains the folded names. */
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
      product: sql`import_products.name_key`,
    }),
    columns: importProductFields,
    joins: sql`join import_products on import_products.import_id = ${id} and import_products.position = page.id`,
  })
}

export const presentProduct = (row: ImportProductRow): z.input<typeof ProductMapping> => ({
  id: row.id,
  product: row.product,
  variant: row.variant,
  location: row.location,
  options: [...row.options],
  position: row.position,
  rows_count: row.rows_count,
  action: row.action,
  product_id: row.product_id,
  variant_id: row.variant_id,
  location_id: row.location_id,
  option_ids: [...row.option_ids],
  similar_product: row.similar_product,
  is_mapped: row.action !== null,
  is_suggested: row.is_suggested,
  confidence: row.confidence,
})
