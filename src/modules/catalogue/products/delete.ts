import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, requireOneChange } from '../../../db/commit.ts'
import { options, products, variants } from '../../../db/schema/catalog.ts'
import { remove } from '../../../db/write.ts'
import { openEditions } from '../../editions/index.ts'
import { selectImports } from '../uses.ts'
import type { LoadedProduct } from './queries.ts'
import { requireUnused } from './usage.ts'

/** A purchase or a mapping that is added at the same time aborts the deletion, because it refers to the product. */
export async function deleteProduct(ctx: Ctx, product: LoadedProduct): Promise<null> {
  const { id, edition_id, version } = product
  await requireUnused(ctx, { kind: 'product', ids: [id], product }, 'This product')
  // The products that were merged into this one go with it.
  const removedIds = sql`(select id from products where id = ${id} or merged_into_id = ${id})`
  return commit(ctx, null, [
    ...openEditions(edition_id),
    sql`update import_products set product_id = null, variant_id = null
      where import_id in ${selectImports(edition_id, { isFinal: true })} and product_id in ${removedIds}`,
    sql`delete from product_merges where id in ${removedIds}`,
    remove(options, sql`product_id in ${removedIds}`),
    remove(variants, sql`product_id in ${removedIds}`),
    remove(products, eq(products.merged_into_id, id)),
    remove(products, and(eq(products.id, id), eq(products.version, version))),
    requireOneChange(),
  ])
}
