/** An order in the form that `importExternalOrders` accepts. Amounts are in major units. */
export interface ExternalOrder {
  external_id: string
  order_number?: string
  status?: 'pending' | 'confirmed' | 'completed' | 'cancelled'
  created?: string
  currency: string
  customer: { email?: string; phone_number?: string; first_name?: string; last_name?: string; metadata?: object }
  items: ExternalItem[]
  service_fee?: number
}

export interface ExternalItem {
  product: string
  variant?: string
  quantity: number
  unit_price: number
  deposit?: number
  vendor_code?: string
}

/** A call accepts at most this many orders. */
export const ordersPerCall = 100
