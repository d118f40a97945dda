import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import type { AddedCatalogue } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'

export interface CatalogueEntry {
  kind: keyof AddedCatalogue
  id: string
}

/** Lists entries in the order in which they can be deleted. */
export const listEntries = ({ options, variants, locations, products }: AddedCatalogue): CatalogueEntry[] => [
  ...options.map((id) => ({ kind: 'options' as const, id })),
  ...variants.map((id) => ({ kind: 'variants' as const, id })),
  ...locations.map((id) => ({ kind: 'locations' as const, id })),
  ...products.map((id) => ({ kind: 'products' as const, id })),
]

const columns = { variants: 'variant_id', locations: 'location_id', products: 'product_id' } as const

/** True if a purchase or a cart of the edition has the entry, which then stays. */
const isBought = (column: string, editionId: string, id: string) => sql`(
  exists (select 1 from purchases where edition_id = ${editionId} and ${sql.raw(column)} = ${id})
  or exists (select 1 from orders where edition_id = ${editionId} and instr(cart, ${id})))`

const isBoughtOption = (
  editionId: string,
  id: string,
) => sql`exists (select 1 from purchases, json_each(purchases.options)
  where purchases.edition_id = ${editionId} and purchases.options <> '[]' and json_each.value ->> 'api_id' = ${id})`

/** True if a running merge of products gives the entry to orders that it has yet to move. */
const isMergeTarget = (
  editionId: string,
  id: string,
) => sql`exists (select 1 from product_merges, json_each(product_merges.ids)
  where product_merges.edition_id = ${editionId} and product_merges.due_at is not null and json_each.value = ${id})`

/** True if the undo of a later import gives the entry back to an order that this undo kept. */
const isRestoredLater = (importId: string, id: string) => sql`exists (select 1 from import_orders kept
  join import_orders later on later.order_id = kept.order_id
  where kept.import_id = ${importId} and kept.undo_outcome = 'kept' and later.import_id <> kept.import_id
    and later.undo_outcome is null and instr(later.undo_data, ${id}))`

export function buildRemoval(row: ImportRow, { kind, id }: CatalogueEntry): Statement[] {
  const { id: importId, edition_id } = row
  const isRestored = row.kept_orders > 0 ? isRestoredLater(importId, id) : sql`0`
  const isNeeded = sql`(${isRestored} or ${isMergeTarget(edition_id, id)})`
  if (kind === 'options')
    return [
      sql`delete from options where id = ${id} and not ${isNeeded} and not ${isBoughtOption(edition_id, id)} and not exists (select 1
        from import_products other, json_each(other.option_ids) where other.import_id in (select id from data_imports
          where edition_id = ${edition_id}) and other.import_id <> ${importId} and json_each.value = ${id})`,
    ]
  const column = columns[kind]
  const isUsed = [
    isNeeded,
    isBought(column, edition_id, id),
    sql`exists (select 1 from import_products where import_id in (select id from data_imports
      where edition_id = ${edition_id}) and import_id <> ${importId} and ${sql.raw(column)} = ${id})`,
    ...(kind === 'products'
      ? [
          sql`exists (select 1 from products where id = ${id} and version > 1)`,
          sql`exists (select 1 from variants where product_id = ${id})`,
          sql`exists (select 1 from options where product_id = ${id})`,
          sql`exists (select 1 from pass_designs where edition_id = ${edition_id} and product_id = ${id})`,
        ]
      : []),
    ...(kind === 'locations'
      ? [
          sql`exists (select 1 from purchase_uses where location_id = ${id})`,
          sql`exists (select 1 from locations where id = ${id} and version > 1)`,
        ]
      : []),
  ]
  const isUnused = sql`not (${sql.join(isUsed, sql` or `)})`
  return [
    sql`update import_products set ${sql.raw(column)} = null where import_id = ${importId}
      and ${sql.raw(column)} = ${id} and ${isUnused}`,
    sql`delete from ${sql.raw(kind)} where id = ${id} and ${isUnused}`,
  ]
}
