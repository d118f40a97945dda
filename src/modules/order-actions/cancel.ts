import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless, commit, requireChanges } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { buildSelectList, decodeAs, type RowOf } from '../../db/select.ts'
import { update, updateVersion } from '../../db/write.ts'
import { editionArchived, LostRace } from '../../domain/errors.ts'
import { checkCancellable, checkOrderUses, listPaymentStatusesBefore, wasCaptured } from '../../domain/orders/orders.ts'
import { listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import { openEditions } from '../editions/index.ts'
import { buildOrderEvent } from '../order-import/index.ts'
import type { LoadedOrder } from '../orders/index.ts'
import { buildPurchaseEvent, purchaseEventFields, purchaseEventJoins } from '../purchases/index.ts'
import { planOrderRefund, type RefundDetailRow } from '../refunds/index.ts'
import { withholdReceipts } from '../transactional-emails/index.ts'
import { markPassesChanged } from '../wallet/index.ts'
import { announceAll } from '../webhooks/index.ts'
import type { CancelOrderInput } from './contract.ts'

const status = 'cancelled'
const cancelledFrom = listStatusesMovedByOrder(status)
/** A captured payment keeps its status: the money is there until a refund pays it back. */
const unpaidStatuses = listPaymentStatusesBefore(status).filter((one) => one !== status && !wasCaptured(one))

const purchaseFields = {
  ...purchaseEventFields,
  status: purchases.status,
  uses_count: purchases.uses_count,
  version: purchases.version,
}
type PurchaseRow = RowOf<typeof purchaseFields>

/** Loads the purchases of an order that is read already. They must be as they were then. */
async function loadPurchases(ctx: Ctx, order: LoadedOrder): Promise<PurchaseRow[]> {
  const rows = await ctx.db.all(
    decodeAs(
      purchaseFields,
      sql<PurchaseRow>`select ${buildSelectList(purchaseFields)} from ${purchases} ${purchaseEventJoins}
        where ${purchases.order_id} = ${order.head.id} order by ${purchases.id}`,
    ),
  )
  const describe = (units: readonly Pick<PurchaseRow, 'id' | 'status' | 'uses_count'>[]) =>
    JSON.stringify(units.map(({ id, status: unitStatus, uses_count }) => [id, unitStatus, uses_count]))
  if (describe(rows) !== describe(order.purchases)) throw new LostRace('a purchase of the order has changed')
  return rows
}

/** Aborts the transaction when a purchase was used, refunded, added or changed since the read. */
function requireUnchangedPurchases(orderId: string, rows: readonly PurchaseRow[]): Statement {
  const versions = JSON.stringify(rows.map(({ id, version }) => [id, version]))
  return abortUnless(sql`(select count(*) from purchases where order_id = ${orderId}) = ${rows.length}
    and not exists (select 1 from json_each(${versions}) as expected
      left join purchases on purchases.id = expected.value ->> 0 where purchases.version is not expected.value ->> 1)`)
}

function voidPurchases(orderId: string, rows: readonly PurchaseRow[], now: number): Statement[] {
  if (rows.length === 0) return []
  return [
    update(
      purchases,
      { status, modified_at: now, version: sql`${purchases.version} + 1` },
      sql`${eq(purchases.order_id, orderId)} and ${inList(sql`status`, cancelledFrom)}`,
    ),
    requireChanges(rows.length),
    markPassesChanged(
      rows.map(({ id }) => id),
      now,
    ),
  ]
}

export interface CancelledOrder {
  head: Pick<LoadedOrder['head'], 'id' | 'order_number' | 'status' | 'modified_at'>
  former_status: LoadedOrder['head']['status']
  cancelled_purchases: number
  used_purchases: number
  refund: RefundDetailRow | null
}

/**
 * Cancels an order with everything that belongs to it, in one transaction. The amount of a refund is reserved before the
 * purchases are cancelled. An import, a use or a refund that commits first makes this request read again.
 */
export async function cancelOrder(ctx: Ctx, order: LoadedOrder, input: CancelOrderInput): Promise<CancelledOrder> {
  const { head } = order
  checkCancellable(head.status)
  if (head.edition_is_archived) throw editionArchived()
  checkOrderUses(order.purchases, input.accept ?? [])
  const { reason = 'other', comment, include_fees, notify_customer } = input
  const refund = input.refund
    ? await planOrderRefund(ctx, head.id, { reason, comment, include_fees, notify_customer })
    : null
  const rows = await loadPurchases(ctx, order)
  const cancelledRows = rows.filter((row) => cancelledFrom.includes(row.status))
  const now = ctx.now()
  const { organization_id } = order.tenant
  const edition_id = head.edition_id
  const cancelledOrder: CancelledOrder = {
    head: { ...head, status, modified_at: now },
    former_status: head.status,
    cancelled_purchases: cancelledRows.length,
    used_purchases: rows.filter((row) => row.status === 'used').length,
    refund: refund?.row ?? null,
  }
  await commit(ctx, cancelledOrder, [
    ...openEditions(edition_id),
    ...updateVersion(orders, head, { status, cancelled_at: now, cancelled_by: ctx.caller.id, modified_at: now }),
    requireUnchangedPurchases(head.id, rows),
    ...(refund?.statements ?? []),
    ...voidPurchases(head.id, cancelledRows, now),
    update(
      transactions,
      { status },
      sql`order_id = ${head.id} and type = 'payment' and ${inList(sql`status`, unpaidStatuses)}`,
    ),
    withholdReceipts(head.id, 'order_cancelled', now),
    ...announceAll(ctx, [
      ...(refund?.announcements ?? []),
      buildOrderEvent({ ...head, organization_id, status }, head.status, now),
      ...cancelledRows.map((row) => buildPurchaseEvent(row, { action: 'cancelled', status, occurredAt: now })),
    ]),
  ])
  if (refund) ctx.afterCommit(() => refund.enqueue(ctx))
  return cancelledOrder
}
