import { divideByWeights, type PriceParts } from '../refunds/refund-shares.ts'
import { type BoughtOption, isHeld, type PurchaseStatus } from './purchases.ts'

/** The product of a purchase, and what is paid for it. */
interface Unit extends PriceParts {
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

/** What is paid for a purchase that is no part of the order's amount. */
export const nothingPaid: PriceParts = { price_minor: 0, deposit_minor: 0, handling_fee_minor: 0 }

/**
 * Takes a discount off prices, in proportion to them and exact to the minor unit. What exceeds the prices comes off the
 * deposits, then off the handling fees; the rest is a discount on the service fee.
 */
function applyDiscount<One extends PriceParts>(units: readonly One[], discountMinor: number): One[] {
  let discounted = [...units]
  let rest = discountMinor
  for (const part of ['price_minor', 'deposit_minor', 'handling_fee_minor'] as const) {
    const amounts = discounted.map((unit) => unit[part])
    const discount = Math.min(
      rest,
      amounts.reduce((sum, amount) => sum + amount, 0),
    )
    const shares = divideByWeights(discount, amounts)
    discounted = discounted.map((unit, index) => ({ ...unit, [part]: unit[part] - (shares[index] ?? 0) }))
    rest -= discount
  }
  return discounted
}

/**
 * Lists the purchases that the items stand for, at what is paid for each. The counted items share the discount; nothing is
 * paid for the others.
 */
export function expandItems(
  items: readonly ResolvedItem[],
  counted: readonly ResolvedItem[],
  discountMinor: number,
): WantedUnit[] {
  const countedItems = new Set(counted)
  const units = items.flatMap((item) => {
    const { quantity, ...unit } = item
    return Array.from({ length: quantity }, () => ({ unit, isCounted: countedItems.has(item) }))
  })
  const discounted = applyDiscount(
    units.filter(({ isCounted }) => isCounted).map(({ unit }) => unit),
    discountMinor,
  ).values()
  return units.map(({ unit, isCounted }) =>
    isCounted ? (discounted.next().value ?? unit) : { ...unit, ...nothingPaid },
  )
}

/** A purchase that an order has. */
export interface ExistingUnit extends Unit {
  holder_id: string
  status: PurchaseStatus
  has_uses: boolean
  /** Whether the purchase was cancelled without a refund. An order that wants it again gets a new purchase. */
  is_void: boolean
}

export interface Reconciled<Existing> {
  pairs: { existing: Existing; wanted: WantedUnit }[]
  /** Purchases that the order no longer has. */
  removed: Existing[]
  added: WantedUnit[]
}

type KeyedUnit = Unit & { holder_id: string | null; status: PurchaseStatus }
/** Units with the same key can be paired. A unit without a key is not paired. */
type UnitKey = (unit: KeyedUnit) => string | null

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

const buildPriceKey = ({ price_minor, deposit_minor, handling_fee_minor }: Unit): string =>
  JSON.stringify([price_minor, deposit_minor, handling_fee_minor])

const hasCode = ({ vendor_code }: Unit): boolean => vendor_code !== null

interface KeyOptions {
  /** Who holds the units that name no holder. */
  customerId: string
  /** Purchases take the prices of their units. Otherwise prices do not tell which purchase a unit is. */
  followsPrices: boolean
  /** Codes tell nothing if the source gives none at all. */
  hasCodes: boolean
}

/** The keys of units, from strict to loose. */
function buildKeys({ customerId, followsPrices, hasCodes }: KeyOptions) {
  const getCode = ({ vendor_code }: Unit): string | null => (hasCodes ? vendor_code : null)
  const equalKeys = new Map<Unit, string>()
  const byEqual = (unit: KeyedUnit): string => {
    const options = unit.options.map((option) => option.api_id)
    const { product_id, variant_id, location_id, uses_limit, is_unlimited_use } = unit
    const key =
      equalKeys.get(unit) ??
      JSON.stringify([product_id, variant_id, location_id, options, getCode(unit), uses_limit, is_unlimited_use])
    equalKeys.set(unit, key)
    return key
  }
  const held =
    (key: UnitKey): UnitKey =>
    (unit) => {
      const text = key(unit)
      return text === null ? null : `${text} ${unit.holder_id ?? customerId}`
    }
  const priced =
    (key: UnitKey): UnitKey =>
    (unit) => {
      const text = key(unit)
      return text === null || !followsPrices ? text : `${text} ${buildPriceKey(unit)}`
    }
  const byValidity: UnitKey = (unit) => `${byEqual(unit)} ${unit.valid_until}`
  const byPrice = priced(byValidity)
  const byStatus: UnitKey = (unit) => `${byPrice(unit)} ${normalizeStatus(unit.status)}`
  const byProduct: UnitKey = (unit) => JSON.stringify([unit.product_id, unit.variant_id, getCode(unit)])
  const byVariant: UnitKey = ({ product_id, variant_id }) => JSON.stringify([product_id, variant_id])
  const byVariantValidity: UnitKey = (unit) => `${byVariant(unit)} ${unit.valid_until}`
  const equal = [byPrice, byValidity, byEqual]
  const changed = [priced(byProduct), byProduct, priced(getCode), getCode]
  const recoded = [priced(byVariantValidity), byVariantValidity, byVariant]
  const renamed = [priced(() => ''), () => '']
  return {
    equal,
    equalHeld: [byStatus, ...equal].map(held),
    changed,
    changedHeld: changed.map(held),
    /** A purchase gets its code. */
    recoded: [...recoded.map(held), ...recoded],
    renamed: [...renamed.map(held), ...renamed],
    /** Whether a purchase may be any unit. Its code would be in the source if it were another ticket. */
    mayBeRenamed: (purchase: Unit) => getCode(purchase) === null,
    byEqualHeld: held(byEqual),
    byCodeHeld: held(getCode),
  }
}

interface Pairing<Existing> {
  pairs: Reconciled<Existing>['pairs']
  /** Purchases and units that are not paired. */
  existing: readonly Existing[]
  wanted: readonly WantedUnit[]
}

interface PairingStep<Existing> {
  keys: readonly UnitKey[]
  /** The purchases and units that the step pairs; all by default. */
  existing?: (purchase: Existing) => boolean
  wanted?: (unit: WantedUnit) => boolean
}

/** Pairs units with purchases of the same key, one key after the other. */
function pairUnits<Existing extends ExistingUnit>(
  before: Pairing<Existing>,
  { keys, existing: takesPurchase = () => true, wanted: takesUnit = () => true }: PairingStep<Existing>,
): Pairing<Existing> {
  let pairing = before
  for (const key of keys) {
    if (pairing.existing.length === 0 || pairing.wanted.length === 0) return pairing
    const purchasesByKey = Map.groupBy(pairing.existing.filter(takesPurchase), key)
    purchasesByKey.delete(null)
    const pairedPurchases = new Set<Existing>()
    const pairs = [...pairing.pairs]
    const unpairedUnits = pairing.wanted.filter((unit) => {
      const purchase = takesUnit(unit) ? purchasesByKey.get(key(unit))?.shift() : undefined
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

/** A used purchase that is left over takes the place of an unused one, because it can no longer be cancelled. */
function preferUsed<Existing extends ExistingUnit>(pairing: Pairing<Existing>, key: UnitKey): Pairing<Existing> {
  const leftUsed = Map.groupBy(
    pairing.existing.filter(({ status }) => status === 'used'),
    key,
  )
  leftUsed.delete(null)
  const left = new Set(pairing.existing)
  const pairs = pairing.pairs.map((pair) => {
    if (pair.existing.has_uses) return pair
    const used = leftUsed.get(key(pair.existing))?.shift() ?? leftUsed.get(key(pair.wanted))?.shift()
    if (!used) return pair
    left.delete(used)
    left.add(pair.existing)
    return { ...pair, existing: used }
  })
  return { ...pairing, pairs, existing: [...left] }
}

const hasHolder = ({ holder_id }: WantedUnit): boolean => holder_id !== null
const isCustomers = ({ holder_id }: WantedUnit): boolean => holder_id === null

const listEqualSteps = <Existing extends ExistingUnit>(keys: ReturnType<typeof buildKeys>): PairingStep<Existing>[] => [
  { keys: keys.equalHeld, wanted: hasHolder },
  { keys: keys.equalHeld, wanted: isCustomers },
  { keys: keys.equal },
]

/**
 * A changed unit has the code of its purchase or, if the purchase has no code, its product and variant. A used purchase
 * without a code takes any unit that is left, so that nobody enters again because the source renamed their ticket.
 */
const listChangedSteps = <Existing extends ExistingUnit>(
  keys: ReturnType<typeof buildKeys>,
): PairingStep<Existing>[] => [
  { keys: keys.changedHeld, wanted: hasHolder },
  { keys: keys.changedHeld, wanted: isCustomers },
  { keys: keys.changed },
  { keys: keys.recoded, existing: (purchase) => !hasCode(purchase), wanted: hasCode },
  {
    keys: keys.renamed,
    existing: (purchase) => purchase.has_uses && isHeld(purchase.status) && keys.mayBeRenamed(purchase),
  },
]

const startPairing = <Existing>(existing: readonly Existing[], wanted: readonly WantedUnit[]): Pairing<Existing> => ({
  pairs: [],
  existing,
  wanted,
})

/**
 * Pairs the purchases of an order with the units that it should have. Units that name a holder come before units of the
 * customer, and purchases that change their holder come last, so that a repeated import changes nothing. Units without a
 * purchase are added, purchases without a unit are removed.
 */
export function reconcile<Existing extends ExistingUnit>(
  existing: readonly Existing[],
  wanted: readonly WantedUnit[],
  options: Omit<KeyOptions, 'hasCodes'>,
): Reconciled<Existing> {
  const keys = buildKeys({ ...options, hasCodes: wanted.some(hasCode) })
  const isCancelled = (unit: WantedUnit) => unit.status === 'cancelled'
  const liveUnits = sortByStatus(
    wanted.filter((unit) => !isCancelled(unit)),
    liveStatusOrder,
  )
  const validPurchases = sortByStatus(
    existing.filter((purchase) => !purchase.is_void),
    liveStatusOrder,
  )
  const pairing = [...listEqualSteps<Existing>(keys), ...listChangedSteps<Existing>(keys)].reduce(
    pairUnits,
    startPairing(validPurchases, liveUnits),
  )
  const live = [keys.byEqualHeld, keys.byCodeHeld].reduce(preferUsed, pairing)
  // A cancelled unit takes a purchase that is already cancelled before any equal one.
  const candidates = [
    ...existing.filter((purchase) => purchase.is_void),
    ...sortByStatus(live.existing, cancelledStatusOrder),
  ]
  const cancelledUnits = wanted.filter(isCancelled)
  const cancelled = listEqualSteps<Existing>(keys).reduce(pairUnits, startPairing(candidates, cancelledUnits))
  return {
    pairs: [...live.pairs, ...cancelled.pairs],
    removed: cancelled.existing.filter((purchase) => !purchase.is_void),
    added: [...live.wanted, ...cancelled.wanted],
  }
}
