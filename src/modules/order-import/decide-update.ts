import { paymentAfter, takenBack } from '../../domain/data-imports/imported-amounts.ts'
import { isPaid, paymentStatusByOrderStatus, wasCaptured } from '../../domain/orders/orders.ts'
import { openPurchaseStatuses, listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import { type ExistingUnit, reconcile, type Reconciled, expandItems } from '../../domain/orders/reconcile-purchases.ts'
import { pickChanges } from '../../db/write.ts'
import {
  orderColumns,
  type OrderDecision,
  type Placement,
  providerColumns,
  purchaseChanges,
  purchaseRows,
} from './order-rows.ts'
import type { PurchaseRow, TransactionRow } from './state.ts'
import { type DecisionContext, insertOf, type PurchaseChange, type Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

/** An order that exists, with what it has. */
export interface ExistingOrder {
  order: OrderRow
  purchases: readonly PurchaseRow[]
  payment: TransactionRow | undefined
}

type ExistingPurchase = ExistingUnit & { row: PurchaseRow }
type Kept = Reconciled<ExistingPurchase>['pairs'][number]

/** What was paid back, by itself or with the whole order, is not bought anew. */
const unitOf = (row: PurchaseRow, payment: TransactionRow | undefined): ExistingPurchase => ({
  product_id: row.product_id,
  variant_id: row.variant_id,
  location_id: row.location_id,
  options: row.options,
  vendor_code: row.vendor_code,
  price_minor: row.price_minor,
  deposit_minor: row.deposit_minor,
  handling_fee_minor: row.handling_fee_minor,
  uses_limit: row.uses_limit,
  is_unlimited_use: row.is_unlimited_use,
  valid_until: row.valid_until,
  holder_id: row.user_id,
  status: row.status,
  is_void: row.status === 'cancelled' && takenBack(row) === 0 && payment?.status !== 'refunded',
  row,
})

/**
 * What becomes of the payment: it has the order's fees with its amount, and stays where it was paid once money went
 * back.
 */
function paymentWrites(placement: Placement, row: TransactionRow, after: ReturnType<typeof paymentAfter>): Write[] {
  const { order, totals } = placement
  const { service_fee_minor, handling_fee_minor } = totals
  const provider = order.payment && takenBack(row) === 0 ? providerColumns(order.payment) : {}
  const fees = after.follows ? { service_fee_minor, handling_fee_minor } : {}
  return [{ write: 'payment', payment: row, changes: pickChanges(row, { ...after.payment, ...fees, ...provider }) }]
}

/** Purchases that are somebody else's now: those of the former customer follow the order, others follow their item. */
function newHolders(
  existing: ExistingOrder,
  kept: readonly Kept[],
  customerId: string,
): { id: string; user_id: string }[] {
  const wanted = new Map(kept.map((one) => [one.existing.row.id, one.wanted.holder_id]))
  return existing.purchases.flatMap(({ id, user_id }) => {
    const holder = wanted.get(id) ?? (user_id === existing.order.user_id ? customerId : user_id)
    return holder === user_id ? [] : [{ id, user_id: holder }]
  })
}

/** Kept purchases with another validity; what was refunded, cancelled or has expired stays as it is. */
const newValidity = (kept: readonly Kept[]): { id: string; valid_until: number | null }[] =>
  kept.flatMap(({ existing: { row, status }, wanted: { valid_until } }) =>
    valid_until !== row.valid_until && openPurchaseStatuses.includes(status) ? [{ id: row.id, valid_until }] : [],
  )

/** Purchases by the status that they get. Those that were used, were paid back or have expired stay what they are. */
function moves({ pairs, removed }: Reconciled<ExistingPurchase>): [PurchaseChange['status'], PurchaseRow[]][] {
  const targets = [
    ...pairs.map(({ existing, wanted }) => ({ row: existing.row, target: wanted.status })),
    ...removed.map(({ row }) => ({ row, target: 'cancelled' as const })),
  ]
  return (['active', 'cancelled'] as const).map((status) => [
    status,
    targets
      .filter(({ row, target }) => target === status && listStatusesMovedByOrder(status).includes(row.status))
      .map(({ row }) => row),
  ])
}

/** What the purchases become, and what of it is announced. */
function purchaseDecision(context: DecisionContext, placement: Placement, existing: ExistingOrder) {
  const { order, payment } = existing
  const { user, items } = placement
  // Purchases of the former customer are the new one's from here on, so that the same import again finds what it left.
  const units = existing.purchases.map((row) => {
    const unit = unitOf(row, payment)
    return row.user_id === order.user_id ? { ...unit, holder_id: user.id } : unit
  })
  const reconciled = reconcile(units, expandItems(items), user.id)
  const holders = newHolders(existing, reconciled.pairs, user.id)
  const holderOf = new Map(holders.map(({ id, user_id }) => [id, user_id]))
  const validity = newValidity(reconciled.pairs)
  const moved = moves(reconciled).filter(([, rows]) => rows.length > 0)
  const bought = purchaseRows(context, { order: { id: order.id, created_at: context.now }, user }, reconciled.added)
  const changed = [...holders.map(({ id }) => id), ...moved.flatMap(([, rows]) => rows.map(({ id }) => id))]
  const announced = (row: PurchaseRow) => ({ ...row, user_id: holderOf.get(row.id) ?? row.user_id })
  const writes: Write[] = [
    ...(holders.length ? [{ write: 'purchase-holders' as const, purchases: holders }] : []),
    ...(validity.length ? [{ write: 'purchase-validity' as const, purchases: validity }] : []),
    ...moved.map(([status, purchases]) => ({ write: 'purchase-status' as const, purchases, status })),
    ...(changed.length ? [{ write: 'passes' as const, purchase_ids: [...new Set(changed)] }] : []),
    ...insertOf('purchases', bought),
  ]
  const changes = [
    ...moved.flatMap(([status, rows]) => purchaseChanges(order.id, placement, status, rows.map(announced))),
    ...bought.flatMap((purchase) => purchaseChanges(order.id, placement, purchase.status, [purchase])),
  ]
  return { writes, changes, grown: [...holders, ...bought].map(({ user_id }) => user_id) }
}

/**
 * Brings an order that exists up to date: purchases that are still wanted keep their identity, others are cancelled.
 */
export function decideUpdate(context: DecisionContext, placement: Placement, existing: ExistingOrder): OrderDecision {
  const { order, user, totals } = placement
  const { order: row, payment } = existing
  const paid = { ...order, amount_minor: totals.total_minor }
  const after = payment && paymentAfter(payment, paid)
  const paymentStatus = after?.payment.status ?? paymentStatusByOrderStatus[order.status]
  const isComplete = payment !== undefined && order.status === 'completed' && wasCaptured(paymentStatus)
  const changes = {
    ...orderColumns(context, placement, row.cart),
    has_payment: isPaid(paymentStatus),
    user_id: user.id,
    completed_transaction_id: isComplete ? payment.id : row.completed_transaction_id,
    modified_at: context.now,
  }
  const purchases = purchaseDecision(context, placement, existing)
  const isOther = row.user_id !== user.id
  return {
    order: { ...row, ...changes, version: row.version + 1 },
    writes: [
      { write: 'order', order: row, changes },
      ...(payment && after ? paymentWrites(placement, payment, after) : []),
      ...purchases.writes,
    ],
    changes: purchases.changes,
    grown: [...new Set([...(isOther ? [user.id] : []), ...purchases.grown])],
  }
}
