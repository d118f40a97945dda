import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { release } from '../../../db/claims.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { productMerges } from '../../../db/schema/catalog.ts'
import { selectWork, type WorkCount } from '../../../db/work-counts.ts'
import { AppError } from '../../../domain/errors.ts'
import { markSelectedPassesChanged } from '../../wallet/index.ts'

/** A running merge needs the variants and the options that it gives to orders. */
export const productMerging = (): AppError =>
  new AppError('product_merging', 'Orders are still being moved to this product.')

export type ProductMerge = typeof productMerges.$inferSelect

export const mergeColumns = getTableColumns(productMerges)

/** Merges whose orders are still being moved. */
export const selectMergeWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'product_merges',
    from: sql`product_merges indexed by product_merges_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })

/** A step reads these orders with their purchases, and writes those that have the product. */
export const ordersPerStep = 1000

interface OrderPosition {
  created_at: number
  seq: number
}

/** Finds the last order of the next step. Returns null when the step reaches the end. */
export async function findStepEnd(
  db: Database,
  { edition_id, orders_created_at, orders_seq }: Pick<ProductMerge, 'edition_id' | 'orders_created_at' | 'orders_seq'>,
  limit: number,
): Promise<OrderPosition | null> {
  const last = await db.first(sql<OrderPosition>`select created_at, seq from orders indexed by orders_edition_created
    where edition_id = ${edition_id} and (created_at, seq) > (${orders_created_at}, ${orders_seq})
    order by created_at, seq limit 1 offset ${limit - 1}`)
  return last ?? null
}

/** The id that replaces the one in the expression, or the same. */
export const replaceId = (ids: string, id: SQL): SQL => sql`coalesce(${ids} ->> (${id}), ${id})`

const replaceOptions = (ids: string, options: SQL): SQL =>
  sql`(select json_group_array(json(chosen)) from (
    select json_replace(value, '$.api_id', ${replaceId(ids, sql`value ->> 'api_id'`)}) as chosen
    from json_each(${options}) order by key))`

/** A line of a cart leaves out what is empty, and `json_replace` changes only what is there. */
const replaceLine = (ids: string): SQL =>
  sql`json_replace(line.value, '$.product_id', ${replaceId(ids, sql`line.value ->> 'product_id'`)},
    '$.variant_id', ${replaceId(ids, sql`line.value ->> 'variant_id'`)},
    '$.options', json(${replaceOptions(ids, sql`coalesce(line.value -> 'options', '[]')`)}))`

/**
 * Builds the statements that move the next orders of a merge, up to `end`, to the other product: their carts, purchases
 * and passes. Versions stay as they are, because nothing else about the orders changes, and the undo of an import
 * compares versions.
 */
export function buildStep(merge: ProductMerge, end: OrderPosition | null, now: number): Statement[] {
  const { id, edition_id, into_id, orders_created_at, orders_seq } = merge
  const ids = JSON.stringify(merge.ids)
  const upTo = end ? sql`and (created_at, seq) <= (${end.created_at}, ${end.seq})` : sql``
  const selectOrders = (column: string): SQL =>
    sql`select ${sql.raw(column)} from orders indexed by orders_edition_created
      where edition_id = ${edition_id} and (created_at, seq) > (${orders_created_at}, ${orders_seq}) ${upTo}`
  const isMoved = sql`order_id in (${selectOrders('id')}) and product_id = ${id}`
  // An import can give an order an earlier time of creation, behind the position of the walk.
  const hasMore = sql`exists (select 1 from purchases indexed by purchases_edition_created
    where edition_id = ${edition_id} and product_id = ${id})`
  const position = end
    ? sql`orders_created_at = ${end.created_at}, orders_seq = ${end.seq}`
    : sql`orders_created_at = -1, orders_seq = -1, due_at = iif(${hasMore}, ${now}, null),
        ${release}`
  return [
    markSelectedPassesChanged(sql`select id from purchases where ${isMoved}`, now),
    sql`update purchases set product_id = ${into_id}, variant_id = ${replaceId(ids, sql`variant_id`)},
        options = iif(options = '[]', options, ${replaceOptions(ids, sql`options`)})
      where ${isMoved}`,
    sql`update orders set cart = json_set(cart, '$.items', json((select json_group_array(json(item)) from (
        select iif(line.value ->> 'product_id' = ${id}, ${replaceLine(ids)}, line.value) as item
        from json_each(cart, '$.items') as line order by line.key))))
      where seq in (${selectOrders('seq')}) and instr(cart, ${id})`,
    sql`update product_merges set ${position} where id = ${id} and due_at is not null
      and orders_created_at = ${orders_created_at} and orders_seq = ${orders_seq}`,
    requireOneChange(),
  ]
}
