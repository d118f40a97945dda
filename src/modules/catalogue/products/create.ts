import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { requireShowable } from '../../../db/images.ts'
import { products } from '../../../db/schema/catalog.ts'
import { insert } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { LostRace } from '../../../domain/errors.ts'
import { checkTenant, openEditions } from '../../editions/index.ts'
import { replaceAliases } from './aliases.ts'
import { buildPartStatements, planRequestedParts } from './parts.ts'
import type { CreateProductInput } from './product-contract.ts'
import type { ProductRow } from './queries.ts'
import { checkReferences } from './references.ts'

/** Another request took the name. The next attempt finds it. */
export const nameRaces = Object.fromEntries(
  [
    'products.edition_id, products.name_folded',
    'product_aliases.edition_id, product_aliases.name_folded',
    'variants.product_id, variants.name_folded',
    'options.product_id, options.name_folded',
  ].map((columns) => [columns, () => new LostRace(columns)]),
)

const noParts = { variants: [], options: [] }

export async function createProduct(ctx: Ctx, input: CreateProductInput): Promise<ProductRow> {
  const { organization_id, edition_id, name, aliases = [], image_ids = [] } = input
  await checkTenant(ctx, organization_id, edition_id)
  const { images } = await checkReferences(ctx, { id: null, organization_id, edition_id }, input, name)
  const parts = planRequestedParts(ctx, noParts, input)
  const now = ctx.now()
  const row = {
    id: ctx.newId('product'),
    organization_id,
    edition_id,
    category_id: input.category_id ?? null,
    name,
    name_translations: input.name_translations ?? {},
    price_minor: input.price ?? null,
    deposit_minor: input.deposit ?? null,
    is_variant_required: input.is_variant_required ?? false,
    is_pickup_required: input.is_pickup_required ?? false,
    is_wallet_enabled: input.is_wallet_enabled ?? false,
    is_draft: input.is_draft ?? false,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const product: ProductRow = {
    ...row,
    aliases: [...aliases],
    is_merging: false,
    image_ids,
    images: images ?? [],
    variants: parts.variants?.rows ?? [],
    options: parts.options?.rows ?? [],
  }
  return commit(
    ctx,
    product,
    [
      ...openEditions(edition_id),
      ...image_ids.map((id) => requireShowable(ctx.caller, product, id)),
      insert(products, { ...row, ...buildNameColumns(name), images: image_ids }),
      ...replaceAliases(product, aliases, now).additions,
      ...buildPartStatements(product, parts, now),
    ],
    nameRaces,
  )
}
