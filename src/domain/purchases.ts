import { lifecycle } from './lifecycle.ts'
import { isPaid, type OrderStatus } from './orders.ts'

export const purchaseLifecycle = lifecycle('pending', {
  pending: ['active', 'cancelled'],
  active: ['used', 'refunded', 'expired', 'cancelled'],
  used: ['active', 'refunded'],
  refunded: [],
  expired: [],
  cancelled: [],
})
export const purchaseStatuses = purchaseLifecycle.states
export type PurchaseStatus = (typeof purchaseStatuses)[number]

/** What an order's status makes of a purchase that was neither used nor refunded. */
export const purchaseStatusOf: Record<OrderStatus, PurchaseStatus> = {
  pending: 'pending',
  confirmed: 'active',
  completed: 'active',
  cancelled: 'cancelled',
}

/** What was used, paid back or has expired is out of the hands of its order. */
const statusesOfOrder: readonly PurchaseStatus[] = ['pending', 'active']

/** Statuses from which an order takes its purchases to `target`. */
export const orderMovesFrom = (target: PurchaseStatus): PurchaseStatus[] =>
  purchaseLifecycle.sourcesOf(target).filter((status) => statusesOfOrder.includes(status))

interface Refundable {
  status: string
  price_minor: number
  deposit_minor: number
}

/** The most that can be paid back for a purchase, in minor units; fees stay, and nothing is due before it was paid. */
export function refundableMinor(purchase: Refundable, transactionStatus: string | null): number {
  const holds = purchase.status === 'active' || purchase.status === 'used'
  return holds && transactionStatus !== null && isPaid(transactionStatus)
    ? purchase.price_minor + purchase.deposit_minor
    : 0
}

export const availableUses = (purchase: { status: string; uses_limit: number; uses_count: number }): number =>
  purchase.status === 'active' || purchase.status === 'used'
    ? Math.max(0, purchase.uses_limit - purchase.uses_count)
    : 0

/** An option as it was bought. */
export interface BoughtOption {
  api_id: string
  name: string
  price_mod_minor: number
  deposit_mod_minor: number
}
