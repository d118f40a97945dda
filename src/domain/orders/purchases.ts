import { AppError } from '../errors.ts'
import { lifecycle } from '../lifecycle.ts'
import type { OrderStatus } from './orders.ts'

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

/** The status of a purchase that was neither used nor refunded, by the order's status. */
export const purchaseStatusOf: Record<OrderStatus, PurchaseStatus> = {
  pending: 'pending',
  confirmed: 'active',
  completed: 'active',
  cancelled: 'cancelled',
}

/** Statuses that an order may change. Used, refunded and expired purchases stay as they are. */
const statusesOfOrder: readonly PurchaseStatus[] = ['pending', 'active']

/** Statuses that a purchase may still leave: its validity can be changed. */
export const openStatuses: readonly PurchaseStatus[] = purchaseStatuses.filter(
  (status) => !purchaseLifecycle.isTerminal(status),
)

/** Statuses from which an order takes its purchases to `target`. */
export const orderMovesFrom = (target: PurchaseStatus): PurchaseStatus[] =>
  purchaseLifecycle.sourcesOf(target).filter((status) => statusesOfOrder.includes(status))

/** Statuses in which a purchase is its holder's: uses are counted, and its price can be paid back. */
export const heldStatuses: readonly PurchaseStatus[] = ['active', 'used']

export const isHeld = (status: PurchaseStatus): status is (typeof heldStatuses)[number] =>
  heldStatuses.some((held) => held === status)

interface CountedUses {
  status: PurchaseStatus
  uses_limit: number
  uses_count: number
  is_unlimited_use: boolean
}

/** Uses that are left. Of a purchase without a limit none is ever taken away. */
export function availableUses(purchase: CountedUses): number {
  if (!isHeld(purchase.status)) return 0
  if (purchase.is_unlimited_use) return purchase.uses_limit
  return Math.max(0, purchase.uses_limit - purchase.uses_count)
}

/** The most uses of one request, and of one purchase that has a limit. */
export const maxUses = 10_000

interface Usable extends CountedUses {
  /** Milliseconds UTC; null for a purchase that does not end by itself. */
  valid_until: number | null
}

const notUsable: Readonly<Record<Exclude<PurchaseStatus, 'active' | 'used'>, string>> = {
  pending: 'This purchase is not paid yet.',
  refunded: 'This purchase was refunded.',
  cancelled: 'This purchase was cancelled.',
  expired: 'This purchase is no longer valid.',
}

const refused = (current_status: keyof typeof notUsable): AppError =>
  new AppError('purchase_not_usable', notUsable[current_status], { extra: { current_status } })

const isOver = ({ valid_until }: Usable, now: number): boolean => valid_until !== null && valid_until <= now

/**
 * The status after that many uses. Throws `purchase_not_usable`, also when the validity is over and no job has written
 * it down yet, and `no_uses_left`.
 */
export function statusAfterUse(purchase: Usable, quantity: number, now: number): 'active' | 'used' {
  const { status } = purchase
  if (status !== 'active' && status !== 'used') throw refused(status)
  if (status === 'active' && isOver(purchase, now)) throw refused('expired')
  if (purchase.is_unlimited_use) return 'active'
  const left = availableUses(purchase)
  if (status === 'active' && quantity <= left) return quantity === left ? 'used' : 'active'
  const detail = left === 0 ? 'This purchase has no uses left.' : `This purchase has only ${left} of these uses left.`
  throw new AppError('no_uses_left', detail, { extra: { current_status: status, available_uses: left } })
}

/** Throws `purchase_not_usable` unless a use of the purchase can be reverted. */
export function checkRevertible({ status }: { status: PurchaseStatus }): void {
  if (!isHeld(status)) throw refused(status)
}

/** An option of a purchase. */
export interface BoughtOption {
  api_id: string
  name: string
  price_mod_minor: number
  deposit_mod_minor: number
}
