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

/** Statuses in which a batch continues by itself. */
export const workingStatuses: readonly RefundBatchStatus[] = ['counting', 'running']

/** The reasons why a selected purchase is excluded. */
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
export const fullShare = 10_000

export interface BatchTerms {
  /** Hundredths of a percent. */
  share: number
  includes_fees: boolean
  cancels: boolean
}

interface BatchPurchase {
  id: string
  status: PurchaseStatus
  /** Whether the filter selects it. */
  is_chosen: boolean
  /** The amount that is left of it, without regard to the payment. */
  share_minor: number
  reserved_minor: number
}

export interface BatchOrder {
  /** Null for an order without a payment. */
  payment_status: string | null
  payment_rest: number
  payment_reserved: number
  purchases: readonly BatchPurchase[]
}

type LeftOut = Partial<Record<LeftOutReason, number>>

export interface OrderPlan {
  /** The purchases that one request pays back; none for an order that gets no request. */
  purchases: string[]
  amount_minor: number
  left_out: LeftOut
}

function verdict(order: BatchOrder, purchase: BatchPurchase, cancels: boolean): LeftOutReason | null {
  const { payment_status, payment_rest, payment_reserved } = order
  if (!isHeld(purchase.status)) return 'not_held'
  if (payment_status === 'refunded') return 'nothing_left'
  if (payment_status === null || !isPaid(payment_status)) return 'not_paid'
  if (purchase.share_minor > 0 && payment_rest > 0) return null
  if (purchase.reserved_minor > 0 || (purchase.share_minor > 0 && payment_reserved > 0)) return 'already_requested'
  return cancels ? null : 'nothing_left'
}

function addTo(all: LeftOut, reason: LeftOutReason, count: number): void {
  if (count > 0) all[reason] = (all[reason] ?? 0) + count
}

/** The part of an amount, rounded half up to the cent. */
const partOf = (minor: number, share: number): number =>
  Number((BigInt(minor) * BigInt(share) * 2n + BigInt(fullShare)) / BigInt(2 * fullShare))

/**
 * What one request of the batch pays back of an order: the share of what is left of the chosen purchases, and never more
 * than is left of the payment. What a payment has beyond its purchases, a service fee, belongs to those who have all of
 * the order that is still held.
 */
export function planOrder(order: BatchOrder, { share, includes_fees, cancels }: BatchTerms): OrderPlan {
  const left_out: LeftOut = {}
  const taken: BatchPurchase[] = []
  for (const purchase of order.purchases.filter(({ is_chosen }) => is_chosen)) {
    const reason = verdict(order, purchase, cancels)
    if (reason) addTo(left_out, reason, 1)
    else taken.push(purchase)
  }
  const ofPurchases = taken.reduce((sum, { share_minor }) => sum + share_minor, 0)
  const held = order.purchases.filter(({ status }) => isHeld(status)).length
  const hasAll = includes_fees && taken.length === held
  const max = hasAll ? order.payment_rest : Math.min(order.payment_rest, ofPurchases)
  const amount_minor = taken.length ? partOf(max, share) : 0
  if (amount_minor > 0 || (taken.length && cancels))
    return { purchases: taken.map(({ id }) => id), amount_minor, left_out }
  addTo(left_out, 'nothing_left', taken.length)
  return { purchases: [], amount_minor: 0, left_out }
}

/** Which purchases of an edition a batch pays back: those for which all of it holds. */
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

/** The sums over all orders. */
export interface BatchSums {
  orders: number
  purchases: number
  /** Minor units of each currency. */
  amounts: Partial<Record<Currency, number>>
  left_out: LeftOut
}

export const emptySums = (): BatchSums => ({ orders: 0, purchases: 0, amounts: {}, left_out: {} })

export function addPlan(sums: BatchSums, plan: OrderPlan, currency: Currency): void {
  for (const reason of leftOutReasons) addTo(sums.left_out, reason, plan.left_out[reason] ?? 0)
  if (plan.purchases.length === 0) return
  sums.orders++
  sums.purchases += plan.purchases.length
  sums.amounts[currency] = (sums.amounts[currency] ?? 0) + plan.amount_minor
}

/** The same order without a request, for a reason that concerns all of it. */
export function withoutRequest(plan: OrderPlan, reason: LeftOutReason): OrderPlan {
  const left_out = { ...plan.left_out }
  addTo(left_out, reason, plan.purchases.length)
  return { purchases: [], amount_minor: 0, left_out }
}
