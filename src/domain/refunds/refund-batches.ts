import { lifecycle } from '../lifecycle.ts'
import type { Currency } from '../money.ts'
import { isPaid } from '../orders/orders.ts'
import { isHeld, type PurchaseStatus } from '../orders/purchases.ts'

export const refundBatchLifecycle = lifecycle('counting', {
  counting: ['draft', 'cancelled'],
  draft: ['running', 'cancelled'],
  running: ['finished', 'cancelled'],
  finished: [],
  cancelled: [],
})
export const refundBatchStatuses = refundBatchLifecycle.states
export type RefundBatchStatus = (typeof refundBatchStatuses)[number]

/** Statuses in which a job works on the batch. */
export const workingStatuses: readonly RefundBatchStatus[] = ['counting', 'running']

/** Reasons why a purchase that matches the filter gets no request. */
export const leftOutReasons = [
  'not_held',
  'not_paid',
  'already_requested',
  'nothing_left',
  'merchant_not_ready',
  'beyond_draft',
] as const
export type LeftOutReason = (typeof leftOutReasons)[number]

/** 100 percent in hundredths of a percent. */
export const fullPercent = 10_000

export interface BatchTerms {
  percent_hundredths: number
  includes_fees: boolean
  cancels: boolean
}

interface BatchPurchase {
  id: string
  status: PurchaseStatus
  /** True if the filter matches it. */
  is_chosen: boolean
  /** The amount that is left of the purchase, whatever is left of its payment. */
  share_minor: number
  reserved_minor: number
}

export interface BatchOrder {
  /** Null for an order without a payment. */
  payment_status: string | null
  payment_remaining: number
  payment_reserved: number
  purchases: readonly BatchPurchase[]
}

type LeftOut = Partial<Record<LeftOutReason, number>>

export interface OrderPlan {
  /** The purchases that the request pays back. An order without any gets no request. */
  purchases: string[]
  amount_minor: number
  left_out: LeftOut
}

function findExclusion(order: BatchOrder, purchase: BatchPurchase, cancels: boolean): LeftOutReason | null {
  const { payment_status, payment_remaining, payment_reserved } = order
  if (!isHeld(purchase.status)) return 'not_held'
  if (payment_status === 'refunded') return 'nothing_left'
  if (payment_status === null || !isPaid(payment_status)) return 'not_paid'
  if (purchase.share_minor > 0 && payment_remaining > 0) return null
  if (purchase.reserved_minor > 0 || (purchase.share_minor > 0 && payment_reserved > 0)) return 'already_requested'
  return cancels ? null : 'nothing_left'
}

function addLeftOut(counts: LeftOut, reason: LeftOutReason, count: number): void {
  if (count > 0) counts[reason] = (counts[reason] ?? 0) + count
}

/** Takes a percentage of an amount, rounded half up to the cent. */
const takePercent = (minor: number, hundredths: number): number =>
  Number((BigInt(minor) * BigInt(hundredths) * 2n + BigInt(fullPercent)) / BigInt(2 * fullPercent))

/**
 * Plans what the batch pays back of an order: a percentage of what is left of the chosen purchases, and at most what is
 * left of the payment. The service fee is paid back only when the batch chooses all purchases that are still held.
 */
export function planOrder(order: BatchOrder, { percent_hundredths, includes_fees, cancels }: BatchTerms): OrderPlan {
  const left_out: LeftOut = {}
  const includedPurchases: BatchPurchase[] = []
  for (const purchase of order.purchases.filter(({ is_chosen }) => is_chosen)) {
    const reason = findExclusion(order, purchase, cancels)
    if (reason) addLeftOut(left_out, reason, 1)
    else includedPurchases.push(purchase)
  }
  const remainingOfPurchases = includedPurchases.reduce((sum, { share_minor }) => sum + share_minor, 0)
  const heldCount = order.purchases.filter(({ status }) => isHeld(status)).length
  const hasAll = includes_fees && includedPurchases.length === heldCount
  const max = hasAll ? order.payment_remaining : Math.min(order.payment_remaining, remainingOfPurchases)
  const amount_minor = includedPurchases.length ? takePercent(max, percent_hundredths) : 0
  if (amount_minor > 0 || (includedPurchases.length && cancels))
    return { purchases: includedPurchases.map(({ id }) => id), amount_minor, left_out }
  addLeftOut(left_out, 'nothing_left', includedPurchases.length)
  return { purchases: [], amount_minor: 0, left_out }
}

/** A purchase matches when it meets all conditions. */
export interface BatchFilter {
  product_id?: string | undefined
  variant_id?: string | undefined
  location_id?: string | undefined
  status?: 'active' | 'used' | undefined
  uses?: 'unused' | 'used' | undefined
  /** Milliseconds UTC. */
  created_after?: number | undefined
  created_before?: number | undefined
}

export interface BatchSums {
  orders: number
  purchases: number
  /** Minor units by currency. */
  amounts: Partial<Record<Currency, number>>
  left_out: LeftOut
}

export const buildEmptySums = (): BatchSums => ({ orders: 0, purchases: 0, amounts: {}, left_out: {} })

export function addPlan(sums: BatchSums, plan: OrderPlan, currency: Currency): void {
  for (const reason of leftOutReasons) addLeftOut(sums.left_out, reason, plan.left_out[reason] ?? 0)
  if (plan.purchases.length === 0) return
  sums.orders++
  sums.purchases += plan.purchases.length
  sums.amounts[currency] = (sums.amounts[currency] ?? 0) + plan.amount_minor
}

/** Excludes all purchases of an order from a plan, for the same reason. */
export function excludeOrder(plan: OrderPlan, reason: LeftOutReason): OrderPlan {
  const left_out = { ...plan.left_out }
  addLeftOut(left_out, reason, plan.purchases.length)
  return { purchases: [], amount_minor: 0, left_out }
}
