import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { requireShowable } from '../../../db/images.ts'
import { products } from '../../../db/schema/catalog.ts'
import { isEmpty, pickChanges, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { fold } from '../../../domain/text/fold.ts'
import { isSameJson } from '../../../domain/text/json.ts'
import { openEditions } from '../../editions/index.ts'
import { replaceAliases } from './aliases.ts'
import { nameRaces } from './create.ts'
import { productMerging } from './move-orders.ts'
import { buildPartStatements, changesParts, planRequestedParts, removesParts, requireRemovable } from './parts.ts'
import type { ProductInput } from './product-contract.ts'
import type { LoadedProduct, ProductRow } from './queries.ts'
import { checkReferences } from './references.ts'

type ProductColumns = Omit<ProductRow, 'images' | 'aliases' | 'variants' | 'options'>

const pickRequestedColumns = (product: ProductRow, input: ProductInput): Partial<ProductColumns> => {
  const { price, deposit, aliases: _, variants: _variants, options: _options, ...columns } = input
  return pickChanges<ProductColumns>(product, { ...columns, price_minor: price, deposit_minor: deposit })
}

/** After a new name the former one of a sold product is an alias, unless the body lists the aliases. */
function chooseAliases(product: ProductRow, { name = product.name, aliases }: ProductInput, isSold: boolean): string[] {
  if (aliases) return aliases
  const others = product.aliases.filter((alias) => fold(alias) !== fold(name))
  return fold(name) === fold(product.name) || !isSold ? others : [...others, product.name]
}

/** Aliases make way for the new name, and the former name makes way for an alias. */
function buildColumnStatements(
  product: ProductRow,
  changes: Partial<ProductColumns>,
  aliases: readonly string[],
  now: number,
): Statement[] {
  const { image_ids, ...columns } = changes
  const names = columns.name === undefined ? {} : buildNameColumns(columns.name)
  const images = image_ids === undefined ? {} : { images: image_ids }
  const update = updateVersion(products, product, { ...columns, ...names, ...images, modified_at: now })
  if (isSameJson(JSON.stringify(aliases), JSON.stringify(product.aliases))) return update
  const { removal, additions } = replaceAliases(product, aliases, now)
  return [removal, ...update, ...additions]
}

export async function updateProduct(ctx: Ctx, product: LoadedProduct, input: ProductInput): Promise<ProductRow> {
  const requestedColumns = pickRequestedColumns(product, input)
  const { images, is_sold } = await checkReferences(
    ctx,
    product,
    { ...requestedColumns, aliases: input.aliases },
    input.name ?? product.name,
  )
  const aliases = chooseAliases(product, input, is_sold)
  const parts = planRequestedParts(ctx, product, input)
  const isSame =
    isEmpty(requestedColumns) &&
    !changesParts(parts) &&
    isSameJson(JSON.stringify(aliases), JSON.stringify(product.aliases))
  if (isSame) return commit(ctx, product, [])
  // A merge that begins meanwhile changes the version of the product.
  if (product.is_merging && removesParts(parts)) throw productMerging()
  await requireRemovable(ctx, product, parts)
  const now = ctx.now()
  const updatedProduct: ProductRow = {
    ...product,
    ...requestedColumns,
    aliases,
    images: images ?? product.images,
    variants: parts.variants?.rows ?? product.variants,
    options: parts.options?.rows ?? product.options,
    version: product.version + 1,
    modified_at: now,
  }
  return commit(
    ctx,
    updatedProduct,
    [
      ...openEditions(product.edition_id),
      ...(requestedColumns.image_ids ?? []).map((id) => requireShowable(ctx.caller, product, id)),
      ...buildColumnStatements(product, requestedColumns, aliases, now),
      ...buildPartStatements(product, parts, now),
    ],
    nameRaces,
  )
}
