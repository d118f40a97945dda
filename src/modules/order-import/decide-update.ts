import type { OrderRow } from '../../db/rows.ts'
import { isEmpty, pickChanges } from '../../db/write.ts'
import { decidePayment, sumRefundedAndReserved } from '../../domain/data-imports/imported-amounts.ts'
import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { isPaid, paymentStatusByOrderStatus, wasCaptured } from '../../domain/orders/orders.ts'
import { isHeld, openPurchaseStatuses, listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import {
  type ExistingUnit,
  expandItems,
  nothingPaid,
  reconcilePurchases,
  type Reconciliation,
  type WantedUnit,
} from '../../domain/orders/reconcile-purchases.ts'
import {
  buildOrderColumns,
  type OrderDecision,
  type ResolvedOrder,
  buildAccountColumns,
  buildProviderColumns,
  buildPurchaseChanges,
  buildPurchaseRows,
} from './order-rows.ts'
import type { PurchaseRow, TransactionRow } from './state.ts'
import { type DecisionContext, buildInsert, type PurchaseChange, type PurchaseDetails, type Write } from './writes.ts'

export interface OrderToUpdate {
  order: OrderRow
  purchases: readonly PurchaseRow[]
  payment: TransactionRow | undefined
}

type ExistingPurchase = ExistingUnit & { row: PurchaseRow }

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
  has_uses: row.status === 'used' || row.uses_count > 0,
  is_void: row.status === 'cancelled' && sumRefundedAndReserved(row) === 0 && payment?.status !== 'refunded',
  row,
})

/** A payment keeps its account. One without an account gets the edition's, once the import says how it was paid. */
const takesAccount = (row: TransactionRow, { reference }: NonNullable<ExternalOrder['payment']>): boolean =>
  reference !== null && row.merchant_account_id === null

/** The payment takes over the order's fees together with its amount, and its provider unless money went back. */
function buildPaymentWrites(
  context: DecisionContext,
  resolvedOrder: ResolvedOrder,
  row: TransactionRow,
  decision: ReturnType<typeof decidePayment>,
): Extract<Write, { write: 'payment' }>[] {
  const { order, totals } = resolvedOrder
  const { service_fee_minor, handling_fee_minor } = totals
  const importedPayment = sumRefundedAndReserved(row) === 0 ? order.payment : undefined
  const provider = importedPayment ? buildProviderColumns(importedPayment) : {}
  const account = importedPayment && takesAccount(row, importedPayment) ? buildAccountColumns(context) : {}
  const fees = decision.follows ? { service_fee_minor, handling_fee_minor } : {}
  return [
    {
      write: 'payment',
      payment: row,
      changes: pickChanges(row, { ...decision.payment, ...fees, ...provider, ...account }),
    },
  ]
}

/** A purchase whose number of uses changes is used up or becomes active again. */
function decideStatusByUses(row: PurchaseRow, { uses_limit, is_unlimited_use }: WantedUnit): PurchaseRow['status'] {
  if (!isHeld(row.status)) return row.status
  if (uses_limit === row.uses_limit && is_unlimited_use === row.is_unlimited_use) return row.status
  return is_unlimited_use || row.uses_count < uses_limit ? 'active' : 'used'
}

/** Refunded, cancelled and expired purchases stay as they are, except for their holder and what was paid for them. */
function decideDetails(
  row: PurchaseRow,
  unit: WantedUnit | undefined,
  { order, customerId, followsPrices }: { order: OrderRow; customerId: string; followsPrices: boolean },
): PurchaseDetails {
  const user_id = unit?.holder_id ?? (row.user_id === order.user_id ? customerId : row.user_id)
  const { price_minor, deposit_minor, handling_fee_minor } = followsPrices ? (unit ?? nothingPaid) : row
  const isOpen = unit !== undefined && unit.status !== 'cancelled' && openPurchaseStatuses.includes(row.status)
  const source = isOpen ? unit : row
  return {
    user_id,
    product_id: source.product_id,
    variant_id: source.variant_id,
    location_id: source.location_id,
    options: source.options,
    vendor_code: source.vendor_code ?? row.vendor_code,
    uses_limit: source.uses_limit,
    is_unlimited_use: source.is_unlimited_use,
    valid_until: source.valid_until,
    price_minor,
    deposit_minor,
    handling_fee_minor,
    status: isOpen ? decideStatusByUses(row, unit) : row.status,
  }
}

const priceColumns: readonly string[] = ['price_minor', 'deposit_minor', 'handling_fee_minor']

/** Used, refunded and expired purchases keep their status. */
function groupStatusChanges({
  pairs,
  surplusPurchases,
}: Reconciliation<ExistingPurchase>): [PurchaseChange['status'], PurchaseRow[]][] {
  const targets = [
    ...pairs.map(({ purchase, unit }) => ({ row: purchase.row, target: unit.status })),
    ...surplusPurchases.map(({ row }) => ({ row, target: 'cancelled' as const })),
  ]
  return (['active', 'cancelled'] as const).map((status) => [
    status,
    targets
      .filter(({ row, target }) => target === status && listStatusesMovedByOrder(status).includes(row.status))
      .map(({ row }) => row),
  ])
}

