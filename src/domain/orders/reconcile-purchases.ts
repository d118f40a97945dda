import type { PricedItem } from './orders.ts'
import { type BoughtOption, type PurchaseStatus } from './purchases.ts'

/** The product and the price of a purchase. */
interface Unit extends Omit<PricedItem, 'quantity'> {
  product_id: string
  variant_id: string | null
  location_id: string | null
  options: readonly BoughtOption[]
  vendor_code: string | null
  uses_limit: number
  is_unlimited_use: boolean
  valid_until: number | null
}

/** A purchase that an order should have. */
export interface WantedUnit extends Unit {
  /** Null when the source does not say who holds the purchase. */
  holder_id: string | null
  status: PurchaseStatus
}

/** An item with ids of the catalogue. It stands for `quantity` equal purchases. */
export interface ResolvedItem extends WantedUnit {
  quantity: number
}

export const expandItems = (items: readonly ResolvedItem[]): WantedUnit[] =>
  items.flatMap(({ quantity, ...unit }) => Array.from({ length: quantity }, () => unit))

/** A purchase that an order has. */
export interface ExistingUnit extends Unit {
  holder_id: string
  status: PurchaseStatus
  /** Whether the purchase was cancelled without a refund. An order that wants it again gets a new purchase. */
  is_void: boolean
}

export interface Reconciled<Existing> {
  pairs: { existing: Existing; wanted: WantedUnit }[]
  /** Purchases that the order no longer has. */
  removed: Existing[]
  added: WantedUnit[]
}

type UnitKey = (unit: Unit & { holder_id: string | null; status: PurchaseStatus }) => string

const buildProductKey = (unit: Unit): string =>
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

/** The order in which wanted units take purchases: used ones first, because these can no longer be cancelled. */
const liveStatusOrder: readonly PurchaseStatus[] = ['used', 'active', 'pending', 'expired', 'refunded', 'cancelled']
/** The order in which cancelled units take purchases: first those that can still be cancelled. */
const cancelledStatusOrder: readonly PurchaseStatus[] = [
  'pending',
  'active',
  'refunded',
  'expired',
  'used',
  'cancelled',
]

/** A used purchase pairs with an active unit. */
const normalizeStatus = (status: PurchaseStatus): PurchaseStatus => (status === 'used' ? 'active' : status)

const sortByStatus = <One extends { status: PurchaseStatus }>(
  units: readonly One[],
  order: readonly PurchaseStatus[],
) => units.toSorted((one, other) => order.indexOf(one.status) - order.indexOf(other.status))

interface Pairing<Existing> {
  pairs: Reconciled<Existing>['pairs']
  /** Purchases and units that are not paired. */
  existing: readonly Existing[]
  wanted: readonly WantedUnit[]
}

/** Pairs units with purchases of the same key, one key after the other. The first key is the strictest. */
function pairByKeys<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  keys: readonly UnitKey[],
): Pairing<Existing> {
  let pairing: Pairing<Existing> = { pairs: [], existing, wanted }
  for (const key of keys) {
    if (pairing.existing.length === 0 || pairing.wanted.length === 0) return pairing
    const purchasesByKey = Map.groupBy(pairing.existing, key)
    const pairedPurchases = new Set<Existing>()
    const pairs = [...pairing.pairs]
    const unpairedUnits = pairing.wanted.filter((unit) => {
      const purchase = purchasesByKey.get(key(unit))?.shift()
      if (!purchase) return true
      pairedPurchases.add(purchase)
      pairs.push({ existing: purchase, wanted: unit })
      return false
    })
    pairing = {
      pairs,
      existing: pairing.existing.filter((purchase) => !pairedPurchases.has(purchase)),
      wanted: unpairedUnits,
    }
  }
  return pairing
}

/**
 * Pairs units that name a holder first, then units of the customer, then purchases that change their holder. This order
 * makes a repeated import change nothing.
 */
function pairByHolder<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  keys: { holding: readonly UnitKey[]; others: readonly UnitKey[] },
): Pairing<Existing> {
  const hasHolder = (unit: WantedUnit) => unit.holder_id !== null
  const withHolder = pairByKeys(existing, wanted.filter(hasHolder), keys.holding)
  const withoutHolder = pairByKeys(
    withHolder.existing,
    wanted.filter((unit) => !hasHolder(unit)),
    keys.holding,
  )
  const others = pairByKeys(withoutHolder.existing, [...withHolder.wanted, ...withoutHolder.wanted], keys.others)
  return { ...others, pairs: [...withHolder.pairs, ...withoutHolder.pairs, ...others.pairs] }
}

/**
 * Pairs the purchases of an order with the units that it should have. Units without a purchase are added, purchases
 * without a unit are removed. `customerId` holds the units that name no holder.
 */
export function reconcile<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  customerId: string,
): Reconciled<Existing> {
  const productKeys = new Map<Unit, string>()
  const byProduct: UnitKey = (unit) => {
    const key = productKeys.get(unit) ?? buildProductKey(unit)
    productKeys.set(unit, key)
    return key
  }
  const byHolder: UnitKey = (unit) => `${byProduct(unit)} ${unit.holder_id ?? customerId}`
  const byHolderAndValidity: UnitKey = (unit) => `${byHolder(unit)} ${unit.valid_until}`
  const byEverything: UnitKey = (unit) => `${byHolderAndValidity(unit)} ${normalizeStatus(unit.status)}`
  const byValidity: UnitKey = (unit) => `${byProduct(unit)} ${unit.valid_until}`
  const isCancelled = (unit: WantedUnit) => unit.status === 'cancelled'
  const cancelledUnits = wanted.filter(isCancelled)
  const liveUnits = sortByStatus(
    wanted.filter((unit) => !isCancelled(unit)),
    liveStatusOrder,
  )
  const validPurchases = sortByStatus(
    existing.filter((purchase) => !purchase.is_void),
    liveStatusOrder,
  )
  const live = pairByHolder(validPurchases, liveUnits, {
    holding: [byEverything, byHolderAndValidity, byHolder],
    others: [byValidity, byProduct],
  })
  // A cancelled unit takes a purchase that is already cancelled before any other of the same holder.
  const candidates = [
    ...existing.filter((purchase) => purchase.is_void),
    ...sortByStatus(live.existing, cancelledStatusOrder),
  ]
  const cancelled = pairByHolder(candidates, cancelledUnits, { holding: [byHolder], others: [byProduct] })
  return {
    pairs: [...live.pairs, ...cancelled.pairs],
    removed: cancelled.existing.filter((purchase) => !purchase.is_void),
    added: [...live.wanted, ...cancelled.wanted],
  }
}
