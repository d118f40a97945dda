import type { OrderRow } from '../../db/rows.ts'
import { buildCart, type StoredCart } from '../../domain/orders/carts.ts'
import { type ExternalOrder, getCustomerAddress } from '../../domain/orders/external-orders.ts'
import { type CartTotals, buildNumberKey } from '../../domain/orders/orders.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { ResolvedItem, WantedUnit } from '../../domain/orders/reconcile-purchases.ts'
import { readConnectedAccount } from '../../domain/refunds/merchant-accounts.ts'
import { fold } from '../../domain/text/fold.ts'
import type { UserRow } from './state.ts'
import type { DecisionContext, PurchaseChange, Write } from './writes.ts'

/** An order whose customer, holders and products are resolved to ids. */
export interface ResolvedOrder {
  order: ExternalOrder
  user: UserRow
  /** Returns a person of the group by id, with everything that its orders filled in. */
  getUser: (id: string) => UserRow
  items: readonly ResolvedItem[]
  /** The items that make up the order's amount. Only they are in its cart. */
  countedItems: readonly ResolvedItem[]
  totals: CartTotals
}

export interface OrderDecision {
  order: OrderRow
  /** True if an update leaves the order, its payment and its purchases as they are. */
  is_unchanged: boolean
  writes: readonly Write[]
  changes: readonly PurchaseChange[]
}

/** Columns that an import sets whenever it writes an order. */
export const buildOrderColumns = (
  { newId }: Pick<DecisionContext, 'newId'>,
  { order, countedItems, totals }: ResolvedOrder,
  existingCart: StoredCart | null,
) => ({
  order_number: order.order_number,
  status: order.status,
  amount_minor: totals.total_minor,
  items_count: countedItems.reduce((count, item) => count + item.quantity, 0),
  cart: buildCart({ coupon_code: order.coupon_code, ...totals }, countedItems, existingCart, newId),
  metadata: order.metadata,
  imported_address: getCustomerAddress(order),
  number_folded: fold(order.order_number ?? ''),
  number_key: buildNumberKey(order.order_number),
})

export const buildProviderColumns = (payment: NonNullable<ExternalOrder['payment']>) => ({
  service: payment.service,
  provider_reference: payment.reference,
})

/** A payment keeps the account that its edition has when the payment is stored. */
export const buildAccountColumns = ({ edition }: Pick<DecisionContext, 'edition'>) => ({
  merchant_account_id: edition.merchant_account_id,
  provider_account: edition.merchant_account_id === null ? null : readConnectedAccount(edition.merchant_id),
})

export const buildPurchaseRows = (
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

const actionsByStatus: Partial<Record<PurchaseStatus, PurchaseChange['action']>> = {
  active: 'activated',
  cancelled: 'cancelled',
}

/** Webhook endpoints see only the address that imports of their edition contained. */
export const toAnnouncedUser = ({ id, edition_values }: UserRow) => ({ id, email: edition_values?.email ?? null })

export function buildPurchaseChanges(
  orderId: string,
  { order: { order_number }, getUser }: ResolvedOrder,
  status: PurchaseStatus,
  purchases: readonly (PurchaseChange['purchase'] & { user_id: string })[],
): PurchaseChange[] {
  const action = actionsByStatus[status]
  if (!action) return []
  return purchases.map((purchase) => {
    const { id, vendor_code, product_id, variant_id, user_id } = purchase
    return {
      purchase: { id, vendor_code, product_id, variant_id },
      action,
      status: status as PurchaseChange['status'],
      order: { id: orderId, order_number },
      user: toAnnouncedUser(getUser(user_id)),
    }
  })
}
