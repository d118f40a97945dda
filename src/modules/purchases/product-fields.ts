import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { locations, products, variants } from '../../db/schema/catalog.ts'
import { orders } from '../../db/schema/orders.ts'
import { type Fields, fromJson, makeNullable, type RowOf } from '../../db/select.ts'
import { buildImageAddresses } from '../../domain/files/addresses.ts'
import { toMajor } from '../../domain/money.ts'
import type { BoughtOption } from '../../domain/orders/purchases.ts'
import type { productFields, Location } from './contract.ts'

/** An image of a product. `access_key` is part of its address. */
export interface ProductImage {
  id: string
  access_key: string
}

/** The images of a joined row of `products`, in their order. */
export const productImageList = fromJson<ProductImage[]>(sql`case ${products.images} when '[]' then '[]' else (
  select json_group_array(json_object('id', id, 'access_key', access_key)) from (
    select files.id, files.access_key from json_each(${products.images}) as image
      cross join files on files.id = image.value order by image.key)) end`)

/** The columns by which a purchase, or an item of a cart, refers to the catalogue. */
interface ProductColumns<Options extends Fields[string]> {
  product_id: Fields[string]
  variant_id: Fields[string]
  location_id: Fields[string]
  options: Options
}

/** The items of the cart of a joined row of `orders`. `line.key` is their position. */
export const cartLines = sql`json_each(${orders.cart}, '$.items') as line`

const readNumber = (name: string): SQL<number> => sql`coalesce(line.value ->> ${sql.raw(`'${name}'`)}, 0)`

export const cartLineFields = {
  id: sql<string>`line.value ->> 'id'`,
  quantity: sql<number>`coalesce(line.value ->> 'quantity', 1)`,
  price_minor: readNumber('price_minor'),
  deposit_minor: readNumber('deposit_minor'),
  handling_fee_minor: readNumber('handling_fee_minor'),
}

export const cartLineColumns = {
  product_id: sql`line.value ->> 'product_id'`,
  variant_id: sql`line.value ->> 'variant_id'`,
  location_id: sql`line.value ->> 'location_id'`,
  options: fromJson<readonly BoughtOption[]>(sql`coalesce(line.value -> 'options', '[]')`),
}

/** Product, variant, location and options of a purchase or an item of a cart, selected from `buildProductJoins`. */
export const buildProductFields = <Options extends Fields[string]>(columns: ProductColumns<Options>) => ({
  product_id: products.id,
  product_name: products.name,
  product_is_draft: products.is_draft,
  product_images: productImageList,
  variant_id: makeNullable(variants.id),
  variant_name: makeNullable(variants.name),
  location_id: makeNullable(locations.id),
  location_name: makeNullable(locations.name),
  location_is_draft: makeNullable(locations.is_draft),
  options: columns.options,
})

export type SoldProductRow = RowOf<ReturnType<typeof buildProductFields<typeof cartLineColumns.options>>>

export const buildProductJoins = (columns: ProductColumns<Fields[string]>): SQL =>
  sql`join ${products} on ${products.id} = ${columns.product_id}
    left join ${variants} on ${variants.id} = ${columns.variant_id}
    left join ${locations} on ${locations.id} = ${columns.location_id}`

interface LocationColumns {
  location_id: string | null
  location_name: string | null
  location_is_draft: boolean | null
}

export const presentLocation = (row: LocationColumns): z.input<typeof Location> | null =>
  row.location_id === null
    ? null
    : { api_id: row.location_id, name: row.location_name ?? '', is_draft: row.location_is_draft ?? false }

export const presentImages = (images: readonly ProductImage[], { config }: Pick<Ctx, 'config'>) =>
  images.map((file) => buildImageAddresses(config.files.url, file))

type PresentedProduct = z.input<z.ZodObject<typeof productFields>>

export const presentProductFields = (row: SoldProductRow, ctx: Pick<Ctx, 'config'>): PresentedProduct => ({
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
