import { sql } from 'drizzle-orm'
import { inList } from '../../../db/conditions.ts'
import type { Database } from '../../../db/database.ts'
import type { PurchaseStatus } from '../../../domain/orders/purchases.ts'
import { buildOrderEvent } from '../../order-import/index.ts'
import {
  type PurchaseEventRow,
  purchaseEventColumns,
  purchaseEventJoins,
  buildPurchaseEvent,
} from '../../purchases/index.ts'
import type { Announcement } from '../../webhooks/index.ts'
import { pickCreated, listRestoredPurchases, pickUpdated } from './order-statements.ts'
import type { WrittenOrder } from './written-orders.ts'

const actionsByStatus: Partial<Record<string, 'activated' | 'cancelled'>> = {
  active: 'activated',
  cancelled: 'cancelled',
}

interface Change {
  id: string
  action: 'activated' | 'cancelled'
  status: PurchaseStatus
}

function listChanges(undoneOrders: readonly WrittenOrder[], now: number): Change[] {
  const updatedOrders = pickUpdated(undoneOrders)
  const removedPurchases = [
    ...pickCreated(undoneOrders).flatMap(({ purchases }) => purchases),
    ...updatedOrders.flatMap((one) => one.purchases.filter(({ id }) => one.updateUndo.added_purchases.includes(id))),
  ].filter(({ status }) => status === 'active')
  const statusChanges = updatedOrders.flatMap((one) =>
    listRestoredPurchases(one, now).flatMap(({ purchase, details: { status } }): Change[] => {
      const action = purchase.status === status ? undefined : actionsByStatus[status]
      return action ? [{ id: purchase.id, action, status }] : []
    }),
  )
  return [
    ...removedPurchases.map(({ id }): Change => ({ id, action: 'cancelled', status: 'cancelled' })),
    ...statusChanges,
  ]
}

/** An order that the undo deletes is cancelled, and one that gets its former values back is updated. */
function buildOrderAnnouncements(undoneOrders: readonly WrittenOrder[], now: number): Announcement[] {
  const cancelledStatus = 'cancelled'
  return [
    ...pickCreated(undoneOrders).flatMap(({ order }) =>
      order.status === cancelledStatus
        ? []
        : [buildOrderEvent({ ...order, status: cancelledStatus }, order.status, now)],
    ),
    ...pickUpdated(undoneOrders).map(({ order, updateUndo }) =>
      buildOrderEvent({ ...order, ...updateUndo.order }, order.status, now),
    ),
  ]
}

export async function buildUndoAnnouncements(
  db: Database,
  undoneOrders: readonly WrittenOrder[],
  now: number,
): Promise<Announcement[]> {
  const changes = listChanges(undoneOrders, now)
  const ids = changes.map(({ id }) => id)
  const rows = await db.all(
    sql<PurchaseEventRow>`select ${purchaseEventColumns} from purchases ${purchaseEventJoins}
        where ${inList(sql`purchases.id`, ids)}`,
  )
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  return [
    ...buildOrderAnnouncements(undoneOrders, now),
    ...changes.flatMap(({ id, action, status }) => {
      const purchase = rowsById.get(id)
      return purchase ? [buildPurchaseEvent(purchase, { action, status, occurredAt: now })] : []
    }),
  ]
}
