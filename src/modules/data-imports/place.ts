import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedExactly, changedOne } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { carts, cartItems, orders, purchases, transactions } from '../../db/schema/orders.ts'
import { inList } from '../../db/visibility.ts'
import { update, updateVersion } from '../../db/write.ts'
import { type ExternalOrder, reconcile, type ResolvedItem, type Unit, unitsOf } from '../../domain/external-orders.ts'
import { fold } from '../../domain/fold.ts'
import { longestList } from '../../domain/json.ts'
import type { Language } from '../../domain/languages.ts'
import {
  type CartTotals,
  isPaid,
  numberKey,
  orderSearch,
  ownSearch,
  paymentStatusesBefore,
  paymentStatusOf,
  type TransactionStatus,
  wasCaptured,
} from '../../domain/orders.ts'
import {
  type BoughtOption,
  openStatuses,
  orderMovesFrom,
  type PurchaseStatus,
  purchaseStatusOf,
} from '../../domain/purchases.ts'
import { contactSearch } from '../../domain/users.ts'
import { cancelRefundsOf } from '../refunds/index.ts'
import { passChanged } from '../wallet/index.ts'
import type { OrderRow, PurchaseRow, TransactionRow, UserRow } from './state.ts'
import type { Edition, PurchaseTurn, Writes } from './writes.ts'

/** All that is known of an order before it is written. */
export interface Placement {
  edition: Edition
  source: string
  order: ExternalOrder
  user: UserRow
  items: readonly ResolvedItem[]
  totals: CartTotals
}

const homeOf = ({ edition }: Placement) => ({ organization_id: edition.organization_id, edition_id: edition.id })

const orderColumns = ({ order, items, totals }: Placement) => ({
  order_number: order.order_number,
  status: order.status,
  amount_minor: totals.total_minor,
  items_count: items.reduce((count, item) => count + item.quantity, 0),
  has_payment: isPaid(paymentStatusOf[order.status]) ? 1 : 0,
  metadata: JSON.stringify(order.metadata),
  number_folded: fold(order.order_number ?? ''),
  number_key: numberKey(order.order_number),
})

const paymentColumns = ({ order, totals }: Placement) => ({
  status: paymentStatusOf[order.status],
  amount_minor: totals.total_minor,
  service_fee_minor: totals.service_fee_minor,
  handling_fee_minor: totals.handling_fee_minor,
})

const cartItemRows = (ctx: Ctx, orderId: string, items: readonly ResolvedItem[]) =>
  items.map((item, position) => ({
    order_id: orderId,
    position,
    id: ctx.newId('cart_item'),
    ...item,
    options: JSON.stringify(item.options),
  }))

const purchaseRows = (ctx: Ctx, placement: Placement, orderId: string, units: readonly Unit[], createdAt: number) =>
  units.map((unit) => ({
    id: ctx.newId('purchase'),
    ...homeOf(placement),
    order_id: orderId,
    user_id: placement.user.id,
    ...unit,
    options: JSON.stringify(unit.options),
    status: purchaseStatusOf[placement.order.status],
    created_at: createdAt,
    modified_at: createdAt,
  }))

const actionOf: Partial<Record<PurchaseStatus, PurchaseTurn['action']>> = {
  active: 'activated',
  cancelled: 'cancelled',
}

/** What purchases that are now of this status can be announced as. */
function turnsOf(
  placement: Placement,
  order: { id: string },
  rows: readonly PurchaseTurn['purchase'][],
  status: PurchaseStatus,
): PurchaseTurn[] {
  const action = actionOf[status]
  const { user } = placement
  // Endpoints of the edition learn of somebody whom other editions know what this edition said.
  const buyer = { id: user.id, email: user.is_shared ? user.given_email : user.email }
  const { order_number } = placement.order
  return action
    ? rows.map((purchase) => ({ purchase, action, status, order: { id: order.id, order_number }, user: buyer }))
    : []
}

