import { sql } from 'drizzle-orm'
import { requireChanges, requireOneChange, abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { buildPaymentChanges } from '../../../db/refunds.ts'
import { orders, transactions } from '../../../db/schema/orders.ts'
import { rebuildOrderText } from '../../../db/search.ts'
import { isEmpty, update, updateVersion } from '../../../db/write.ts'
import { decideStatusAfterUndo, type RestoredVersions } from '../../../domain/data-imports/import-undo.ts'
import type { PurchaseStatus } from '../../../domain/orders/purchases.ts'
import { buildDetailStatements, type PurchaseDetails, type UpdateUndo } from '../../order-import/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import type { CurrentPurchase, WrittenOrder } from './written-orders.ts'

/** An order that the import updated. */
type UpdatedOrder = WrittenOrder & { updateUndo: UpdateUndo }

export const pickUpdated = (writtenOrders: readonly WrittenOrder[]): UpdatedOrder[] =>
  writtenOrders.flatMap((one) => (one.undo?.updated ? [{ ...one, updateUndo: one.undo.updated }] : []))

export const pickCreated = (writtenOrders: readonly WrittenOrder[]): WrittenOrder[] =>
  writtenOrders.filter(({ undo }) => !undo?.updated)

/** Aborts the transaction when a purchase has changed since it was read. */
function guardPurchases(writtenOrders: readonly WrittenOrder[]): Statement {
  const ids = writtenOrders.map(({ order }) => order.id)
  const versions = writtenOrders.flatMap(({ purchases }) => purchases.map(({ id, version }) => [id, version]))
  return abortUnless(sql`(select count(*) from purchases where ${inList(sql`order_id`, ids)}) = ${versions.length}
    and not exists (select 1 from json_each(${JSON.stringify(versions)}) as expected
      left join purchases on purchases.id = expected.value ->> 0 where purchases.version is not expected.value ->> 1)`)
}

/** Deletes orders after their purchases and transactions. Fails when something new refers to one of the orders. */
function buildDeletions(createdOrders: readonly WrittenOrder[]): Statement[] {
  if (createdOrders.length === 0) return []
  const ids = createdOrders.map(({ order }) => order.id)
  const versions = JSON.stringify(createdOrders.map(({ order }) => [order.id, order.version]))
  return [
    sql`delete from purchases where ${inList(sql`order_id`, ids)}`,
    sql`delete from transactions where ${inList(sql`order_id`, ids)}`,
    sql`delete from orders where (id, version) in (select value ->> 0, value ->> 1 from json_each(${versions}))`,
    requireChanges(ids.length),
  ]
}

/** A purchase with the values that an undo gives back to it. */
interface RestoredPurchase {
  purchase: CurrentPurchase
  details: PurchaseDetails
}

export const listRestoredPurchases = ({ updateUndo, purchases }: UpdatedOrder, now: number): RestoredPurchase[] =>
  updateUndo.purchases.flatMap(({ id, ...before }) => {
    const purchase = purchases.find((one) => one.id === id)
    if (!purchase) return []
    const status = decideStatusAfterUndo(purchase.status, before, now) as PurchaseStatus
    const isSame = purchase.status === status && before.details === undefined
    return isSame ? [] : [{ purchase, details: { ...purchase, ...before.details, status } }]
  })

function buildPurchaseRestorations(one: UpdatedOrder, now: number): Statement[] {
  const restoredPurchases = listRestoredPurchases(one, now)
  const addedIds = one.updateUndo.added_purchases
  const ids = restoredPurchases.map(({ purchase }) => purchase.id)
  return [
    ...(addedIds.length
      ? [sql`delete from purchases where ${inList(sql`id`, addedIds)}`, requireChanges(addedIds.length)]
      : []),
    ...buildDetailStatements(
      restoredPurchases.map(({ purchase, details }) => ({ ...purchase, ...details })),
      now,
    ),
    ...(ids.length ? [markPassesChanged(ids, now)] : []),
  ]
}

/** Restores the values of an updated order. Its version increases, because the order changes. */
function buildRestorations(organizationId: string, one: UpdatedOrder, now: number): Statement[] {
  const { order, updateUndo } = one
  const { payment } = updateUndo
  return [
    ...updateVersion(orders, order, {
      ...updateUndo.order,
      search_text: rebuildOrderText({ ...order, order_number: updateUndo.order.order_number ?? null }),
      modified_at: now,
    }),
    ...(payment && !isEmpty(payment.before)
      ? [
          update(
            transactions,
            buildPaymentChanges(organizationId, payment.before, now),
            // A refund of fees alone changes no purchase, so `guardPurchases` does not notice it.
            sql`id = ${payment.id} and status = ${payment.after.status}
              and refunded_minor = ${payment.after.refunded_minor} and reserved_minor = ${payment.after.reserved_minor}`,
          ),
          requireOneChange(),
        ]
      : []),
    ...buildPurchaseRestorations(one, now),
  ]
}

/** Records how the undo of an updated order changes versions. */
export function listRestoredVersions(one: UpdatedOrder, now: number): RestoredVersions {
  const { order, order_version, updateUndo } = one
  const changedIds = new Set(listRestoredPurchases(one, now).map(({ purchase }) => purchase.id))
  const purchases = updateUndo.purchases.flatMap(({ id, version, former_version = version }) => {
    const currentPurchase = one.purchases.find((purchase) => purchase.id === id)
    const restoredVersion = (currentPurchase?.version ?? version) + Number(changedIds.has(id))
    return restoredVersion === former_version ? [] : [[id, [former_version, restoredVersion] as const] as const]
  })
  return { order: [order_version - 1, order.version + 1], purchases: Object.fromEntries(purchases) }
}

export function buildUndoStatements(
  organizationId: string,
  undoneOrders: readonly WrittenOrder[],
  now: number,
): Statement[] {
  if (undoneOrders.length === 0) return []
  const createdOrders = pickCreated(undoneOrders)
  const updatedOrders = pickUpdated(undoneOrders)
  return [
    guardPurchases(undoneOrders),
    ...buildDeletions(createdOrders),
    ...updatedOrders.flatMap((one) => buildRestorations(organizationId, one, now)),
  ]
}
