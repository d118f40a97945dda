import type { OrderBy } from '../../domain/page.ts'
import type { OrderFilters } from './contract.ts'

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
