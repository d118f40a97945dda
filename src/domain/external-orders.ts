import type { Language } from './languages.ts'
import type { Currency } from './money.ts'
import type { OrderStatus, PricedItem } from './orders.ts'
import type { BoughtOption } from './purchases.ts'

export const duplicatePolicies = ['skip', 'update', 'error'] as const
export type DuplicatePolicy = (typeof duplicatePolicies)[number]

export const importActions = ['created', 'updated', 'skipped', 'error'] as const
export type ImportAction = (typeof importActions)[number]

export const maxOrdersPerCall = 100
export const maxExternalIdLength = 128
export const maxSourceLength = 64
export const maxOrderNumberLength = 16
export const maxCodeLength = 64
export const maxGoodNameLength = 200
export const maxOptionsPerItem = 20
export const maxItemsPerOrder = 500
export const maxUnitsPerItem = 1000
export const maxUnitsPerOrder = 5000
export const maxUnitsPerCall = 20_000

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

/** Statuses of an import that this API knows by its own orders; files bring more. */
export const importStatuses = ['completed', 'completed_with_errors'] as const

export interface ExternalItem extends PricedItem {
  product: string
  variant: string | null
  location: string | null
  options: readonly string[]
  vendor_code: string | null
  uses_limit: number
  is_unlimited_use: 0 | 1
  /** Milliseconds UTC; null for what does not end by itself. */
  valid_until: number | null
}

/** An order of another system, checked, in minor units. */
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
  consents: Readonly<Record<string, boolean>>
  metadata: Record<string, unknown>
}

/** An item with the catalogue's ids. */
export interface ResolvedItem extends PricedItem {
  product_id: string
  variant_id: string | null
  location_id: string | null
  options: readonly BoughtOption[]
  vendor_code: string | null
  uses_limit: number
  is_unlimited_use: number
  valid_until: number | null
}

/** One purchase: what it is of, without who it is. */
export type Unit = Omit<ResolvedItem, 'quantity'>

export const unitsOf = (items: readonly ResolvedItem[]): Unit[] =>
  items.flatMap(({ quantity, ...unit }) => Array.from({ length: quantity }, () => unit))

const keyOf = (unit: Unit): string =>
  JSON.stringify([
    unit.product_id,
    unit.variant_id,
    unit.location_id,
    unit.options.map((option) => option.api_id),
    unit.vendor_code,
    unit.uses_limit,
    unit.is_unlimited_use,
    unit.price_minor,
    unit.deposit_minor,
    unit.handling_fee_minor,
  ])

interface Pairing<P> {
  pairs: { existing: P; wanted: Unit }[]
  /** What is left of both. */
  waiting: P[]
  missing: Unit[]
}

function pairBy<P extends Unit>(
  key: (unit: Unit) => string,
  existing: readonly P[],
  wanted: readonly Unit[],
): Pairing<P> {
  const waiting = Map.groupBy(existing, key)
  const pairs: Pairing<P>['pairs'] = []
  const missing: Unit[] = []
  for (const unit of wanted) {
    const same = waiting.get(key(unit))?.shift()
    if (same) pairs.push({ existing: same, wanted: unit })
    else missing.push(unit)
  }
  return { pairs, waiting: [...waiting.values()].flat(), missing }
}

/**
 * How the purchases of an order become the wanted units: equal ones stay who they are, missing ones are added, the
 * rest is cancelled. Nothing that was bought is forgotten. One that is kept has the validity that is wanted.
 */
export function reconcile<P extends Unit>(
  existing: readonly P[],
  wanted: readonly Unit[],
): { kept: P[]; cancelled: P[]; added: Unit[] } {
  const equal = pairBy((unit) => JSON.stringify([keyOf(unit), unit.valid_until]), existing, wanted)
  const extended = pairBy(keyOf, equal.waiting, equal.missing)
  const kept = [
    ...equal.pairs.map((pair) => pair.existing),
    ...extended.pairs.map((pair) => ({ ...pair.existing, valid_until: pair.wanted.valid_until })),
  ]
  return { kept, added: extended.missing, cancelled: extended.waiting }
}
