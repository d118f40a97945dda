interface NamedOrder {
  id: string
  order_number: string | null
  external_id: string | null
}

/** Finds the name that people use for an order. */
export const nameOrder = ({ id, order_number, external_id }: NamedOrder): string => order_number ?? external_id ?? id