function decidePurchases(
  context: DecisionContext,
  resolvedOrder: ResolvedOrder,
  existingOrder: OrderToUpdate,
  followsPrices: boolean,
) {
  const { order, payment } = existingOrder
  const { user, items, countedItems, totals } = resolvedOrder
  // The former customer's purchases pass to the new one, so that the same import finds what it left.
  const existingUnits = existingOrder.purchases.map((row) => {
    const unit = toExistingUnit(row, payment)
    return row.user_id === order.user_id ? { ...unit, holder_id: user.id } : unit
  })
  const units = expandItems(items, countedItems, totals.discount_minor)
  const reconciliation = reconcilePurchases(existingUnits, units, { customerId: user.id, followsPrices })
  const unitsByPurchaseId = new Map(reconciliation.pairs.map(({ purchase, unit }) => [purchase.row.id, unit]))
  const changedPurchases = existingOrder.purchases.flatMap((purchase) => {
    const unit = unitsByPurchaseId.get(purchase.id)
    const details = decideDetails(purchase, unit, { order, customerId: user.id, followsPrices })
    const changes = pickChanges<PurchaseDetails>(purchase, details)
    return isEmpty(changes) ? [] : [{ purchase, changes }]
  })
  const statusChanges = groupStatusChanges(reconciliation).filter(([, rows]) => rows.length > 0)
  const newPurchases = buildPurchaseRows(
    context,
    { order: { id: order.id, created_at: context.now }, user },
    reconciliation.newUnits,
  )
  const passIds = [
    ...changedPurchases
      .filter(({ changes }) => Object.keys(changes).some((column) => !priceColumns.includes(column)))
      .map(({ purchase }) => purchase.id),
    ...statusChanges.flatMap(([, rows]) => rows.map(({ id }) => id)),
  ]
  const changesById = new Map(changedPurchases.map(({ purchase, changes }) => [purchase.id, changes]))
  const applyChanges = (row: PurchaseRow) => ({ ...row, ...changesById.get(row.id) })
  const writes: Write[] = [
    ...(changedPurchases.length ? [{ write: 'purchase-details' as const, purchases: changedPurchases }] : []),
    ...statusChanges.map(([status, purchases]) => ({ write: 'purchase-status' as const, purchases, status })),
    ...(passIds.length ? [{ write: 'passes' as const, purchase_ids: [...new Set(passIds)] }] : []),
    ...buildInsert('purchases', newPurchases),
  ]
  const changes = [
    ...statusChanges.flatMap(([status, rows]) =>
      buildPurchaseChanges(order.id, resolvedOrder, status, rows.map(applyChanges)),
    ),
    ...newPurchases.flatMap((purchase) => buildPurchaseChanges(order.id, resolvedOrder, purchase.status, [purchase])),
  ]
  return { writes, changes }
}

/** Purchases that the order still has keep their id. Others are cancelled. */
export function decideUpdate(
  context: DecisionContext,
  resolvedOrder: ResolvedOrder,
  existingOrder: OrderToUpdate,
): OrderDecision {
  const { order, user, totals } = resolvedOrder
  const { order: row, payment } = existingOrder
  const orderAmounts = { ...order, amount_minor: totals.total_minor }
  const paymentDecision = payment && decidePayment(payment, orderAmounts)
  const paymentStatus = paymentDecision?.payment.status ?? paymentStatusByOrderStatus[order.status]
  const isComplete = payment !== undefined && order.status === 'completed' && wasCaptured(paymentStatus)
  const changes = {
    ...buildOrderColumns(context, resolvedOrder, row.cart),
    has_payment: isPaid(paymentStatus),
    user_id: user.id,
    completed_transaction_id: isComplete ? payment.id : row.completed_transaction_id,
    modified_at: context.now,
  }
  // Once money went back, the payment keeps its amount and each purchase keeps its part of it.
  const purchases = decidePurchases(context, resolvedOrder, existingOrder, paymentDecision?.follows ?? true)
  const paymentWrites =
    payment && paymentDecision ? buildPaymentWrites(context, resolvedOrder, payment, paymentDecision) : []
  const { modified_at: _, ...columns } = changes
  return {
    order: { ...row, ...changes, version: row.version + 1 },
    is_unchanged:
      purchases.writes.length === 0 &&
      isEmpty(pickChanges<OrderRow>(row, columns)) &&
      paymentWrites.every((write) => isEmpty(write.changes)),
    writes: [{ write: 'order', order: row, changes }, ...paymentWrites, ...purchases.writes],
    changes: purchases.changes,
  }
}
