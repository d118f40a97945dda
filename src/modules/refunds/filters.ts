import type { RefundFilters } from './contract.ts'

export type { RefundFilters }

export const isOfWholeEditions = ({ order_id, purchase_id, customer_id }: RefundFilters): boolean =>
  !order_id && !purchase_id && !customer_id
