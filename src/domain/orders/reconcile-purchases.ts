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

/** An amount that is paid for a purchase and is no part of the order's amount. */
export const nothingPaid: PriceParts = { price_minor: 0, deposit_minor: 0, handling_fee_minor: 0 }

/**
 * Takes a discount off prices, in proportion to them and exact to the minor unit. What exceeds the prices comes off the
 * deposits, then off the handling fees; the rest is a discount on the service fee.
 */
function applyDiscount<Priced extends PriceParts>(units: readonly Priced[], discountMinor: number): Priced[] {
  let discountedUnits = [...units]
  let remainingDiscount = discountMinor
  for (const part of ['price_minor', 'deposit_minor', 'handling_fee_minor'] as const) {
    const amounts = discountedUnits.map((unit) => unit[part])
    const discount = Math.min(
      remainingDiscount,
      amounts.reduce((sum, amount) => sum + amount, 0),
    )
    const shares = divideByWeights(discount, amounts)
    discountedUnits = discountedUnits.map((unit, index) => ({ ...unit, [part]: unit[part] - (shares[index] ?? 0) }))
    remainingDiscount -= discount
  }
  return discountedUnits
}

/**
 * Lists the purchases that the items stand for, at what is paid for each. The counted items share the discount; nothing is
 * paid for the others.
 */
export function expandItems(
  items: readonly ResolvedItem[],
  countedItems: readonly ResolvedItem[],
  discountMinor: number,
): WantedUnit[] {
  const countedSet = new Set(countedItems)
  const units = items.flatMap((item) => {
    const { quantity, ...unit } = item
    return Array.from({ length: quantity }, () => ({ unit, isCounted: countedSet.has(item) }))
  })
  const discountedUnits = applyDiscount(
    units.filter(({ isCounted }) => isCounted).map(({ unit }) => unit),
    discountMinor,
  ).values()
  return units.map(({ unit, isCounted }) =>
    isCounted ? (discountedUnits.next().value ?? unit) : { ...unit, ...nothingPaid },
  )
}

/** A purchase that an order has. */
export interface ExistingUnit extends Unit {
  holder_id: string
  status: PurchaseStatus
  has_uses: boolean
  /** True if the purchase was cancelled without a refund. An order that wants it again gets a new purchase. */
  is_void: boolean
}

