import { eq } from 'drizzle-orm'
import { locations } from '../../../db/schema/sales/catalog.ts'
import { purchaseUses } from '../../../db/schema/sales/orders.ts'
import { makeNullable, type RowOf, select } from '../../../db/select.ts'

const useFields = {
  id: purchaseUses.id,
  quantity: purchaseUses.quantity,
  location_id: purchaseUses.location_id,
  used_at: purchaseUses.used_at,
  reverted_at: purchaseUses.reverted_at,
  created_at: purchaseUses.created_at,
  location_name: makeNullable(locations.name),
  location_is_draft: makeNullable(locations.is_draft),
}

/** A use with the place where it was. */
export type PurchaseUseRow = RowOf<typeof useFields>

export const selectUses = () =>
  select(useFields).from(purchaseUses).leftJoin(locations, eq(locations.id, purchaseUses.location_id))
