import { type SQL, sql } from 'drizzle-orm'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import type { TransactionStatus } from '../../domain/orders/orders.ts'
import { getAmount, type RefundedPurchase } from './refund.ts'

/** The signs with which an amount is added to the refunded and to the reserved amount. */
interface Move {
  refundedSign: -1 | 0 | 1
  reservedSign: -1 | 0 | 1
}

const paymentStatuses = {
  unrefunded: 'captured',
  partial: 'partially_refunded',
  full: 'refunded',
} satisfies Record<string, TransactionStatus>

/** Changes the refunded and reserved amounts of a payment, and its status accordingly. */
export function movePayment(refund: RefundRow, amount: number, { refundedSign, reservedSign }: Move): Statement {
  const after = sql`refunded_minor + ${refundedSign * amount}`
  const status = sql`case when ${after} <= 0 then ${paymentStatuses.unrefunded}
    when ${after} >= amount_minor then ${paymentStatuses.full} else ${paymentStatuses.partial} end`
  const changesStatus = refundedSign !== 0 && amount > 0
  return sql`update transactions set refunded_minor = ${after}, reserved_minor = reserved_minor + ${reservedSign * amount},
      status = iif(${changesStatus ? 1 : 0}, ${status}, status)
    where transactions.id = ${refund.transaction_id}`
}

/**
 * Changes the amounts of a refund's purchases. `status` is an expression for their new status over `purchases` and
 * `items`.
 */
const movePurchases = (
  refundId: string,
  { refundedSign, reservedSign }: Move,
  change: { now: number; status?: SQL },
): Statement =>
  sql`update purchases set refunded_minor = refunded_minor + ${refundedSign} * items.amount_minor,
      reserved_minor = reserved_minor + ${reservedSign} * items.amount_minor, modified_at = ${change.now},
      version = version + 1 ${change.status ? sql`, status = ${change.status}` : sql``}
    from (select purchase_id, amount_minor, status_before from refund_items
      where refund_request_id = ${refundId}) as items
    where purchases.id = items.purchase_id`

/** Changes the amounts of a refund's payment and of its purchases. */
export const moveAmounts = (refund: RefundRow, move: Move, change: { now: number; status?: SQL }): Statement[] => [
  movePurchases(refund.id, move, change),
  movePayment(refund, getAmount(refund), move),
]

/**
 * Aborts the batch when the status of a purchase has changed since it was read, because its webhook event contains it.
 */
export function requireUnchangedPurchases(purchases: readonly RefundedPurchase[]): Statement[] {
  if (purchases.length === 0) return []
  const statuses = JSON.stringify(purchases.map(({ id, status }) => [id, status]))
  return [
    abortUnless(sql`(select count(*) from json_each(${statuses}) as expected
      cross join purchases on purchases.id = expected.value ->> 0 and purchases.status = expected.value ->> 1)
      = ${purchases.length}`),
  ]
}
