import { eq } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { productAliases } from '../../../db/schema/catalog.ts'
import { insertAll, remove } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'

/** Replaces the aliases of a product. It stands after the statement that changes the name. */
export const replaceAliases = (
  { id, edition_id }: { id: string; edition_id: string },
  aliases: readonly string[],
  now: number,
): { removal: Statement; additions: Statement[] } => ({
  removal: remove(productAliases, eq(productAliases.product_id, id)),
  additions: insertAll(
    productAliases,
    aliases.map((alias) => ({
      edition_id,
      product_id: id,
      ...buildNameColumns(alias),
      created_at: now,
    })),
  ),
})
