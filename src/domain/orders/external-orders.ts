import type { FieldError } from '../field-error.ts'
import type { Language } from '../languages.ts'
import type { Currency } from '../money.ts'
import type { OrderStatus, PricedItem, TransactionService } from './orders.ts'
import type { PurchaseStatus } from './purchases.ts'

export const duplicatePolicies = ['skip', 'update', 'error'] as const
export type DuplicatePolicy = (typeof duplicatePolicies)[number]

export const importActions = ['created', 'updated', 'skipped', 'error'] as const
type ImportAction = (typeof importActions)[number]

/** The outcome of an import for an order. */
export interface OrderOutcome {
  /** The position of the order in its call or group. */
  index: number
  external_id: string | null
  action: ImportAction
  order_id: string | null
  errors: readonly FieldError[]
  warnings: readonly FieldError[]
}

/** The outcome of an order that an unfinished call has stored. Warnings are deleted before the rest. */
export type StoredResult = Pick<OrderOutcome, 'index' | 'action' | 'order_id'> & Partial<Pick<OrderOutcome, 'warnings'>>

export const maxOrdersPerCall = 100
export const maxExternalIdLength = 128
export const maxExternalSourceLength = 64
export const maxOrderNumberLength = 16
export const maxCodeLength = 64
export const maxProviderReferenceLength = 255
export const maxGoodNameLength = 200
export const maxOptionsPerItem = 20
export const maxItemsPerOrder = 500
export const maxUnitsPerItem = 1000
export const maxUnitsPerOrder = 5000
export const maxUnitsPerCall = 20_000

/** Statuses that an imported item may have. Purchases get the others only in this system. */
export const itemStatuses = ['pending', 'active', 'cancelled'] as const satisfies readonly PurchaseStatus[]
export type ItemStatus = (typeof itemStatuses)[number]

const readQuantity = (item: unknown): number => {
  const { quantity } = (item ?? {}) as { quantity?: unknown }
  const isUnits = typeof quantity === 'number' && Number.isInteger(quantity) && quantity > 0
  // A quantity that is too large fails its order, not the whole call.
  return isUnits && quantity <= maxUnitsPerItem ? quantity : 0
}

/** Finds the item with which unvalidated orders exceed the units of a call. Returns null when they do not. */
export function findItemBeyondLimit(orders: readonly unknown[]): { orderIndex: number; itemIndex: number } | null {
  let units = 0
  for (const [orderIndex, order] of orders.entries()) {
    const { items } = (order ?? {}) as { items?: unknown }
    if (!Array.isArray(items)) continue
    for (const [itemIndex, item] of (items as unknown[]).entries()) {
      units += readQuantity(item)
      if (units > maxUnitsPerCall) return { orderIndex, itemIndex }
    }
  }
  return null
}

/** The statuses of a finished import of external orders. */
export const importStatuses = ['completed', 'completed_with_errors', 'failed'] as const

export interface ExternalItem extends PricedItem {
  /** The position of the item in the source's order. Several items here may have the same one. */
  position: number
  product: string
  variant: string | null
  location: string | null
  options: readonly string[]
  vendor_code: string | null
  uses_limit: number
  is_unlimited_use: boolean
  /** Milliseconds UTC; null for a purchase that does not expire. */
  valid_until: number | null
  /** Who holds the purchases; null when the source does not say. */
  holder: { email: string | null; first_name: string; last_name: string } | null
  /** Null when the source does not say. Then the status of the order decides. */
  status: ItemStatus | null
}

/** The address by which an import finds the customer of an order. */
export const getCustomerAddress = ({
  customer: { email, phone_number },
}: Pick<ExternalOrder, 'customer'>): string | null => email ?? phone_number

/** A validated order of another system. Amounts are in minor units, the phone number is E.164. */
export interface ExternalOrder {
  external_id: string
  order_number: string | null
  status: OrderStatus
  created_at: number | null
  /** False for a date that a user gave to all orders of a file without one. */
  is_dated?: boolean
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
  /** The total that the source gives; null without one. */
  amount_minor: number | null
  /** The amounts that an unmapped column of totals may say for the order, as one of them. */
  unmapped_total?: { header: string; amounts: readonly number[] } | null
  /** The number of the customer, who has an e-mail address, if it is not a phone number. */
  unusable_phone?: string | null
  /** The total of all refunds so far; null when the source does not say. */
  refunded_minor: number | null
  /** The payment method; null when the source does not say. */
  payment: { service: TransactionService; reference: string | null } | null
  consents: Readonly<Record<string, boolean>>
  /** Fields of languages that are not supported, with their texts. */
  unsupported_locales?: readonly { path: readonly string[]; text: string }[]
  metadata: Record<string, unknown>
}
