import { type SQL, sql } from 'drizzle-orm'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { buildPaymentRemainder, buildPurchaseShare, buildSharedRemainder, isRefundable } from '../../db/refunds.ts'
import type { RefundRow } from '../../db/rows.ts'
import { transactions } from '../../db/schema/orders.ts'
import { update } from '../../db/write.ts'
import type { Share, RefundShares } from '../../domain/refunds/refund-shares.ts'
import type { RefundablePurchase } from './refundable-order.ts'

export interface Reservation {
  refund: RefundRow
  shares: RefundShares
  purchases: readonly RefundablePurchase[]
}

/**
 * Reserves the amounts of a request on its purchases and its payment. A purchase must not have changed since it was
 * read, because its amounts decide the shares and the webhook event contains its status. The next statement has to
 * write the request `where changes() = 1`.
 */
export function buildReserveStatements({ refund, shares, purchases }: Reservation, amount: number): Statement[] {
  const purchasesById = new Map(purchases.map((purchase) => [purchase.id, purchase]))
  const items = JSON.stringify(
    shares.items.map(({ purchase_id, amount_minor }) => {
      const { refunded_minor = 0, reserved_minor = 0, status = '' } = purchasesById.get(purchase_id) ?? {}
      return [purchase_id, amount_minor, refunded_minor + reserved_minor, status]
    }),
  )
  const fees = sql`${Number(refund.include_fees)}`
  return [
    sql`update purchases set reserved_minor = reserved_minor + (item.value ->> 1), modified_at = ${refund.modified_at},
        version = version + 1
      from json_each(${items}) as item
      where purchases.id = item.value ->> 0 and purchases.status = item.value ->> 3
        and ${isRefundable(sql`purchases`)}
        and purchases.refunded_minor + purchases.reserved_minor = item.value ->> 2
        and ${buildPurchaseShare(sql`purchases`, fees)} >= item.value ->> 1`,
    update(
      transactions,
      { reserved_minor: sql`${transactions.reserved_minor} + ${amount}` },
      sql`transactions.id = ${refund.transaction_id} and changes() = ${shares.items.length}
        and ${buildPaymentRemainder(sql`transactions`)} >= ${amount}`,
    ),
  ]
}

/** Aborts the batch when the refunds of all orders that share a payment exceed it. */
export const requireSharedPaymentCover = (refund: RefundRow): Statement =>
  abortUnless(sql`coalesce((select ${buildSharedRemainder(sql`transactions`, sql`${refund.edition_id}`)} from transactions
    where transactions.id = ${refund.transaction_id}), 0) >= 0`)

const itemColumns = sql.raw(
  '(refund_request_id, purchase_id, amount_minor, price_minor, deposit_minor, handling_fee_minor)',
)

/** Writes the items of a request. Aborts the batch unless the statement directly before it wrote the request. */
export function insertItems(refundId: string, items: readonly Share[]): SQL {
  const rows = JSON.stringify(
    items.map((item) => [
      item.purchase_id,
      item.amount_minor,
      item.price_minor,
      item.deposit_minor,
      item.handling_fee_minor,
    ]),
  )
  return sql`insert into refund_items ${itemColumns}
    select case when changes() = 1 then ${refundId} else json('guard') end, value ->> 0, value ->> 1, value ->> 2,
      value ->> 3, value ->> 4
    from json_each(${rows}) where true`
}

/** Releases the difference to a smaller amount on each item. An earlier statement changes the request itself. */
export function buildShrinkStatements(refund: RefundRow, before: readonly Share[], after: RefundShares): Statement[] {
  const itemsAfter = new Map(after.items.map((item) => [item.purchase_id, item]))
  const changedItems = before.flatMap((item) => {
    const itemAfter = itemsAfter.get(item.purchase_id)
    if (!itemAfter || itemAfter.amount_minor === item.amount_minor) return []
    const { amount_minor, price_minor, deposit_minor, handling_fee_minor } = itemAfter
    const releasedAmount = item.amount_minor - amount_minor
    return [[item.purchase_id, releasedAmount, amount_minor, price_minor, deposit_minor, handling_fee_minor, refund.id]]
  })
  const total = [...after.items.map((item) => item.amount_minor), after.service_fee_minor].reduce((a, b) => a + b, 0)
  const rows = JSON.stringify(changedItems)
  return [
    sql`update purchases set reserved_minor = reserved_minor - (item.value ->> 1), version = version + 1
      from json_each(${rows}) as item where purchases.id = item.value ->> 0`,
    update(
      transactions,
      { reserved_minor: sql`${transactions.reserved_minor} - ${refund.requested_minor - total}` },
      sql`id = ${refund.transaction_id}`,
    ),
    sql`update refund_items set amount_minor = item.value ->> 2, price_minor = item.value ->> 3,
        deposit_minor = item.value ->> 4, handling_fee_minor = item.value ->> 5
      from json_each(${rows}) as item
      where refund_request_id = item.value ->> 6 and purchase_id = item.value ->> 0`,
  ]
}
