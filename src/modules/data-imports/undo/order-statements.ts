import { sql } from 'drizzle-orm'
import { requireChanges, requireOneChange, abortUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { rebuildOrderText } from '../../../db/search.ts'
import { orders, transactions } from '../../../db/schema/sales/orders.ts'
import { buildReferenceChange } from '../../../db/refunds.ts'
import { inList } from '../../../db/visibility.ts'
import { isEmpty, update, updateVersion } from '../../../db/write.ts'
import { decideStatusAfterUndo } from '../../../domain/data-imports/import-undo.ts'
import type { PurchaseStatus } from '../../../domain/orders/purchases.ts'
import { buildDetailStatements, type PurchaseDetails, type UpdatedBefore } from '../../order-import/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import type { UndonePurchase, WrittenOrder } from './load-orders.ts'

type Updated = WrittenOrder & { updated: UpdatedBefore }

export const pickUpdated = (written: readonly WrittenOrder[]): Updated[] =>
  written.flatMap((one) => (one.before?.updated ? [{ ...one, updated: one.before.updated }] : []))

export const pickCreated = (written: readonly WrittenOrder[]): WrittenOrder[] =>
  written.filter(({ before }) => !before?.updated)

/** Holds while the purchases are unchanged since they were read. */
function guardPurchases(written: readonly WrittenOrder[]): Statement {
  const ids = written.map(({ order }) => order.id)
  const versions = written.flatMap(({ purchases }) => purchases.map(({ id, version }) => [id, version]))
  return abortUnless(sql`(select count(*) from purchases where ${inList(sql`order_id`, ids)}) = ${versions.length}
    and not exists (select 1 from json_each(${JSON.stringify(versions)}) as seen
      left join purchases on purchases.id = seen.value ->> 0 where purchases.version is not seen.value ->> 1)`)
}

/** Deletes children first. A new reference to one of the orders makes this fail. */
function buildDeletions(made: readonly WrittenOrder[]): Statement[] {
  if (made.length === 0) return []
  const ids = made.map(({ order }) => order.id)
  const versions = JSON.stringify(made.map(({ order }) => [order.id, order.version]))
  return [
    sql`delete from purchases where ${inList(sql`order_id`, ids)}`,
    sql`delete from transactions where ${inList(sql`order_id`, ids)}`,
    sql`delete from orders where (id, version) in (select value ->> 0, value ->> 1 from json_each(${versions}))`,
    requireChanges(ids.length),
  ]
}

interface Restored {
  purchase: UndonePurchase
  details: PurchaseDetails
}

export const listRestoredPurchases = ({ updated, purchases }: Updated, now: number): Restored[] =>
  updated.purchases.flatMap(({ id, ...before }) => {
    const purchase = purchases.find((one) => one.id === id)
    if (!purchase) return []
    const status = decideStatusAfterUndo(purchase.status, before, now) as PurchaseStatus
    const isSame = purchase.status === status && before.details === undefined
    return isSame ? [] : [{ purchase, details: { ...purchase, ...before.details, status } }]
  })

function buildPurchaseRestorations(one: Updated, now: number): Statement[] {
  const restored = listRestoredPurchases(one, now)
  const { added } = one.updated
  const ids = restored.map(({ purchase }) => purchase.id)
  return [
    ...(added.length ? [sql`delete from purchases where ${inList(sql`id`, added)}`, requireChanges(added.length)] : []),
    ...buildDetailStatements(
      restored.map(({ purchase, details }) => ({ ...purchase, ...details })),
      now,
    ),
    ...(ids.length ? [markPassesChanged(ids, now)] : []),
  ]
}

/** The version increases, because the order changes. */
function buildRestorations(organizationId: string, one: Updated, now: number): Statement[] {
  const { order, updated } = one
  const { payment } = updated
  return [
    ...updateVersion(orders, order, {
      ...updated.order,
      search_text: rebuildOrderText({ ...order, order_number: updated.order.order_number ?? null }),
      modified_at: now,
    }),
    ...(payment && !isEmpty(payment.before)
      ? [
          update(
            transactions,
            { ...payment.before, ...buildReferenceChange(organizationId, payment.before.provider_reference, now) },
            // A refund of fees alone changes no purchase.
            sql`id = ${payment.id} and status = ${payment.after.status}
              and refunded_minor = ${payment.after.refunded_minor} and reserved_minor = ${payment.after.reserved_minor}`,
          ),
          requireOneChange(),
        ]
      : []),
    ...buildPurchaseRestorations(one, now),
  ]
}

export function buildUndoStatements(organizationId: string, undone: readonly WrittenOrder[], now: number): Statement[] {
  if (undone.length === 0) return []
  const createdOrders = pickCreated(undone)
  const updated = pickUpdated(undone)
  return [
    guardPurchases(undone),
    ...buildDeletions(createdOrders),
    ...updated.flatMap((one) => buildRestorations(organizationId, one, now)),
  ]
}
