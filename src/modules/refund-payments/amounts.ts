import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { abortUnless } from '../../db/commit.ts'
import type { TransactionStatus } from '../../domain/orders/orders.ts'
import { amountOf, type RefundedPurchase } from './refund.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'

/** The sign with which an amount is added to the refunded amount and to the reserved amount. */
interface Move {
  refunded: -1 | 0 | 1
  reserved: -1 | 0 | 1
}

/** The status of a payment of which nothing, a part or all is paid back. */
const statusAfter = {
  nothing: 'captured',
  part: 'partially_refunded',
  all: 'refunded',
} satisfies Record<string, TransactionStatus>

/** Changes the refunded and reserved amounts of a payment, and its status accordingly. */
export function movePayment(refund: RefundRow, amount: number, { refunded, reserved }: Move): Statement {
  const after = sql`refunded_minor + ${refunded * amount}`
  const status = sql`case when ${after} <= 0 then ${statusAfter.nothing}
    when ${after} >= amount_minor then ${statusAfter.all} else ${statusAfter.part} end`
  const isMoved = refunded !== 0 && amount > 0
  return sql`update transactions set refunded_minor = ${after}, reserved_minor = reserved_minor + ${reserved * amount},
      status = iif(${isMoved ? 1 : 0}, ${status}, status)
    where transactions.id = ${refund.transaction_id}`
}

/**
 * Changes the amounts of a refund's purchases. `status` is their new status, an expression over `purchases` and
 * `items`.
 */
const movePurchases = (
  refundId: string,
  { refunded, reserved }: Move,
  change: { now: number; status?: SQL },
): Statement =>
  sql`update purchases set refunded_minor = refunded_minor + ${refunded} * items.amount_minor,
      reserved_minor = reserved_minor + ${reserved} * items.amount_minor, modified_at = ${change.now},
      version = version + 1 ${change.status ? sql`, status = ${change.status}` : sql``}
    from (select purchase_id, amount_minor, status_before from refund_items where refund_request_id = ${refundId}) as items
    where purchases.id = items.purchase_id`

/** Changes the amounts of a refund's payment and of its purchases. */
export const moveAmounts = (refund: RefundRow, move: Move, change: { now: number; status?: SQL }): Statement[] => [
  movePurchases(refund.id, move, change),
  movePayment(refund, amountOf(refund), move),
]

/** Aborts the batch when a purchase no longer has the status that was read, which its event contains. */
export function purchasesAreAsRead(purchases: readonly RefundedPurchase[]): Statement[] {
  if (purchases.length === 0) return []
  const read = JSON.stringify(purchases.map(({ id, status }) => [id, status]))
  return [
    abortUnless(sql`(select count(*) from json_each(${read}) as known
      cross join purchases on purchases.id = known.value ->> 0 and purchases.status = known.value ->> 1)
      = ${purchases.length}`),
  ]
}
