import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { isProduct } from '../../../db/products.ts'
import { selectValues } from '../../../db/select.ts'
import { countExpressions, requireNoUses, selectImports } from '../uses.ts'

/** Products, variants or options of one edition. */
export interface CatalogueTarget {
  kind: 'product' | 'variant' | 'option'
  ids: readonly string[]
  product: { id: string; organization_id: string; edition_id: string }
}

/** Carts have no index by product, and most of them have a purchase that is counted exactly. */
const maxOrders = 1000

const hasOption = (options: SQL, ids: readonly string[]): SQL =>
  sql`exists (select 1 from json_each(${options}) as chosen where ${inList(sql`chosen.value ->> 'api_id'`, ids)})`

/** The purchases that have the target, as the `from` of a query. */
export function selectPurchases({ kind, ids, product }: CatalogueTarget): SQL {
  if (kind === 'variant') return sql`purchases where ${inList(sql`variant_id`, ids)}`
  const ofProduct = sql`select id from purchases indexed by purchases_edition_created
    where edition_id = ${product.edition_id} and ${isProduct(sql`product_id`, product.id)}`
  if (kind === 'product') return sql`(${ofProduct})`
  return sql`purchases where id in (${ofProduct}) and options <> '[]' and ${hasOption(sql`options`, ids)}`
}

const conditions: Record<CatalogueTarget['kind'], (ids: readonly string[]) => { line: SQL; mapping: SQL }> = {
  product: (ids) => ({
    line: inList(sql`line.value ->> 'product_id'`, ids),
    mapping: inList(sql`product_id`, ids),
  }),
  variant: (ids) => ({
    line: inList(sql`line.value ->> 'variant_id'`, ids),
    mapping: inList(sql`variant_id`, ids),
  }),
  option: (ids) => ({
    line: hasOption(sql`coalesce(line.value -> 'options', '[]')`, ids),
    mapping: sql`exists (select 1 from json_each(option_ids) as chosen where ${inList(sql`chosen.value`, ids)})`,
  }),
}

/** Counts the rows that use a target. Orders are counted up to `maxOrders`. */
async function countUsage(ctx: Ctx, target: CatalogueTarget) {
  const { kind, ids, product } = target
  const { line, mapping } = conditions[kind](ids)
  const usage = await ctx.db.first(
    selectValues({
      purchases: sql<number>`(select count(*) from ${selectPurchases(target)})`,
      orders: sql<number>`(select count(*) from (select 1 from orders indexed by orders_edition_created
        where edition_id = ${product.edition_id} and instr(cart, ${product.id})
          and exists (select 1 from json_each(cart, '$.items') as line where ${line}) limit ${maxOrders}))`,
      data_imports: sql<number>`(select count(distinct import_id) from import_products
        where import_id in ${selectImports(product.edition_id, { isFinal: false })} and ${mapping})`,
      pass_designs: sql<number>`(select count(*) from pass_designs where edition_id = ${product.edition_id}
        and ${kind === 'product'} and ${inList(sql`product_id`, ids)})`,
      ...countExpressions(ctx.caller, product.organization_id, ids),
    }),
  )
  if (!usage) throw new Error('a select without a table returns one row')
  return usage
}

/** Throws `product_in_use` with the counts unless nothing uses the target. */
export async function requireUnused(ctx: Ctx, target: CatalogueTarget, subject: string): Promise<void> {
  requireNoUses(
    { code: 'product_in_use', detail: `${subject} is in use.`, extra: { counted_up_to: maxOrders } },
    await countUsage(ctx, target),
  )
}
