import { decidePayment, sumTakenBack } from '../../domain/data-imports/imported-amounts.ts'
import { isPaid, paymentStatusByOrderStatus, wasCaptured } from '../../domain/orders/orders.ts'
import { openPurchaseStatuses, listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import { type ExistingUnit, reconcile, type Reconciled, expandItems } from '../../domain/orders/reconcile-purchases.ts'
import { isEmpty, pickChanges } from '../../db/write.ts'
import {
  buildOrderColumns,
  type OrderDecision,
  type ResolvedOrder,
  buildProviderColumns,
  buildPurchaseChanges,
  buildPurchaseRows,
} from './order-rows.ts'
import type { PurchaseRow, TransactionRow } from './state.ts'
import { type DecisionContext, buildInsert, type PurchaseChange, type Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

export interface ExistingOrder {
  order: OrderRow
  purchases: readonly PurchaseRow[]
  payment: TransactionRow | undefined
}

type ExistingPurchase = ExistingUnit & { row: PurchaseRow }
type PurchasePair = Reconciled<ExistingPurchase>['pairs'][number]

/** A cancelled purchase whose money went back is not void, so an import of the same order does not sell it again. */
const toExistingUnit = (row: PurchaseRow, payment: TransactionRow | undefined): ExistingPurchase => ({
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
  is_void: row.status === 'cancelled' && sumTakenBack(row) === 0 && payment?.status !== 'refunded',
  row,
})

/** The payment takes over the order's fees together with its amount, and its provider unless money went back. */
function buildPaymentWrites(
  resolvedOrder: ResolvedOrder,
  row: TransactionRow,
  after: ReturnType<typeof decidePayment>,
): Extract<Write, { write: 'payment' }>[] {
  const { order, totals } = resolvedOrder
  const { service_fee_minor, handling_fee_minor } = totals
  const provider = order.payment && sumTakenBack(row) === 0 ? buildProviderColumns(order.payment) : {}
  const fees = after.follows ? { service_fee_minor, handling_fee_minor } : {}
  return [{ write: 'payment', payment: row, changes: pickChanges(row, { ...after.payment, ...fees, ...provider }) }]
}

/** Purchases of the former customer pass to the order's new customer, others to the holder of their item. */
function findNewHolders(
  existing: ExistingOrder,
  pairs: readonly PurchasePair[],
  customerId: string,
): { id: string; user_id: string }[] {
  const holderIds = new Map(pairs.map((one) => [one.existing.row.id, one.wanted.holder_id]))
  return existing.purchases.flatMap(({ id, user_id }) => {
    const holder = holderIds.get(id) ?? (user_id === existing.order.user_id ? customerId : user_id)
    return holder === user_id ? [] : [{ id, user_id: holder }]
  })
}

/** Refunded, cancelled and expired purchases keep their validity. */
const findNewValidity = (pairs: readonly PurchasePair[]): { id: string; valid_until: number | null }[] =>
  pairs.flatMap(({ existing: { row, status }, wanted: { valid_until } }) =>
    valid_until !== row.valid_until && openPurchaseStatuses.includes(status) ? [{ id: row.id, valid_until }] : [],
  )

/** Used, refunded and expired purchases keep their status. */
function groupStatusChanges({
  pairs,
  removed,
}: Reconciled<ExistingPurchase>): [PurchaseChange['status'], PurchaseRow[]][] {
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

function decidePurchases(context: DecisionContext, resolvedOrder: ResolvedOrder, existing: ExistingOrder) {
  const { order, payment } = existing
  const { user, items } = resolvedOrder
  // Purchases of the former customer are compared as the new customer's, so that a repeated import pairs them again.
  const units = existing.purchases.map((row) => {
    const unit = toExistingUnit(row, payment)
    return row.user_id === order.user_id ? { ...unit, holder_id: user.id } : unit
  })
  const reconciled = reconcile(units, expandItems(items), user.id)
  const holderChanges = findNewHolders(existing, reconciled.pairs, user.id)
  const newHolderIds = new Map(holderChanges.map(({ id, user_id }) => [id, user_id]))
  const validityChanges = findNewValidity(reconciled.pairs)
  const statusChanges = groupStatusChanges(reconciled).filter(([, rows]) => rows.length > 0)
  const newPurchases = buildPurchaseRows(
    context,
    { order: { id: order.id, created_at: context.now }, user },
    reconciled.added,
  )
  const changedIds = [
    ...holderChanges.map(({ id }) => id),
    ...statusChanges.flatMap(([, rows]) => rows.map(({ id }) => id)),
  ]
  const withNewHolder = (row: PurchaseRow) => ({ ...row, user_id: newHolderIds.get(row.id) ?? row.user_id })
  const writes: Write[] = [
    ...(holderChanges.length ? [{ write: 'purchase-holders' as const, purchases: holderChanges }] : []),
    ...(validityChanges.length ? [{ write: 'purchase-validity' as const, purchases: validityChanges }] : []),
    ...statusChanges.map(([status, purchases]) => ({ write: 'purchase-status' as const, purchases, status })),
    ...(changedIds.length ? [{ write: 'passes' as const, purchase_ids: [...new Set(changedIds)] }] : []),
    ...buildInsert('purchases', newPurchases),
  ]
  const changes = [
    ...statusChanges.flatMap(([status, rows]) =>
      buildPurchaseChanges(order.id, resolvedOrder, status, rows.map(withNewHolder)),
    ),
    ...newPurchases.flatMap((purchase) => buildPurchaseChanges(order.id, resolvedOrder, purchase.status, [purchase])),
  ]
  return { writes, changes }
}

/** Purchases that the order still has keep their id. Others are cancelled. */
export function decideUpdate(
  context: DecisionContext,
  resolvedOrder: ResolvedOrder,
  existing: ExistingOrder,
): OrderDecision {
  const { order, user, totals } = resolvedOrder
  const { order: row, payment } = existing
  const orderAmounts = { ...order, amount_minor: totals.total_minor }
  const after = payment && decidePayment(payment, orderAmounts)
  const paymentStatus = after?.payment.status ?? paymentStatusByOrderStatus[order.status]
  const isComplete = payment !== undefined && order.status === 'completed' && wasCaptured(paymentStatus)
  const changes = {
    ...buildOrderColumns(context, resolvedOrder, row.cart),
    has_payment: isPaid(paymentStatus),
    user_id: user.id,
    completed_transaction_id: isComplete ? payment.id : row.completed_transaction_id,
    modified_at: context.now,
  }
  const purchases = decidePurchases(context, resolvedOrder, existing)
  const paymentWrites = payment && after ? buildPaymentWrites(resolvedOrder, payment, after) : []
  const { modified_at: _, ...columns } = changes
  return {
    order: { ...row, ...changes, version: row.version + 1 },
    is_unchanged:
      purchases.writes.length === 0 &&
      isEmpty(pickChanges<OrderRow>(row, columns)) &&
      paymentWrites.every((one) => isEmpty(one.changes)),
    writes: [{ write: 'order', order: row, changes }, ...paymentWrites, ...purchases.writes],
    changes: purchases.changes,
  }
}
