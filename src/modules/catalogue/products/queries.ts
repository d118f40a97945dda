import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { products } from '../../../db/schema/catalog.ts'
import { fromFlag, fromJson, jsonFlag, type RowOf, select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import { productImageList } from '../../purchases/index.ts'

export interface VariantRow {
  id: string
  name: string
  is_active: boolean
}

export interface OptionRow {
  id: string
  name: string
  price_mod_minor: number
  deposit_mod_minor: number
}

export const summaryColumns = {
  id: products.id,
  organization_id: products.organization_id,
  edition_id: products.edition_id,
  category_id: products.category_id,
  name: products.name,
  name_translations: products.name_translations,
  price_minor: products.price_minor,
  deposit_minor: products.deposit_minor,
  is_variant_required: products.is_variant_required,
  is_pickup_required: products.is_pickup_required,
  is_wallet_enabled: products.is_wallet_enabled,
  is_draft: products.is_draft,
  created_at: products.created_at,
  modified_at: products.modified_at,
}

const selectParts = (table: 'variants' | 'options', fields: SQL): SQL =>
  sql`(select json_group_array(json_object('id', id, 'name', name, ${fields})) from
    (select * from ${sql.raw(table)} where product_id = ${products.id}))`

/** The columns of a row of `products` with its variants, options, aliases and images. */
const detailColumns = {
  ...summaryColumns,
  version: products.version,
  merged_into_id: products.merged_into_id,
  is_merging: fromFlag(sql`exists (select 1 from products as source
    join product_merges on product_merges.id = source.id and due_at is not null
    where source.merged_into_id = ${products.id})`),
  image_ids: products.images,
  images: productImageList,
  aliases: fromJson<string[]>(sql`(select json_group_array(name) from
    (select name from product_aliases where product_id = ${products.id}))`),
  variants: fromJson<VariantRow[]>(selectParts('variants', sql`'is_active', ${jsonFlag(sql`is_active`)}`)),
  options: fromJson<OptionRow[]>(
    selectParts('options', sql`'price_mod_minor', price_mod_minor, 'deposit_mod_minor', deposit_mod_minor`),
  ),
}

const { merged_into_id: _, ...selectProduct } = detailColumns
export { selectProduct }

export type ProductSummaryRow = RowOf<typeof summaryColumns>
export type ProductRow = Omit<RowOf<typeof detailColumns>, 'merged_into_id'>
export type LoadedProduct = ProductRow & { tenant: Tenant }

export const productVisibility = buildVisibility(sql`${products.organization_id}`, sql`${products.edition_id}`)

export async function findProduct(ctx: Ctx, id: string): Promise<LoadedProduct> {
  const row = await ctx.db.first(
    select(detailColumns)
      .from(products)
      .where(and(eq(products.id, id), isVisibleTo(ctx.caller, productVisibility))),
  )
  if (!row) throw notFound()
  const { merged_into_id, ...product } = row
  if (merged_into_id !== null) throw notFound(`This product was merged into ${merged_into_id}.`)
  return { ...product, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
