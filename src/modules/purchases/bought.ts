import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { imageAddresses } from '../../domain/files/addresses.ts'
import { toMajor } from '../../domain/money.ts'
import type { BoughtOption } from '../../domain/orders/purchases.ts'
import type { boughtFields, Location } from './contract.ts'

export interface BoughtRow {
  product_id: string
  product_name: string
  product_is_draft: number
  /** JSON: ids and keys of its images. */
  product_images: string
  variant_id: string | null
  variant_name: string | null
  location_id: string | null
  location_name: string | null
  location_is_draft: number | null
  options: string
}

/** The images of a joined `products` in their order. */
export const imagesOfProduct: SQL = sql`case products.images when '[]' then '[]' else (
  select json_group_array(json_object('id', id, 'access_key', access_key)) from (
    select files.id, files.access_key from json_each(products.images) as listed
      cross join files on files.id = listed.value order by listed.key)) end`

/** Columns and joins of what a row of `table` (with product_id, variant_id, location_id, options) bought. */
export const boughtColumns = (table: SQL): SQL => sql`products.id as product_id, products.name as product_name,
  products.is_draft as product_is_draft, ${imagesOfProduct} as product_images, variants.id as variant_id, variants.name as variant_name,
  locations.id as location_id, locations.name as location_name, locations.is_draft as location_is_draft,
  ${table}.options as options`

export const boughtJoins = (table: SQL): SQL => sql`join products on products.id = ${table}.product_id
  left join variants on variants.id = ${table}.variant_id
  left join locations on locations.id = ${table}.location_id`

interface LocatedRow {
  location_id: string | null
  location_name: string | null
  location_is_draft: number | null
}

export const presentLocation = (row: LocatedRow): z.input<typeof Location> | null =>
  row.location_id === null
    ? null
    : { api_id: row.location_id, name: row.location_name ?? '', is_draft: row.location_is_draft === 1 }

export const presentImages = (images: string, { config }: Pick<Ctx, 'config'>) =>
  (JSON.parse(images) as { id: string; access_key: string }[]).map((file) => imageAddresses(config.files.url, file))

type Bought = z.input<z.ZodObject<typeof boughtFields>>

export const presentBought = (row: BoughtRow, ctx: Pick<Ctx, 'config'>): Bought => ({
  product: {
    api_id: row.product_id,
    name: row.product_name,
    is_draft: row.product_is_draft === 1,
    images: presentImages(row.product_images, ctx),
  },
  variant: row.variant_id === null ? null : { api_id: row.variant_id, name: row.variant_name ?? '' },
  location: presentLocation(row),
  options: (JSON.parse(row.options) as BoughtOption[]).map((option) => ({
    api_id: option.api_id,
    name: option.name,
    price_mod: toMajor(option.price_mod_minor),
    deposit_mod: toMajor(option.deposit_mod_minor),
  })),
})
