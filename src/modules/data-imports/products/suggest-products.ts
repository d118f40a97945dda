import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { importProducts } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { type ProductSummary, readOptions } from '../../../domain/data-imports/data-imports.ts'
import { fold } from '../../../domain/text/fold.ts'
import { suggestProduct } from '../../../domain/data-imports/mapping/index.ts'
import { endPhase, type ImportRow } from '../background/steps.ts'

export type ImportProductRow = typeof importProducts.$inferSelect
export const importProductFields = getTableColumns(importProducts)

interface NamedProduct {
  id: string
  name: string
}

async function loadCatalogue(job: JobCtx, editionId: string) {
  const [products, variants, locations] = await job.db.batch([
    sql<NamedProduct>`select id, name from products where edition_id = ${editionId}`,
    sql<NamedProduct & { product_id: string }>`select variants.id, variants.name, product_id from products
      join variants on variants.product_id = products.id where edition_id = ${editionId}`,
    sql<NamedProduct>`select id, name from locations where edition_id = ${editionId}`,
  ])
  const byProduct = Map.groupBy(variants, ({ product_id }) => product_id)
  return {
    products: products.map((one) => ({ ...one, variants: byProduct.get(one.id) ?? [] })),
    locations: new Map(locations.map(({ id, name }) => [fold(name), id])),
  }
}

type Suggested = Pick<
  ImportProductRow,
  'position' | 'action' | 'product_id' | 'variant_id' | 'location_id' | 'confidence'
>

const summarizeSuggestions = (rows: readonly Suggested[]): ProductSummary => {
  const unmapped = rows.filter(({ action }) => action === null).length
  return { total: rows.length, mapped: rows.length - unmapped, ignored: 0, unmapped }
}

export async function productsStep(job: JobCtx, row: ImportRow): Promise<null> {
  const { create_missing_products } = readOptions(row.options)
  const catalogue = await loadCatalogue(job, row.edition_id)
  const products = await job.db.all(
    select(importProductFields).from(importProducts).where(eq(importProducts.import_id, row.id)),
  )
  const suggested = products.map((one): Suggested => {
    const { action, product_id, variant_id, confidence } = suggestProduct(one, catalogue.products)
    const isOpen = action === 'create' && !create_missing_products
    const location_id = one.location === null ? null : (catalogue.locations.get(fold(one.location)) ?? null)
    return { position: one.position, action: isOpen ? null : action, product_id, variant_id, location_id, confidence }
  })
  const data = suggested.map((one) =>
    JSON.stringify([row.id, one.position, one.action, one.product_id, one.variant_id, one.location_id, one.confidence]),
  )
  const summary = summarizeSuggestions(suggested)
  return endPhase(job, row, {
    status: summary.unmapped > 0 ? 'mapping_products' : 'ready',
    changes: { product_summary: summary },
    statements: splitIntoParameters(data).map(
      (part) => sql`update import_products set action = value ->> 2, product_id = value ->> 3, variant_id = value ->> 4,
          location_id = value ->> 5, confidence = value ->> 6, is_suggested = value ->> 2 is not null
        from json_each(${`[${part.join(',')}]`})
        where import_products.import_id = value ->> 0 and import_products.position = value ->> 1`,
    ),
  })
}