export interface Reconciliation<Purchase> {
  pairs: { purchase: Purchase; unit: WantedUnit }[]
  /** Purchases that the order should no longer have. */
  surplusPurchases: Purchase[]
  /** Units that need a new purchase. */
  newUnits: WantedUnit[]
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

const sortByStatus = <Sorted extends { status: PurchaseStatus }>(
  units: readonly Sorted[],
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

/** Builds lists of keys, each from strict to loose. */
function buildKeys({ customerId, followsPrices, hasCodes }: KeyOptions) {
  const getCode = ({ vendor_code }: Unit): string | null => (hasCodes ? vendor_code : null)
  const equalityKeys = new Map<Unit, string>()
  const byEquality = (unit: KeyedUnit): string => {
    const options = unit.options.map((option) => option.api_id)
    const { product_id, variant_id, location_id, uses_limit, is_unlimited_use } = unit
    const key =
      equalityKeys.get(unit) ??
      JSON.stringify([product_id, variant_id, location_id, options, getCode(unit), uses_limit, is_unlimited_use])
    equalityKeys.set(unit, key)
    return key
  }
  const addHolder =
    (getKey: UnitKey): UnitKey =>
    (unit) => {
      const key = getKey(unit)
      return key === null ? null : `${key} ${unit.holder_id ?? customerId}`
    }
  const addPrice =
    (getKey: UnitKey): UnitKey =>
    (unit) => {
      const key = getKey(unit)
      return key === null || !followsPrices ? key : `${key} ${buildPriceKey(unit)}`
    }
  const byValidity: UnitKey = (unit) => `${byEquality(unit)} ${unit.valid_until}`
  const byPrice = addPrice(byValidity)
  const byStatus: UnitKey = (unit) => `${byPrice(unit)} ${normalizeStatus(unit.status)}`
  const byProduct: UnitKey = (unit) => JSON.stringify([unit.product_id, unit.variant_id, getCode(unit)])
  const byVariant: UnitKey = ({ product_id, variant_id }) => JSON.stringify([product_id, variant_id])
  const byVariantValidity: UnitKey = (unit) => `${byVariant(unit)} ${unit.valid_until}`
  const forEqualUnits = [byPrice, byValidity, byEquality]
  const forChangedUnits = [addPrice(byProduct), byProduct, addPrice(getCode), getCode]
  const forNewCodes = [addPrice(byVariantValidity), byVariantValidity, byVariant]
  const forRenamedUnits = [addPrice(() => ''), () => '']
  return {
    forEqualUnits,
    forEqualUnitsOfHolder: [byStatus, ...forEqualUnits].map(addHolder),
    forChangedUnits,
    forChangedUnitsOfHolder: forChangedUnits.map(addHolder),
    /** The keys of purchases that get a code. */
    forNewCodes: [...forNewCodes.map(addHolder), ...forNewCodes],
    forRenamedUnits: [...forRenamedUnits.map(addHolder), ...forRenamedUnits],
    /** True if a purchase may be any unit. Its code would be in the source if it were another ticket. */
    mayBeRenamed: (purchase: Unit) => getCode(purchase) === null,
    byEqualityAndHolder: addHolder(byEquality),
    byCodeAndHolder: addHolder(getCode),
  }
}

type Keys = ReturnType<typeof buildKeys>

interface Pairing<Purchase> {
  pairs: Reconciliation<Purchase>['pairs']
  unpairedPurchases: readonly Purchase[]
  unpairedUnits: readonly WantedUnit[]
}

interface PairingStep<Purchase> {
  keys: readonly UnitKey[]
  /** The purchases and units that the step pairs; all by default. */
  takesPurchase?: (purchase: Purchase) => boolean
  takesUnit?: (unit: WantedUnit) => boolean
}

/** Pairs units with purchases of the same key, one key after the other. */
function pairUnits<Purchase extends ExistingUnit>(
  before: Pairing<Purchase>,
  { keys, takesPurchase = () => true, takesUnit = () => true }: PairingStep<Purchase>,
): Pairing<Purchase> {
  let pairing = before
  for (const getKey of keys) {
    if (pairing.unpairedPurchases.length === 0 || pairing.unpairedUnits.length === 0) return pairing
    const purchasesByKey = Map.groupBy(pairing.unpairedPurchases.filter(takesPurchase), getKey)
    purchasesByKey.delete(null)
    const pairedPurchases = new Set<Purchase>()
    const pairs = [...pairing.pairs]
    const unpairedUnits = pairing.unpairedUnits.filter((unit) => {
      const purchase = takesUnit(unit) ? purchasesByKey.get(getKey(unit))?.shift() : undefined
      if (!purchase) return true
      pairedPurchases.add(purchase)
      pairs.push({ purchase, unit })
      return false
    })
    const unpairedPurchases = pairing.unpairedPurchases.filter((purchase) => !pairedPurchases.has(purchase))
    pairing = { pairs, unpairedPurchases, unpairedUnits }
  }
  return pairing
}

/** Gives the place of an unused purchase to a used one that has no unit, because it can no longer be cancelled. */
function preferUsed<Purchase extends ExistingUnit>(pairing: Pairing<Purchase>, getKey: UnitKey): Pairing<Purchase> {
  const usedPurchases = Map.groupBy(
    pairing.unpairedPurchases.filter(({ status }) => status === 'used'),
    getKey,
  )
  usedPurchases.delete(null)
  const unpairedPurchases = new Set(pairing.unpairedPurchases)
  const pairs = pairing.pairs.map((pair) => {
    const { purchase, unit } = pair
    if (purchase.has_uses) return pair
    const usedPurchase = usedPurchases.get(getKey(purchase))?.shift() ?? usedPurchases.get(getKey(unit))?.shift()
    if (!usedPurchase) return pair
    unpairedPurchases.delete(usedPurchase)
    unpairedPurchases.add(purchase)
    return { purchase: usedPurchase, unit }
  })
  return { ...pairing, pairs, unpairedPurchases: [...unpairedPurchases] }
}

const hasHolder = ({ holder_id }: WantedUnit): boolean => holder_id !== null
const isHeldByCustomer = ({ holder_id }: WantedUnit): boolean => holder_id === null

const listEqualSteps = <Purchase extends ExistingUnit>(keys: Keys): PairingStep<Purchase>[] => [
  { keys: keys.forEqualUnitsOfHolder, takesUnit: hasHolder },
  { keys: keys.forEqualUnitsOfHolder, takesUnit: isHeldByCustomer },
  { keys: keys.forEqualUnits },
]

/**
 * A changed unit has the code of its purchase or, if the purchase has no code, its product and variant. A used purchase
 * without a code takes any unit that is left, so that nobody enters again because the source renamed their ticket.
 */
const listChangedSteps = <Purchase extends ExistingUnit>(keys: Keys): PairingStep<Purchase>[] => [
  { keys: keys.forChangedUnitsOfHolder, takesUnit: hasHolder },
  { keys: keys.forChangedUnitsOfHolder, takesUnit: isHeldByCustomer },
  { keys: keys.forChangedUnits },
  { keys: keys.forNewCodes, takesPurchase: (purchase) => !hasCode(purchase), takesUnit: hasCode },
  {
    keys: keys.forRenamedUnits,
    takesPurchase: (purchase) => purchase.has_uses && isHeld(purchase.status) && keys.mayBeRenamed(purchase),
  },
]

const startPairing = <Purchase>(purchases: readonly Purchase[], units: readonly WantedUnit[]): Pairing<Purchase> => ({
  pairs: [],
  unpairedPurchases: purchases,
  unpairedUnits: units,
})

const isCancelled = (unit: WantedUnit): boolean => unit.status === 'cancelled'

/**
 * Pairs the purchases of an order with the units that it should have. Units that name a holder come before units of the
 * customer, and purchases that change their holder come last, so that a repeated import changes nothing. A unit without a
 * purchase is new, and a purchase without a unit is surplus.
 */
export function reconcilePurchases<Purchase extends ExistingUnit>(
  purchases: readonly Purchase[],
  units: readonly WantedUnit[],
  options: Omit<KeyOptions, 'hasCodes'>,
): Reconciliation<Purchase> {
  const keys = buildKeys({ ...options, hasCodes: units.some(hasCode) })
  const liveUnits = sortByStatus(
    units.filter((unit) => !isCancelled(unit)),
    liveStatusOrder,
  )
  const validPurchases = sortByStatus(
    purchases.filter((purchase) => !purchase.is_void),
    liveStatusOrder,
  )
  const steps = [...listEqualSteps<Purchase>(keys), ...listChangedSteps<Purchase>(keys)]
  const pairing = steps.reduce(pairUnits, startPairing(validPurchases, liveUnits))
  const livePairing = [keys.byEqualityAndHolder, keys.byCodeAndHolder].reduce(preferUsed, pairing)
  // A cancelled unit takes a purchase that is already cancelled before any equal one.
  const candidates = [
    ...purchases.filter((purchase) => purchase.is_void),
    ...sortByStatus(livePairing.unpairedPurchases, cancelledStatusOrder),
  ]
  const cancelledPairing = listEqualSteps<Purchase>(keys).reduce(
    pairUnits,
    startPairing(candidates, units.filter(isCancelled)),
  )
  return {
    pairs: [...livePairing.pairs, ...cancelledPairing.pairs],
    surplusPurchases: cancelledPairing.unpairedPurchases.filter((purchase) => !purchase.is_void),
    newUnits: [...livePairing.unpairedUnits, ...cancelledPairing.unpairedUnits],
  }
}
