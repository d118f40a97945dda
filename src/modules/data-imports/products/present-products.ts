import type { z } from '@hono/zod-openapi'
import type { ProductMapping } from './product-contract.ts'
import type { ImportProductRow } from './suggest-products.ts'

export const presentProduct = (row: ImportProductRow): z.input<typeof ProductMapping> => ({
  id: row.id,
  product: row.product,
  variant: row.variant,
  location: row.location,
  options: [...row.options],
  position: row.position,
  rows_count: row.rows_count,
  action: row.action,
  product_id: row.product_id,
  variant_id: row.variant_id,
  location_id: row.location_id,
  option_ids: [...row.option_ids],
  similar_product: row.similar_product,
  is_mapped: row.action !== null,
  is_suggested: row.is_suggested,
  confidence: row.confidence,
})
