import { asc, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { importProducts } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import type { DataImportStatus, ProductSummary } from '../../../domain/data-imports/data-imports.ts'
import { type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import { checkAction, commitResult } from '../begin.ts'
import type { LoadedImport } from '../queries.ts'
import type { ProductChange, UpdateProductMappingsInput } from './product-contract.ts'
import { type ImportProductRow, importProductFields } from './suggest-products.ts'

export interface ChangedProducts {
  rows: readonly ImportProductRow[]
  status: DataImportStatus
  unmapped: number
}

interface EditionCatalogue {
  products: ReadonlySet<string>
  /** The product of each variant and option. */
  parents: ReadonlyMap<string, string>
  locations: ReadonlySet<string>
}

const listIds = (ids: readonly (string | null | undefined)[]): string[] => ids.filter((id) => typeof id === 'string')

async function findCatalogueIds(
  ctx: Ctx,
  editionId: string,
  mappings: readonly ProductChange[],
): Promise<EditionCatalogue> {
  const ids = {
    products: listIds(mappings.map(({ product_id }) => product_id)),
    variants: listIds(mappings.map(({ variant_id }) => variant_id)),
    options: listIds(mappings.flatMap(({ option_ids = [] }) => option_ids)),
    locations: listIds(mappings.map(({ location_id }) => location_id)),
  }
  const [products, variants, options, locations] = await ctx.db.batch([
    sql<{ id: string }>`select id from products where edition_id = ${editionId} and merged_into_id is null
      and ${inList(sql`id`, ids.products)}`,
    sql<{ id: string; product_id: string }>`select id, product_id from variants where ${inList(sql`id`, ids.variants)}`,
    sql<{ id: string; product_id: string }>`select id, product_id from options where ${inList(sql`id`, ids.options)}`,
    sql<{ id: string }>`select id from locations where edition_id = ${editionId} and ${inList(sql`id`, ids.locations)}`,
  ])
  return {
    products: new Set(products.map(({ id }) => id)),
    parents: new Map([...variants, ...options].map(({ id, product_id }) => [id, product_id])),
    locations: new Set(locations.map(({ id }) => id)),
  }
}

const buildMissingError = (path: readonly (string | number)[]): FieldError =>
  fieldError(path, 'does_not_exist', 'Object does not exist.')

/** Variants and options have to belong to the product. */
function findUnknownIds(change: ProductChange, index: number, catalogue: EditionCatalogue): FieldError[] {
  const { product_id, variant_id, location_id, option_ids = [] } = change
  const path = ['mappings', index]
  const isOfProduct = (id: string) => Boolean(product_id) && catalogue.parents.get(id) === product_id
  return [
    ...(product_id && !catalogue.products.has(product_id) ? [buildMissingError([...path, 'product_id'])] : []),
    ...(variant_id && !isOfProduct(variant_id) ? [buildMissingError([...path, 'variant_id'])] : []),
    ...(location_id && !catalogue.locations.has(location_id) ? [buildMissingError([...path, 'location_id'])] : []),
    ...option_ids.flatMap((id, at) => (isOfProduct(id) ? [] : [buildMissingError([...path, 'option_ids', at])])),
  ]
}

function applyChange(row: ImportProductRow, change: ProductChange): ImportProductRow {
  const isMap = change.action === 'map'
  return {
    ...row,
    action: change.action,
    product_id: change.action === 'ignore' ? null : (change.product_id ?? null),
    variant_id: isMap ? (change.variant_id ?? null) : null,
    location_id: change.action === 'ignore' ? null : (change.location_id ?? null),
    option_ids: isMap ? (change.option_ids ?? []) : [],
    similar_product: null,
    is_suggested: false,
    confidence: 1,
  }
}

function summarizeProducts(rows: Iterable<Pick<ImportProductRow, 'action'>>): ProductSummary {
  const actions = [...rows].map(({ action }) => action)
  const count = (isOne: (action: ImportProductRow['action']) => boolean) => actions.filter(isOne).length
  return {
    total: actions.length,
    mapped: count((action) => action === 'map' || action === 'create'),
    ignored: count((action) => action === 'ignore'),
    unmapped: count((action) => action === null),
  }
}

/** Maps all of the products or none. The import is ready once each product is mapped. */
export async function updateProductMappings(
  ctx: Ctx,
  row: LoadedImport,
  { mappings }: UpdateProductMappingsInput,
): Promise<ChangedProducts> {
  checkAction(ctx, row, 'update_product_mappings', 'mapped')
  const all = await ctx.db.all(
    select(importProductFields)
      .from(importProducts)
      .where(eq(importProducts.import_id, row.id))
      .orderBy(asc(importProducts.position)),
  )
  const byId = new Map(all.map((one) => [one.id, one]))
  const catalogue = await findCatalogueIds(ctx, row.edition_id, mappings)
  const changedIds = new Set<string>()
  const errors = mappings.flatMap((change, index): FieldError[] => {
    if (changedIds.has(change.id))
      return [fieldError(['mappings', index, 'id'], 'repeated', 'Another entry changes this product too.')]
    changedIds.add(change.id)
    return [
      ...(byId.has(change.id) ? [] : [buildMissingError(['mappings', index, 'id'])]),
      ...findUnknownIds(change, index, catalogue),
    ]
  })
  if (errors.length) throw invalid(...errors)
  const next = mappings.flatMap((change) => {
    const before = byId.get(change.id)
    return before ? [applyChange(before, change)] : []
  })
  for (const change of next) byId.set(change.id, change)
  const summary = summarizeProducts(byId.values())
  const status = summary.unmapped > 0 ? ('mapping_products' as const) : ('ready' as const)
  const statements = next.map(({ position, import_id, id: _, ...changes }) =>
    update(importProducts, changes, sql`import_id = ${import_id} and position = ${position}`),
  )
  const changes = { status, product_summary: summary }
  return commitResult(ctx, row, { changes, statements }, () => ({ rows: next, status, unmapped: summary.unmapped }))
}
