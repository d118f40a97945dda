import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { decodeAs, fromJson } from '../../../db/select.ts'
import { type PlacedRow, buildProductKey, readProduct } from '../../../domain/data-imports/mapping/index.ts'

/** The names are those that the edition has today. */
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

export async function lookUpProducts(
  db: Database,
  importId: string,
  rows: readonly PlacedRow[],
  known: Map<string, MappedProduct | null>,
): Promise<void> {
  const tuples = rows.flatMap((row) => readProduct(row.values) ?? [])
  const missing = [...new Set(tuples.map(buildProductKey))].filter((key) => !known.has(key))
  if (missing.length === 0) return
  const mappedProducts = await db.all(
    decodeAs(
      { options: mappedOptions },
      sql<MappedProduct>`select ip.product_key, ip.action, ip.product_id, ip.variant_id, ip.location_id,
        p.name as product, v.name as variant, l.name as location,
        json_array_length(ip.option_ids) as options_count,
        ${mappedOptions} as options
      from json_each(${JSON.stringify(missing)}) as wanted
      join import_products ip on ip.import_id = ${importId} and ip.product_key = wanted.value
      join data_imports i on i.id = ip.import_id
      left join products p on p.id = ip.product_id and p.edition_id = i.edition_id
      left join variants v on v.id = ip.variant_id and v.product_id = ip.product_id
      left join locations l on l.id = ip.location_id and l.edition_id = i.edition_id`,
    ),
  )
  for (const key of missing) known.set(key, null)
  for (const product of mappedProducts) known.set(product.product_key, product)
}

const isGone = (mapped: MappedProduct): boolean =>
  (mapped.product_id !== null && mapped.product === null) ||
  (mapped.variant_id !== null && mapped.variant === null) ||
  (mapped.location_id !== null && mapped.location === null) ||
  mapped.options.length < mapped.options_count

export type SoldAs = { row: PlacedRow } | 'ignored' | { code: 'unknown_product'; message: string }

type ProductValues = PlacedRow['values']

/** Replaces the product of a row as the mapping says. */
export function resolveProduct(row: PlacedRow, products: RunProducts, mayCreate: boolean): SoldAs {
  const tuple = readProduct(row.values)
  if (!tuple) return { row }
  const mapped = products.get(buildProductKey(tuple))
  if (mapped?.action === 'ignore') return 'ignored'
  const unknown = (message: string): SoldAs => ({ code: 'unknown_product', message })
  if (!mapped?.action) return unknown(`The product "${tuple.product}" is not mapped.`)
  if (isGone(mapped)) return unknown(`"${tuple.product}" is mapped to a product that no longer exists in the edition.`)
  if (mapped.action === 'create' && !mayCreate) return unknown(`The edition has no product "${tuple.product}".`)
  const { options } = mapped
  const isAsRead = mapped.action === 'create' && !mapped.product && !mapped.variant && !mapped.location
  if (isAsRead && options.length === 0) return { row }
  const values: Record<string, ProductValues[string] | null> = {
    ...row.values,
    'item.product': mapped.product ?? tuple.product,
    'item.variant': mapped.variant ?? (mapped.action === 'map' ? null : tuple.variant),
    'item.location': mapped.location ?? tuple.location,
    'item.options': options.length > 0 ? options : tuple.options,
  }
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
  return { row: { ...row, values: filled as ProductValues } }
}

export type RunProducts = ReadonlyMap<string, MappedProduct | null>