/** Notes how long the lists are that an order brings; `grows` where its customer has more than before. */
function noteLists({ lists }: Writes, { order, items, user }: Placement, grows: boolean): void {
  if (grows) lists.users.add(user.id)
  lists.options = Math.max(lists.options, ...items.map(({ options }) => options.length))
  lists.order_metadata = Math.max(lists.order_metadata, longestList(order.metadata))
}

/** Adds a new order with its cart, its payment and one purchase a unit. */
export function placeNew(ctx: Ctx, writes: Writes, placement: Placement): OrderRow {
  const { order, user, source, items, totals } = placement
  const created_at = order.created_at ?? ctx.now()
  const id = ctx.newId('order')
  const transactionId = ctx.newId('transaction')
  const own = ownSearch({ ...order, id }, [transactionId])
  const row = {
    id,
    ...homeOf(placement),
    user_id: user.id,
    ...orderColumns(placement),
    type: 'imported',
    currency: order.currency,
    completed_transaction_id: order.status === 'completed' ? transactionId : null,
    external_source: source,
    external_id: order.external_id,
    search_own: own,
    search: orderSearch(own, contactSearch(user)),
    version: 1,
    created_at,
    modified_at: ctx.now(),
  }
  writes.orders.push(row)
  const { email, locale } = user
  writes.placed.push({ order_id: id, user_id: user.id, status: order.status, email, language: locale as Language })
  writes.carts.push({
    order_id: id,
    id: ctx.newId('cart'),
    status: 'completed',
    coupon_code: order.coupon_code,
    ...totals,
    created_at,
  })
  writes.cartItems.push(...cartItemRows(ctx, id, items))
  writes.transactions.push({
    id: transactionId,
    order_id: id,
    organization_id: placement.edition.organization_id,
    type: 'payment',
    service: 'import',
    currency: order.currency,
    ...paymentColumns(placement),
    created_at,
  })
  const bought = purchaseRows(ctx, placement, id, unitsOf(items), created_at)
  writes.purchases.push(...bought)
  noteLists(writes, placement, true)
  writes.turns.push(...turnsOf(placement, row, bought, purchaseStatusOf[order.status]))
  return { ...row, seq: 0 }
}

const unitOf = (row: PurchaseRow): Unit & { row: PurchaseRow } => ({
  product_id: row.product_id,
  variant_id: row.variant_id,
  location_id: row.location_id,
  options: JSON.parse(row.options) as BoughtOption[],
  vendor_code: row.vendor_code,
  price_minor: row.price_minor,
  deposit_minor: row.deposit_minor,
  handling_fee_minor: row.handling_fee_minor,
  uses_limit: row.uses_limit,
  is_unlimited_use: row.is_unlimited_use,
  valid_until: row.valid_until,
  row,
})

/** Purchases that were used, were paid back or have expired stay what they are. */
const movable = (units: readonly { row: PurchaseRow }[], status: PurchaseStatus): PurchaseRow[] =>
  units.map(({ row }) => row).filter((row) => orderMovesFrom(status).includes(row.status as PurchaseStatus))

/** Moves these purchases, all of them or none: what has another status by now is decided on anew. */
function moveStatements(rows: readonly PurchaseRow[], status: PurchaseStatus, now: number): Statement[] {
  const ids = rows.map((row) => row.id)
  return [
    sql`update purchases set status = ${status}, modified_at = ${now}, version = version + 1
      where ${inList(sql`id`, ids)} and ${inList(sql`status`, orderMovesFrom(status))}`,
    changedExactly(ids.length),
  ]
}

/** Gives kept purchases the validity that is wanted; what was refunded, cancelled or has expired stays as it is. */
function validityStatements(kept: readonly ReturnType<typeof unitOf>[], now: number): Statement[] {
  const changed = kept.filter(
    ({ row, valid_until }) => valid_until !== row.valid_until && openStatuses.includes(row.status as PurchaseStatus),
  )
  if (changed.length === 0) return []
  const given = JSON.stringify(changed.map(({ row, valid_until }) => [row.id, valid_until]))
  return [
    sql`update purchases set valid_until = given.value ->> 1, modified_at = ${now}, version = version + 1
      from json_each(${given}) as given
      where purchases.id = given.value ->> 0 and ${inList(sql`status`, openStatuses)}`,
    changedExactly(changed.length),
  ]
}

