import type { FacetFilters } from './orderings.ts'

export interface RefundFilters extends FacetFilters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  order_id?: string | undefined
  purchase_id?: string | undefined
  customer_id?: string | undefined
  search?: string | undefined
  created_after?: number | undefined
  created_before?: number | undefined
}

export const isOfWholeEditions = ({ order_id, purchase_id, customer_id }: RefundFilters): boolean =>
  !order_id && !purchase_id && !customer_id
