import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { locations, products, variants } from '../../db/schema/sales/catalog.ts'
import type { cartItems, purchases } from '../../db/schema/sales/orders.ts'
import { fromJson, orNull, type RowOf } from '../../db/select.ts'
import { imageAddresses } from '../../domain/files/addresses.ts'
import { toMajor } from '../../domain/money.ts'
import type { boughtFields, Location } from './contract.ts'

/** An image of a product, and the key that opens it. */
export interface ProductImage {
  id: string
  access_key: string
}

/** The images of a joined `products` in their order. */
export const imagesOfProduct = fromJson<ProductImage[]>(sql`case ${products.images} when '[]' then '[]' else (
  select json_group_array(json_object('id', id, 'access_key', access_key)) from (
    select files.id, files.access_key from json_each(${products.images}) as listed
      cross join files on files.id = listed.value order by listed.key)) end`)

/** What a cart item or a purchase is of, over the table and `boughtJoins`. */
export const boughtFieldsOf = (table: typeof cartItems | typeof purchases) => ({
  product_id: products.id,
  product_name: products.name,
  product_is_draft: products.is_draft,
  product_images: imagesOfProduct,
  variant_id: orNull(variants.id),
  variant_name: orNull(variants.name),
  location_id: orNull(locations.id),
  location_name: orNull(locations.name),
  location_is_draft: orNull(locations.is_draft),
  options: table.options,
})

export type BoughtRow = RowOf<ReturnType<typeof boughtFieldsOf>>

export const boughtJoins = (table: typeof cartItems | typeof purchases): SQL =>
  sql`join ${products} on ${products.id} = ${table.product_id}
    left join ${variants} on ${variants.id} = ${table.variant_id}
    left join ${locations} on ${locations.id} = ${table.location_id}`

interface LocatedRow {
  location_id: string | null
  location_name: string | null
  location_is_draft: boolean | null
}

export const presentLocation = (row: LocatedRow): z.input<typeof Location> | null =>
  row.location_id === null
    ? null
    : { api_id: row.location_id, name: row.location_name ?? '', is_draft: row.location_is_draft ?? false }

export const presentImages = (images: readonly ProductImage[], { config }: Pick<Ctx, 'config'>) =>
  images.map((file) => imageAddresses(config.files.url, file))

type Bought = z.input<z.ZodObject<typeof boughtFields>>

export const presentBought = (row: BoughtRow, ctx: Pick<Ctx, 'config'>): Bought => ({
  product: {
    api_id: row.product_id,
    name: row.product_name,
    is_draft: row.product_is_draft,
    images: presentImages(row.product_images, ctx),
  },
  variant: row.variant_id === null ? null : { api_id: row.variant_id, name: row.variant_name ?? '' },
  location: presentLocation(row),
  options: row.options.map((option) => ({
    api_id: option.api_id,
    name: option.name,
    price_mod: toMajor(option.price_mod_minor),
    deposit_mod: toMajor(option.deposit_mod_minor),
  })),
})
