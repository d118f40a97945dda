/**
 * Spreads a total over weights in their proportion, by the largest remainder; of equal remainders the first gets more.
 * The parts add up to the total. While the total is at most the sum of the weights, no part exceeds its weight.
 */
export function spread(total: number, weights: readonly number[]): number[] {
  const sum = BigInt(weights.reduce((all, weight) => all + weight, 0))
  if (sum === 0n) return weights.map(() => 0)
  const exact = weights.map((weight) => BigInt(total) * BigInt(weight))
  const parts = exact.map((product) => Number(product / sum))
  const left = total - parts.reduce((all, part) => all + part, 0)
  const byRemainder = exact
    .map((product, index) => ({ index, remainder: product % sum }))
    .toSorted((one, other) =>
      one.remainder === other.remainder ? one.index - other.index : one.remainder < other.remainder ? 1 : -1,
    )
  for (const { index } of byRemainder.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}

/** The parts of a purchase's price, in the order in which they are paid back. */
export interface PriceParts {
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
}

/** An amount as parts, of which `left` is there: price first, then deposit, then handling fee. */
export function partsOf(amount: number, left: PriceParts): PriceParts {
  const price_minor = Math.min(amount, left.price_minor)
  const deposit_minor = Math.min(amount - price_minor, left.deposit_minor)
  return { price_minor, deposit_minor, handling_fee_minor: amount - price_minor - deposit_minor }
}

export interface Share extends PriceParts {
  purchase_id: string
  amount_minor: number
}

export interface Shared {
  items: Share[]
  /** The amount without a purchase, such as a service fee. */
  service_fee_minor: number
}

/** A purchase with what is left of it, as a whole and in parts. */
export interface Remaining extends PriceParts {
  purchase_id: string
  rest_minor: number
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/**
 * What an amount pays back of each purchase: in proportion to what is left of each. What goes beyond all of them
 * belongs to none.
 */
export function shareOut(amount: number, purchases: readonly Remaining[]): Shared {
  const rests = purchases.map(({ rest_minor }) => rest_minor)
  const ofPurchases = Math.min(amount, sumOf(rests))
  const amounts = spread(ofPurchases, rests)
  const items = purchases.map((purchase, index) => {
    const amount_minor = amounts[index] ?? 0
    return { purchase_id: purchase.purchase_id, amount_minor, ...partsOf(amount_minor, purchase) }
  })
  return { items, service_fee_minor: amount - ofPurchases }
}

/** The same request with a smaller amount: each item in proportion to what it had, and fees last. */
export const shrink = (amount: number, items: readonly Share[]): Shared =>
  shareOut(
    amount,
    items.map((item) => ({ ...item, rest_minor: item.amount_minor })),
  )

/** The parts of a whole request. */
export const totalParts = ({ items, service_fee_minor }: Shared): PriceParts & { service_fee_minor: number } => ({
  price_minor: sumOf(items.map((item) => item.price_minor)),
  deposit_minor: sumOf(items.map((item) => item.deposit_minor)),
  handling_fee_minor: sumOf(items.map((item) => item.handling_fee_minor)),
  service_fee_minor,
})
