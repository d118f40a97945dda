import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import { toMajor } from '../../../domain/money.ts'
import { fold } from '../../../domain/text/fold.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { presentImages } from '../../purchases/index.ts'
import type { Product, ProductListItem } from './product-contract.ts'
import type { ProductRow, ProductSummaryRow } from './queries.ts'

const toMajorOrNull = (minor: number | null): number | null => (minor === null ? null : toMajor(minor))

const presentSummary = (row: ProductSummaryRow) => ({
  id: row.id,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  category_id: row.category_id,
  name: row.name,
  name_translations: row.name_translations,
  price: toMajorOrNull(row.price_minor),
  deposit: toMajorOrNull(row.deposit_minor),
  is_variant_required: row.is_variant_required,
  is_pickup_required: row.is_pickup_required,
  is_wallet_enabled: row.is_wallet_enabled,
  is_draft: row.is_draft,
})

/** Ids sort by their creation. */
const compareIds = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1)

const presentTimes = ({ created_at, modified_at }: ProductSummaryRow) => ({
  created: toIso(created_at),
  modified: toIso(modified_at),
})

export const presentProductListItem = (
  row: ProductSummaryRow & { variants_count: number; options_count: number },
): z.input<typeof ProductListItem> => ({
  ...presentSummary(row),
  variants_count: row.variants_count,
  options_count: row.options_count,
  ...presentTimes(row),
})

export const presentProduct = (row: ProductRow, ctx: Ctx): z.input<typeof Product> => ({
  ...presentSummary(row),
  aliases: row.aliases.toSorted((one, other) => (fold(one) < fold(other) ? -1 : 1)),
  image_ids: [...row.image_ids],
  images: presentImages(row.images, ctx),
  variants: row.variants.toSorted(compareIds).map(({ id, name, is_active }) => ({ id, name, is_active })),
  options: row.options.toSorted(compareIds).map(({ id, name, price_mod_minor, deposit_mod_minor }) => ({
    id,
    name,
    price_mod: toMajor(price_mod_minor),
    deposit_mod: toMajor(deposit_mod_minor),
  })),
  is_merging: row.is_merging,
  ...presentTimes(row),
})
