import type { Language } from '../languages.ts'
import type { Currency } from '../money.ts'
import type { OrderStatus, PricedItem, TransactionService } from './orders.ts'
import type { PurchaseStatus } from './purchases.ts'

export const duplicatePolicies = ['skip', 'update', 'error'] as const
export type DuplicatePolicy = (typeof duplicatePolicies)[number]

export const importActions = ['created', 'updated', 'skipped', 'error'] as const
export type ImportAction = (typeof importActions)[number]

export const maxOrdersPerCall = 100
export const maxExternalIdLength = 128
export const maxSourceLength = 64
export const maxOrderNumberLength = 16
export const maxCodeLength = 64
export const maxProviderReferenceLength = 255
export const maxGoodNameLength = 200
export const maxOptionsPerItem = 20
export const maxItemsPerOrder = 500
export const maxUnitsPerItem = 1000
export const maxUnitsPerOrder = 5000
export const maxUnitsPerCall = 20_000

/** Statuses that an item may bring; the others come about by what happens to a purchase here. */
export const itemStatuses = ['pending', 'active', 'cancelled'] as const satisfies readonly PurchaseStatus[]
export type ItemStatus = (typeof itemStatuses)[number]

const quantityOf = (item: unknown): number => {
  const { quantity } = (item ?? {}) as { quantity?: unknown }
  const isUnits = typeof quantity === 'number' && Number.isInteger(quantity) && quantity > 0
  // A quantity that no item may have fails its own order alone.
  return isUnits && quantity <= maxUnitsPerItem ? quantity : 0
}

/** The item with which the units of unread orders exceed those of a call, or null. */
export function itemBeyondCall(orders: readonly unknown[]): { order: number; item: number } | null {
  let units = 0
  for (const [order, content] of orders.entries()) {
    const { items } = (content ?? {}) as { items?: unknown }
    if (!Array.isArray(items)) continue
    for (const [item, one] of (items as unknown[]).entries()) {
      units += quantityOf(one)
      if (units > maxUnitsPerCall) return { order, item }
    }
  }
  return null
}

/** Statuses of an import that orders of this API have too; files contain more. */
export const importStatuses = ['completed', 'completed_with_errors'] as const

export interface ExternalItem extends PricedItem {
  /** The position of the item in the source's order, which may be several items here. */
  position: number
  product: string
  variant: string | null
  location: string | null
  options: readonly string[]
  vendor_code: string | null
  uses_limit: number
  is_unlimited_use: boolean
  /** Milliseconds UTC; null for what does not end by itself. */
  valid_until: number | null
  /** Who holds the units; null where the source does not say. */
  holder: { email: string | null; first_name: string; last_name: string } | null
  /** Null where the source does not say: then the order's status decides. */
  status: ItemStatus | null
}

/** An order of another system, checked, in minor units, its telephone number in E.164. */
export interface ExternalOrder {
  external_id: string
  order_number: string | null
  status: OrderStatus
  created_at: number | null
  currency: Currency
  customer: {
    email: string | null
    phone_number: string | null
    first_name: string
    last_name: string
    locale: Language | null
    metadata: Record<string, unknown>
  }
  items: readonly ExternalItem[]
  service_fee_minor: number
  discount_minor: number
  coupon_code: string | null
  /** The total as the source gives it; null where it gives none. */
  amount_minor: number | null
  /** What was paid back so far, in all; null where the source does not say. */
  refunded_minor: number | null
  /** Where the order was paid; null where the source does not say. */
  payment: { service: TransactionService; reference: string | null } | null
  consents: Readonly<Record<string, boolean>>
  metadata: Record<string, unknown>
}
