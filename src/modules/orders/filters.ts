import type { OrderStatus, OrderType } from '../../domain/orders/orders.ts'
import type { OrderBy } from '../../domain/page.ts'

export interface OrderFilters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  customer_id?: string | undefined
  transaction_id?: string | undefined
  order_number?: string | undefined
  external_id?: string | undefined
  customer_email?: string | undefined
  customer_phone?: string | undefined
  search?: string | undefined
  status?: OrderStatus | undefined
  type?: OrderType | undefined
  created_after?: number | undefined
  created_before?: number | undefined
}

export type OrderOrdering = readonly OrderBy<'created' | 'modified' | 'order_number' | 'status' | 'type' | 'amount'>[]

/** Whether a list is that of editions, with no filter that an index of something else serves. */
export const isOfWholeEditions = ({
  edition_id,
  organization_id,
  customer_id,
  external_id,
  transaction_id,
}: OrderFilters): boolean =>
  (!!edition_id || !!organization_id) && !customer_id && !external_id && transaction_id === undefined
