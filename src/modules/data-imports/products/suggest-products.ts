import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { importProducts } from '../../../db/schema/data-imports.ts'
import { decodeAs, fromJson, select } from '../../../db/select.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { type ProductSummary, readOptions } from '../../../domain/data-imports/data-imports.ts'
import { indexProducts, suggestProduct } from '../../../domain/data-imports/mapping/index.ts'
import { fold } from '../../../domain/text/fold.ts'
import { endPhase, type ImportRow } from '../background/steps.ts'

export type ImportProductRow = typeof importProducts.$inferSelect
export const importProductFields = getTableColumns(importProducts)

interface NamedProduct {
  id: string
  name: string
}

async function loadCatalogue(job: JobCtx, editionId: string) {
  const [products, variants, locations] = await job.db.batch([
    sql<NamedProduct>`select id, name from products where edition_id = ${editionId} and merged_into_id is null
      union all select product_id, name from product_aliases where edition_id = ${editionId}`,
    sql<NamedProduct & { product_id: string }>`select variants.id, variants.name, product_id from products
      join variants on variants.product_id = products.id where edition_id = ${editionId}`,
    sql<NamedProduct>`select id, name from locations where edition_id = ${editionId}`,
  ])
  const byProduct = Map.groupBy(variants, ({ product_id }) => product_id)
  return {
    products: indexProducts(products.map((one) => ({ ...one, variants: byProduct.get(one.id) ?? [] }))),
    locations: new Map(locations.map(({ id, name }) => [fold(name), id])),
  }
}

type Decision = Pick<ImportProductRow, 'action' | 'product_id' | 'variant_id' | 'location_id' | 'option_ids'>

/** Loads what users of the edition last decided about these products, unless what they chose was deleted since. */
async function loadProductMemory(job: JobCtx, row: ImportRow): Promise<ReadonlyMap<string, Decision>> {
  const rows = await job.db.all(
    decodeAs(
      { option_ids: storedOptions },
      sql<Decision & { product_key: string }>`select h.product_key, h.action, h.product_id, h.variant_id, h.location_id,
        ${storedOptions} as option_ids
      from import_products ip
      cross join import_product_history h on h.edition_id = ${row.edition_id} and h.product_key = ip.product_key
      left join products p on p.id = h.product_id and p.edition_id = h.edition_id
      left join variants v on v.id = h.variant_id and v.product_id = p.id
      left join locations l on l.id = h.location_id and l.edition_id = h.edition_id
      where ip.import_id = ${row.id} and p.id is h.product_id and v.id is h.variant_id and l.id is h.location_id
        and not exists (select 1 from json_each(h.option_ids) as chosen
          where chosen.value not in (select id from options where product_id = p.id))`,
    ),
  )
  return new Map(rows.map(({ product_key, ...decision }) => [product_key, decision]))
}

const storedOptions = fromJson<string[]>(sql`h.option_ids`)
const rememberedConfidence = 0.98

type Suggested = Decision & Pick<ImportProductRow, 'position' | 'confidence' | 'similar_product'>

const summarizeSuggestions = (rows: readonly Suggested[]): ProductSummary => {
  const unmapped = rows.filter(({ action }) => action === null).length
  const ignored = rows.filter(({ action }) => action === 'ignore').length
  return { total: rows.length, mapped: rows.length - unmapped - ignored, ignored, unmapped }
}

export async function productsStep(job: JobCtx, row: ImportRow): Promise<null> {
  const { create_missing_products } = readOptions(row.options)
  const catalogue = await loadCatalogue(job, row.edition_id)
  const products = await job.db.all(
    select(importProductFields).from(importProducts).where(eq(importProducts.import_id, row.id)),
  )
  const memory = await loadProductMemory(job, row)
  const suggestedProducts = products.map((one): Suggested => {
    const { position } = one
    const decision = memory.get(one.product_key)
    if (decision && (decision.action !== 'create' || create_missing_products))
      return { position, ...decision, confidence: rememberedConfidence, similar_product: null }
    const { action, ...suggestion } = suggestProduct(one, catalogue.products)
    const isOpen = action === 'create' && !create_missing_products
    const location_id = one.location === null ? null : (catalogue.locations.get(fold(one.location)) ?? null)
    return { position, ...suggestion, action: isOpen ? null : action, location_id, option_ids: [] }
  })
  const data = suggestedProducts.map((one) =>
    JSON.stringify([
      row.id,
      one.position,
      one.action,
      one.product_id,
      one.variant_id,
      one.location_id,
      one.confidence,
      JSON.stringify(one.option_ids),
      one.similar_product && JSON.stringify(one.similar_product),
    ]),
  )
  const summary = summarizeSuggestions(suggestedProducts)
  return endPhase(job, row, {
    status: summary.unmapped > 0 ? 'mapping_products' : 'ready',
    changes: { product_summary: summary },
    statements: splitIntoParameters(data).map(
      (part) => sql`update import_products set action = value ->> 2, product_id = value ->> 3, variant_id = value ->> 4,
          location_id = value ->> 5, confidence = value ->> 6, option_ids = value ->> 7, similar_product = value ->> 8,
          is_suggested = value ->> 2 is not null
        from json_each(${`[${part.join(',')}]`})
        where import_products.import_id = value ->> 0 and import_products.position = value ->> 1`,
    ),
  })
}
