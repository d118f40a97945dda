import { type SQL, sql } from 'drizzle-orm'

/**
 * True if the column holds the product, one that was merged into it, or the one into which it was merged. Purchases have
 * the id of a merged product until they are moved.
 */
export const isProduct = (column: SQL, id: string): SQL => {
  const target = sql`(select coalesce(merged_into_id, id) from products where id = ${id})`
  return sql`${column} in (select id from products where id = ${target}
    union all select id from products where merged_into_id = ${target})`
}