/** The payment's status after the order's update: one that has gone further stays. */
function paymentStatusAfter(payment: TransactionRow, placement: Placement): TransactionStatus {
  const target = paymentStatusOf[placement.order.status]
  const status = payment.status as TransactionStatus
  return paymentStatusesBefore(target).includes(status) ? target : status
}

/** Brings the payment forward; one that has gone further keeps its amounts too, which are what was paid. */
function paymentStatements(payment: TransactionRow, placement: Placement): Statement[] {
  const columns = paymentColumns(placement)
  const changeable = inList(sql`status`, paymentStatusesBefore(columns.status))
  return paymentStatusAfter(payment, placement) === columns.status
    ? [update(transactions, columns, sql`id = ${payment.id} and ${changeable}`), changedOne()]
    : []
}

/** Brings an order that exists up to date: purchases that are still wanted keep their identity, others are cancelled. */
export function placeAgain(
  ctx: Ctx,
  writes: Writes,
  placement: Placement,
  existing: { order: OrderRow; purchases: readonly PurchaseRow[]; payment: TransactionRow | undefined },
): OrderRow {
  const { order, user, items, totals } = placement
  const { order: row, payment } = existing
  const paid = payment && paymentStatusAfter(payment, placement)
  const now = ctx.now()
  const own = ownSearch({ ...order, id: row.id }, payment ? [payment.id] : [])
  const changes = {
    ...orderColumns(placement),
    ...(paid ? { has_payment: isPaid(paid) ? 1 : 0 } : {}),
    user_id: user.id,
    completed_transaction_id:
      order.status === 'completed' && paid && wasCaptured(paid) ? (payment?.id ?? null) : row.completed_transaction_id,
    search_own: own,
    search: orderSearch(own, contactSearch(user)),
    modified_at: now,
  }
  // A cancelled purchase is bought anew by an order that still has it, and not by one that is cancelled itself.
  const live = existing.purchases.filter((purchase) => order.status === 'cancelled' || purchase.status !== 'cancelled')
  const { kept, cancelled, added } = reconcile(live.map(unitOf), unitsOf(items))
  writes.changes.push(...updateVersion(orders, row, changes))
  writes.changes.push(update(carts, { coupon_code: order.coupon_code, ...totals }, sql`order_id = ${row.id}`))
  writes.changes.push(sql`delete from ${cartItems} where order_id = ${row.id}`)
  if (payment) writes.changes.push(...paymentStatements(payment, placement))
  // Passes show the status and the owner of their purchases.
  const changed: PurchaseRow[] = []
  if (row.user_id !== user.id) {
    writes.changes.push(update(purchases, { user_id: user.id }, sql`order_id = ${row.id}`))
    changed.push(...live)
  }
  const status = purchaseStatusOf[order.status]
  writes.changes.push(...validityStatements(kept, now))
  for (const [units, target] of [
    [kept, status],
    [cancelled, 'cancelled'],
  ] as const) {
    const moved = movable(units, target)
    if (moved.length === 0) continue
    writes.changes.push(...moveStatements(moved, target, now))
    if (target === 'cancelled')
      writes.changes.push(
        ...cancelRefundsOf(
          moved.map(({ id }) => id),
          now,
        ),
      )
    changed.push(...moved)
    writes.turns.push(...turnsOf(placement, row, moved, target))
  }
  if (changed.length) writes.changes.push(passChanged([...new Set(changed.map(({ id }) => id))], now))
  const bought = purchaseRows(ctx, placement, row.id, added, now)
  writes.cartItems.push(...cartItemRows(ctx, row.id, items))
  writes.purchases.push(...bought)
  noteLists(writes, placement, bought.length > 0 || row.user_id !== user.id)
  writes.turns.push(...turnsOf(placement, row, bought, status))
  return { ...row, ...changes, version: row.version + 1 }
}
