import { type SQL, sql } from 'drizzle-orm'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { buildPaymentRemainder, buildPurchaseShare, buildSharedRemainder } from '../../db/refunds.ts'
import { transactions } from '../../db/schema/sales/orders.ts'
import { heldStatuses } from '../../domain/orders/purchases.ts'
import { inList } from '../../db/visibility.ts'
import { update } from '../../db/write.ts'
import type { Share, Shared } from '../../domain/refunds/refund-shares.ts'
import type { SubjectPurchase } from './subject.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'

export interface Reservation {
  refund: RefundRow
  shares: Shared
  purchases: readonly SubjectPurchase[]
}

/**
 * Reserves the amounts of a request on all its purchases and its payment, or on none. They have to be as they were
 * read: another refunded amount would make other parts of the amount, and the event contains the status. The statement
 * that follows writes the request `where changes() = 1`.
 */
export function reserveStatements({ refund, shares, purchases }: Reservation, amount: number): Statement[] {
  const read = new Map(purchases.map((purchase) => [purchase.id, purchase]))
  const given = JSON.stringify(
    shares.items.map(({ purchase_id, amount_minor }) => {
      const { refunded_minor = 0, reserved_minor = 0, status = '' } = read.get(purchase_id) ?? {}
      return [purchase_id, amount_minor, refunded_minor + reserved_minor, status]
    }),
  )
  const fees = sql`${Number(refund.include_fees)}`
  return [
    sql`update purchases set reserved_minor = reserved_minor + (given.value ->> 1), modified_at = ${refund.modified_at},
        version = version + 1
      from json_each(${given}) as given
      where purchases.id = given.value ->> 0 and purchases.status = given.value ->> 3
        and ${inList(sql`purchases.status`, heldStatuses)}
        and purchases.refunded_minor + purchases.reserved_minor = given.value ->> 2
        and ${buildPurchaseShare(sql`purchases`, fees)} >= given.value ->> 1`,
    update(
      transactions,
      { reserved_minor: sql`${transactions.reserved_minor} + ${amount}` },
      sql`transactions.id = ${refund.transaction_id} and changes() = ${shares.items.length}
        and ${buildPaymentRemainder(sql`transactions`)} >= ${amount}`,
    ),
  ]
}

/** Holds while the refunds of all orders that share a payment are together at most what was paid. */
export const sharedPaymentCovers = (refund: RefundRow): Statement =>
  abortUnless(sql`coalesce((select ${buildSharedRemainder(sql`transactions`, sql`${refund.edition_id}`)} from transactions
    where transactions.id = ${refund.transaction_id}), 0) >= 0`)

const itemColumns = sql.raw(
  '(refund_request_id, purchase_id, amount_minor, price_minor, deposit_minor, handling_fee_minor)',
)

/** Writes the items of a request. Aborts the batch unless the statement directly before wrote the request. */
export function itemStatement(refundId: string, items: readonly Share[]): SQL {
  const given = JSON.stringify(
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
    from json_each(${given}) where true`
}

/** Releases the difference to a smaller amount, for each item. The request itself is changed before. */
export function shrinkStatements(refund: RefundRow, before: readonly Share[], after: Shared): Statement[] {
  const kept = new Map(after.items.map((item) => [item.purchase_id, item]))
  const changed = before.flatMap((item) => {
    const left = kept.get(item.purchase_id)
    if (!left || left.amount_minor === item.amount_minor) return []
    const { amount_minor, price_minor, deposit_minor, handling_fee_minor } = left
    const released = item.amount_minor - amount_minor
    return [[item.purchase_id, released, amount_minor, price_minor, deposit_minor, handling_fee_minor]]
  })
  const total = [...after.items.map((item) => item.amount_minor), after.service_fee_minor].reduce((a, b) => a + b, 0)
  const given = JSON.stringify(changed)
  return [
    sql`update purchases set reserved_minor = reserved_minor - (given.value ->> 1), version = version + 1
      from json_each(${given}) as given where purchases.id = given.value ->> 0`,
    update(
      transactions,
      { reserved_minor: sql`${transactions.reserved_minor} - ${refund.requested_minor - total}` },
      sql`id = ${refund.transaction_id}`,
    ),
    sql`update refund_items set amount_minor = given.value ->> 2, price_minor = given.value ->> 3,
        deposit_minor = given.value ->> 4, handling_fee_minor = given.value ->> 5
      from json_each(${given}) as given
      where refund_request_id = ${refund.id} and purchase_id = given.value ->> 0`,
  ]
}
