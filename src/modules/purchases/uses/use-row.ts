import { sql } from 'drizzle-orm'
import type { purchaseUses } from '../../../db/schema/sales/orders.ts'

/** A use with the place where it was. */
export interface PurchaseUseRow extends Omit<typeof purchaseUses.$inferSelect, 'purchase_id'> {
  location_name: string | null
  location_is_draft: number | null
}

/** Columns of `PurchaseUseRow`, over `purchase_uses` and `useJoins`. */
export const useColumns = sql`purchase_uses.id, purchase_uses.quantity, purchase_uses.location_id,
  purchase_uses.used_at, purchase_uses.reverted_at, purchase_uses.created_at, locations.name as location_name,
  locations.is_draft as location_is_draft`

export const useJoins = sql`left join locations on locations.id = purchase_uses.location_id`
