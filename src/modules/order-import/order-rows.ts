import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { fold } from '../../domain/text/fold.ts'
import { buildCart, type StoredCart } from '../../domain/orders/carts.ts'
import { type CartTotals, buildNumberKey } from '../../domain/orders/orders.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { ResolvedItem, WantedUnit } from '../../domain/orders/reconcile-purchases.ts'
import type { UserRow } from './state.ts'
import type { DecisionContext, PurchaseChange, Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

/** All that is known of an order before it is written. */
export interface Placement {
  order: ExternalOrder
  user: UserRow
  /** Of an id among its customers. */
  userOf: (id: string) => UserRow
  /** All items, and those that make the amount: these are its cart. */
  items: readonly ResolvedItem[]
  counted: readonly ResolvedItem[]
  totals: CartTotals
}

/** The decision on one order. */
export interface OrderDecision {
  order: OrderRow
  writes: readonly Write[]
  changes: readonly PurchaseChange[]
  /** Customers who have more orders or purchases than before. */
  grown: readonly string[]
}

/** Columns that an import sets whenever it writes an order. */
export const orderColumns = (
  { newId }: Pick<DecisionContext, 'newId'>,
  { order, counted, totals }: Placement,
  existingCart: StoredCart | null,
) => ({
  order_number: order.order_number,
  status: order.status,
  amount_minor: totals.total_minor,
  items_count: counted.reduce((count, item) => count + item.quantity, 0),
  cart: buildCart({ coupon_code: order.coupon_code, ...totals }, counted, existingCart, newId),
  metadata: order.metadata,
  number_folded: fold(order.order_number ?? ''),
  number_key: buildNumberKey(order.order_number),
})

/** Where an order was paid. */
export const providerColumns = (payment: NonNullable<ExternalOrder['payment']>) => ({
  service: payment.service,
  provider_reference: payment.reference,
})

export const purchaseRows = (
  context: DecisionContext,
  { order, user }: { order: { id: string; created_at: number }; user: UserRow },
  units: readonly WantedUnit[],
) =>
  units.map(({ holder_id, ...unit }) => ({
    id: context.newId('purchase'),
    edition_id: context.edition.id,
    order_id: order.id,
    user_id: holder_id ?? user.id,
    ...unit,
    created_at: order.created_at,
    modified_at: order.created_at,
  }))

const actionOf: Partial<Record<PurchaseStatus, PurchaseChange['action']>> = {
  active: 'activated',
  cancelled: 'cancelled',
}

/** A customer as endpoints of the edition see them: only what imports of this edition said. */
export const announcedUser = ({ id, edition_values }: UserRow) => ({ id, email: edition_values?.email ?? null })

/** What purchases that are now of this status can be announced as. */
export function purchaseChanges(
  orderId: string,
  { order: { order_number }, userOf }: Placement,
  status: PurchaseStatus,
  purchases: readonly (PurchaseChange['purchase'] & { user_id: string })[],
): PurchaseChange[] {
  const action = actionOf[status]
  if (!action) return []
  return purchases.map((purchase) => {
    const { id, vendor_code, product_id, variant_id, user_id } = purchase
    return {
      purchase: { id, vendor_code, product_id, variant_id },
      action,
      status: status as PurchaseChange['status'],
      order: { id: orderId, order_number },
      user: announcedUser(userOf(user_id)),
    }
  })
}
