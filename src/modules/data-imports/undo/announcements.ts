import type { PurchaseStatus } from '../../../domain/orders/purchases.ts'
import { purchaseAction } from '../../purchases/index.ts'
import type { Announcement } from '../../webhooks/index.ts'
import type { WrittenOrder } from './load-orders.ts'
import { madeOnes, restoredPurchases, updatedOnes } from './order-statements.ts'

const actions: Partial<Record<string, 'activated' | 'cancelled'>> = { active: 'activated', cancelled: 'cancelled' }

/** The events of purchases that an undo deletes or restores. */
export function announcementsOf(undone: readonly WrittenOrder[], now: number): Announcement[] {
  const updated = updatedOnes(undone)
  const gone = [
    ...madeOnes(undone).flatMap(({ purchases }) => purchases),
    ...updated.flatMap((one) => one.purchases.filter(({ id }) => one.updated.added.includes(id))),
  ].filter(({ status }) => status === 'active')
  const moved = updated.flatMap((one) =>
    restoredPurchases(one, now).flatMap(({ purchase, status }) => {
      const action = purchase.status === status ? undefined : actions[status]
      return action ? [{ purchase, action, status: status as PurchaseStatus }] : []
    }),
  )
  const cancelled = gone.map((purchase) => ({ purchase, action: 'cancelled' as const, status: 'cancelled' as const }))
  return [...cancelled, ...moved].map(({ purchase, action, status }) =>
    purchaseAction(purchase, { action, status, occurredAt: now }),
  )
}
