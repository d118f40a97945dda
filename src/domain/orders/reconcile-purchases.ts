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

/** A purchase that an order is to have. */
export interface WantedUnit extends Unit {
  /** Null where the source does not say who holds it. */
  holder_id: string | null
  status: PurchaseStatus
}

/** An item with the catalogue's ids: so many equal units. */
export interface ResolvedItem extends WantedUnit {
  quantity: number
}

export const unitsOf = (items: readonly ResolvedItem[]): WantedUnit[] =>
  items.flatMap(({ quantity, ...unit }) => Array.from({ length: quantity }, () => unit))

/** A purchase that an order has. */
export interface ExistingUnit extends Unit {
  holder_id: string
  status: PurchaseStatus
  /** Whether the purchase is cancelled and nothing was paid back for it: an order that still has the unit buys it anew. */
  is_void: boolean
}

export interface Reconciled<Existing> {
  kept: { existing: Existing; wanted: WantedUnit }[]
  /** Purchases that the order has no more. */
  dropped: Existing[]
  added: WantedUnit[]
}

type UnitKey = (unit: Unit & { holder_id: string | null; status: PurchaseStatus }) => string

const thingOf = (unit: Unit): string =>
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

/**
 * Which purchase a wanted unit takes first. A used purchase cannot be cancelled any more; one that was paid back is no
 * ticket.
 */
const keepingOrder: readonly PurchaseStatus[] = ['used', 'active', 'pending', 'expired', 'refunded', 'cancelled']
/** A cancelled unit first takes a purchase that can still be cancelled. */
const cancellingOrder: readonly PurchaseStatus[] = ['pending', 'active', 'refunded', 'expired', 'used', 'cancelled']

/** A used purchase counts as an active unit. */
const ticketStatus = (status: PurchaseStatus): PurchaseStatus => (status === 'used' ? 'active' : status)

const sorted = <One extends { status: PurchaseStatus }>(units: readonly One[], order: readonly PurchaseStatus[]) =>
  units.toSorted((one, other) => order.indexOf(one.status) - order.indexOf(other.status))

interface Pairing<Existing> {
  pairs: Reconciled<Existing>['kept']
  /** The remaining units and purchases. */
  existing: readonly Existing[]
  wanted: readonly WantedUnit[]
}

/** Pairs by one key after the other; the first is the strictest. */
function paired<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  keys: readonly UnitKey[],
): Pairing<Existing> {
  let left: Pairing<Existing> = { pairs: [], existing, wanted }
  for (const key of keys) {
    if (left.existing.length === 0 || left.wanted.length === 0) return left
    const waiting = Map.groupBy(left.existing, key)
    const taken = new Set<Existing>()
    const pairs = [...left.pairs]
    const missing = left.wanted.filter((unit) => {
      const same = waiting.get(key(unit))?.shift()
      if (!same) return true
      taken.add(same)
      pairs.push({ existing: same, wanted: unit })
      return false
    })
    left = { pairs, existing: left.existing.filter((one) => !taken.has(one)), wanted: missing }
  }
  return left
}

/**
 * Units with a holder choose before those of the customer, and both before a purchase changes its holder: so
 * the same import again changes nothing.
 */
function pairedByHolder<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  keys: { holding: readonly UnitKey[]; others: readonly UnitKey[] },
): Pairing<Existing> {
  const isNamed = (unit: WantedUnit) => unit.holder_id !== null
  const named = paired(existing, wanted.filter(isNamed), keys.holding)
  const unnamed = paired(
    named.existing,
    wanted.filter((unit) => !isNamed(unit)),
    keys.holding,
  )
  const others = paired(unnamed.existing, [...named.wanted, ...unnamed.wanted], keys.others)
  return { ...others, pairs: [...named.pairs, ...unnamed.pairs, ...others.pairs] }
}

/**
 * How the purchases of an order become the wanted units. Equal ones stay the same, missing ones are added, the rest
 * is dropped: nothing that was bought is forgotten. `customerId` is whose the purchases are that name no holder.
 */
export function reconcile<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  customerId: string,
): Reconciled<Existing> {
  const things = new Map<Unit, string>()
  const sameThing: UnitKey = (unit) => {
    const thing = things.get(unit) ?? thingOf(unit)
    things.set(unit, thing)
    return thing
  }
  const held: UnitKey = (unit) => `${sameThing(unit)} ${unit.holder_id ?? customerId}`
  const heldAsLong: UnitKey = (unit) => `${held(unit)} ${unit.valid_until}`
  const unchanged: UnitKey = (unit) => `${heldAsLong(unit)} ${ticketStatus(unit.status)}`
  const asLong: UnitKey = (unit) => `${sameThing(unit)} ${unit.valid_until}`
  const isCancelled = (unit: WantedUnit) => unit.status === 'cancelled'
  const cancelled = wanted.filter(isCancelled)
  const live = sorted(
    wanted.filter((unit) => !isCancelled(unit)),
    keepingOrder,
  )
  const valid = sorted(
    existing.filter((purchase) => !purchase.is_void),
    keepingOrder,
  )
  const kept = pairedByHolder(valid, live, {
    holding: [unchanged, heldAsLong, held],
    others: [asLong, sameThing],
  })
  // Among purchases of one holder those that are cancelled already come first.
  const ending = [...existing.filter((purchase) => purchase.is_void), ...sorted(kept.existing, cancellingOrder)]
  const ended = pairedByHolder(ending, cancelled, { holding: [held], others: [sameThing] })
  return {
    kept: [...kept.pairs, ...ended.pairs],
    dropped: ended.existing.filter((purchase) => !purchase.is_void),
    added: [...kept.wanted, ...ended.wanted],
  }
}
