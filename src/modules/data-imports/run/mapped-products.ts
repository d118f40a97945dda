import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { decodeAs, fromJson } from '../../../db/select.ts'
import { type PlacedRow, buildProductKey, readProduct } from '../../../domain/data-imports/mapping/index.ts'

/** The mapping of a product of the file, with the names that its targets have in the edition today. */
export interface MappedProduct {
  product_key: string
  action: 'map' | 'create' | 'ignore' | null
  product_id: string | null
  variant_id: string | null
  location_id: string | null
  product: string | null
  variant: string | null
  location: string | null
  options: readonly string[]
  options_count: number
}

const mappedOptions = fromJson<string[]>(sql`(select json_group_array(o.name) from json_each(ip.option_ids) as chosen
  join options o on o.id = chosen.value and o.product_id = ip.product_id)`)

/** Adds the mappings of the rows' products to `cache`; null for a product without a mapping. */
export async function loadMappedProducts(
  db: Database,
  importId: string,
  rows: readonly PlacedRow[],
  cache: Map<string, MappedProduct | null>,
): Promise<void> {
  const tuples = rows.flatMap((row) => readProduct(row.values) ?? [])
  const missingKeys = [...new Set(tuples.map(buildProductKey))].filter((key) => !cache.has(key))
  if (missingKeys.length === 0) return
  const mappedProducts = await db.all(
    decodeAs(
      { options: mappedOptions },
      sql<MappedProduct>`select ip.product_key, ip.action, ip.product_id, ip.variant_id, ip.location_id,
        p.name as product, v.name as variant, l.name as location,
        json_array_length(ip.option_ids) as options_count,
        ${mappedOptions} as options
      from json_each(${JSON.stringify(missingKeys)}) as wanted
      cross join import_products ip on ip.import_id = ${importId} and ip.product_key = wanted.value
      cross join data_imports i on i.id = ip.import_id
      left join products p on p.id = ip.product_id and p.edition_id = i.edition_id
      left join variants v on v.id = ip.variant_id and v.product_id = ip.product_id
      left join locations l on l.id = ip.location_id and l.edition_id = i.edition_id`,
    ),
  )
  for (const key of missingKeys) cache.set(key, null)
  for (const product of mappedProducts) cache.set(product.product_key, product)
}

const isMissingInEdition = (mappedProduct: MappedProduct): boolean =>
  (mappedProduct.product_id !== null && mappedProduct.product === null) ||
  (mappedProduct.variant_id !== null && mappedProduct.variant === null) ||
  (mappedProduct.location_id !== null && mappedProduct.location === null) ||
  mappedProduct.options.length < mappedProduct.options_count

/** The product of a row: a row with the names of the edition, nothing, or a problem. */
export type ProductResolution = { row: PlacedRow } | 'ignored' | { code: 'unknown_product'; message: string }

type ProductValues = PlacedRow['values']

/** Replaces the product of a row by the product that it is mapped to. */
export function resolveProduct(row: PlacedRow, products: RunProducts, mayCreate: boolean): ProductResolution {
  const tuple = readProduct(row.values)
  if (!tuple) return { row }
  const mappedProduct = products.get(buildProductKey(tuple))
  if (mappedProduct?.action === 'ignore') return 'ignored'
  const refuse = (message: string): ProductResolution => ({ code: 'unknown_product', message })
  if (!mappedProduct?.action) return refuse(`The product "${tuple.product}" is not mapped.`)
  if (isMissingInEdition(mappedProduct))
    return refuse(`"${tuple.product}" is mapped to a product that no longer exists in the edition.`)
  if (mappedProduct.action === 'create' && !mayCreate)
    return refuse(`The edition has no product "${tuple.product}", and the option create_missing_products is off.`)
  const { options } = mappedProduct
  const keepsNames =
    mappedProduct.action === 'create' && !mappedProduct.product && !mappedProduct.variant && !mappedProduct.location
  if (keepsNames && options.length === 0) return { row }
  const values: Record<string, ProductValues[string] | null> = {
    ...row.values,
    'item.product': mappedProduct.product ?? tuple.product,
    'item.variant': mappedProduct.variant ?? (mappedProduct.action === 'map' ? null : tuple.variant),
    'item.location': mappedProduct.location ?? tuple.location,
    'item.options': options.length > 0 ? options : tuple.options,
  }
  const filledValues = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
  return { row: { ...row, values: filledValues as ProductValues } }
}

export type RunProducts = ReadonlyMap<string, MappedProduct | null>
