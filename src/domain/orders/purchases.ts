import { AppError } from '../errors.ts'
import { lifecycle } from '../lifecycle.ts'
import type { OrderStatus } from './orders.ts'

export const purchaseLifecycle = lifecycle('pending', {
  pending: ['active', 'cancelled'],
  active: ['used', 'refunded', 'expired', 'cancelled'],
  // A use is reverted; the purchase of a cancelled order becomes cancelled by that.
  used: ['active', 'refunded', 'cancelled'],
  refunded: [],
  expired: [],
  cancelled: [],
})
export const purchaseStatuses = purchaseLifecycle.states
export type PurchaseStatus = (typeof purchaseStatuses)[number]

/** The status of a purchase that was neither used nor refunded, by the status of its order. */
export const purchaseStatusByOrderStatus: Record<OrderStatus, PurchaseStatus> = {
  pending: 'pending',
  confirmed: 'active',
  completed: 'active',
  cancelled: 'cancelled',
}

/** A change of an order leaves used, refunded and expired purchases as they are. */
const statusesThatOrdersChange: readonly PurchaseStatus[] = ['pending', 'active']

/** Statuses that can still change. The validity of such a purchase can change, too. */
export const openPurchaseStatuses: readonly PurchaseStatus[] = purchaseStatuses.filter(
  (status) => !purchaseLifecycle.isTerminal(status),
)

/** Lists the statuses from which a change of the order moves its purchases to `target`. */
export const listStatusesMovedByOrder = (target: PurchaseStatus): PurchaseStatus[] =>
  purchaseLifecycle.sourcesOf(target).filter((status) => statusesThatOrdersChange.includes(status))

/** Statuses in which a customer holds the purchase, so that it can be refunded. */
export const heldStatuses: readonly PurchaseStatus[] = ['active', 'used']

export const isHeld = (status: PurchaseStatus): status is (typeof heldStatuses)[number] => heldStatuses.includes(status)

interface UseCounts {
  status: PurchaseStatus
  uses_limit: number
  uses_count: number
  is_unlimited_use: boolean
}

/** Returns the uses that are left. For unlimited purchases the number never decreases. */
export function countAvailableUses(purchase: UseCounts): number {
  if (!isHeld(purchase.status)) return 0
  if (purchase.is_unlimited_use) return purchase.uses_limit
  return Math.max(0, purchase.uses_limit - purchase.uses_count)
}

/** Computes the status of a purchase that is no longer used or refunded: one of a cancelled order is not valid again. */
export const computeRestoredStatus = (status: PurchaseStatus, orderStatus: OrderStatus): PurchaseStatus =>
  orderStatus === 'cancelled' && status === 'active' ? 'cancelled' : status

/** The most uses of one request, and of one purchase that has a limit. */
export const maxUses = 10_000

interface ExpiringUseCounts extends UseCounts {
  /** Milliseconds UTC; null for a purchase that does not expire. */
  valid_until: number | null
}

const unusableDetails: Readonly<Record<Exclude<PurchaseStatus, 'active' | 'used'>, string>> = {
  pending: 'This purchase is not paid yet.',
  refunded: 'This purchase was refunded.',
  cancelled: 'This purchase was cancelled.',
  expired: 'This purchase is no longer valid.',
}

const buildNotUsableError = (current_status: keyof typeof unusableDetails): AppError =>
  new AppError('purchase_not_usable', unusableDetails[current_status], { extra: { current_status } })

const hasExpired = ({ valid_until }: ExpiringUseCounts, now: number): boolean =>
  valid_until !== null && valid_until <= now

/**
 * Computes the status after these uses. Throws `no_uses_left`, or `purchase_not_usable`, also for a purchase whose
 * validity is over but whose status no job has changed yet.
 */
export function computeStatusAfterUse(purchase: ExpiringUseCounts, quantity: number, now: number): 'active' | 'used' {
  const { status } = purchase
  if (status !== 'active' && status !== 'used') throw buildNotUsableError(status)
  if (status === 'active' && hasExpired(purchase, now)) throw buildNotUsableError('expired')
  if (purchase.is_unlimited_use) return 'active'
  const usesLeft = countAvailableUses(purchase)
  if (status === 'active' && quantity <= usesLeft) return quantity === usesLeft ? 'used' : 'active'
  const detail =
    usesLeft === 0
      ? 'This purchase has no uses left.'
      : `This purchase has only ${usesLeft} ${usesLeft === 1 ? 'use' : 'uses'} left.`
  throw new AppError('no_uses_left', detail, { extra: { current_status: status, available_uses: usesLeft } })
}

/** Throws `purchase_not_usable` unless a use of the purchase can be reverted. */
export function checkRevertible({ status }: { status: PurchaseStatus }): void {
  if (!isHeld(status)) throw buildNotUsableError(status)
}

export interface BoughtOption {
  api_id: string
  name: string
  price_mod_minor: number
  deposit_mod_minor: number
}
