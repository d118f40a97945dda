/**
 * Divides a total in proportion to weights, by the largest remainder; of equal remainders the first gets more. The
 * parts add up to the total. While the total is at most the sum of the weights, no part exceeds its weight.
 */
export function divideByWeights(total: number, weights: readonly number[]): number[] {
  const sum = BigInt(weights.reduce((all, weight) => all + weight, 0))
  if (sum === 0n) return weights.map(() => 0)
  const products = weights.map((weight) => BigInt(total) * BigInt(weight))
  const parts = products.map((product) => Number(product / sum))
  const remainingCents = total - parts.reduce((all, part) => all + part, 0)
  const byRemainder = products
    .map((product, index) => ({ index, remainder: product % sum }))
    .toSorted((one, other) =>
      one.remainder === other.remainder ? one.index - other.index : one.remainder < other.remainder ? 1 : -1,
    )
  for (const { index } of byRemainder.slice(0, remainingCents)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}

/** The parts of the price of a purchase, in the order in which they are paid back. */
export interface PriceParts {
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
}

/** Splits an amount into what is left of each part: price first, then deposit, then handling fee. */
export function splitAmount(amount: number, remainingParts: PriceParts): PriceParts {
  const price_minor = Math.min(amount, remainingParts.price_minor)
  const deposit_minor = Math.min(amount - price_minor, remainingParts.deposit_minor)
  return { price_minor, deposit_minor, handling_fee_minor: amount - price_minor - deposit_minor }
}

export interface Share extends PriceParts {
  purchase_id: string
  amount_minor: number
}

export interface RefundShares {
  items: Share[]
  /** The amount without a purchase, such as a service fee. */
  service_fee_minor: number
}

/** The amount that is left of a purchase, in total and by part. */
export interface RemainingPrice extends PriceParts {
  purchase_id: string
  remaining_minor: number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/**
 * Divides an amount among purchases in proportion to what is left of each. The amount beyond them is the service fee.
 */
export function shareAmount(amount: number, purchases: readonly RemainingPrice[]): RefundShares {
  const remainingAmounts = purchases.map(({ remaining_minor }) => remaining_minor)
  const purchasesAmount = Math.min(amount, sum(remainingAmounts))
  const amounts = divideByWeights(purchasesAmount, remainingAmounts)
  const items = purchases.map((purchase, index) => {
    const amount_minor = amounts[index] ?? 0
    return { purchase_id: purchase.purchase_id, amount_minor, ...splitAmount(amount_minor, purchase) }
  })
  return { items, service_fee_minor: amount - purchasesAmount }
}

/** Lowers the amount of a request. Each item keeps its proportion. */
export const shrinkShares = (amount: number, items: readonly Share[]): RefundShares =>
  shareAmount(
    amount,
    items.map((item) => ({ ...item, remaining_minor: item.amount_minor })),
  )

/** Adds up the parts of all items. */
export const sumParts = ({ items, service_fee_minor }: RefundShares): PriceParts & { service_fee_minor: number } => ({
  price_minor: sum(items.map((item) => item.price_minor)),
  deposit_minor: sum(items.map((item) => item.deposit_minor)),
  handling_fee_minor: sum(items.map((item) => item.handling_fee_minor)),
  service_fee_minor,
})
