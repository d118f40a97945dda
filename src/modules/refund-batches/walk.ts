import type { Currency } from '../../domain/money.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import { eq, gt, gte, lte, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { buildPaymentRemainder, buildPurchaseShare } from '../../db/refunds.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { decodeAs, fromFlag, type Query, buildSelectList } from '../../db/select.ts'
import type { BatchFilter, BatchOrder, BatchTerms } from '../../domain/refunds/refund-batches.ts'
import type { BatchRow } from './queries.ts'

interface OrderColumns {
  id: string
  seq: number
  created_at: number
  user_id: string
  currency: Currency
  edition_id: string
  edition_account_id: string | null
  merchant_account_id: string | null
  provider_reference: string | null
  payment_status: string | null
  payment_rest: number | null
  payment_reserved: number | null
  /** Whether the order already has a request of this batch. */
  is_requested: boolean
}

interface WalkRow extends OrderColumns {
  purchase_id: string | null
  purchase_status: PurchaseStatus
  is_chosen: boolean
  share_minor: number
  reserved_minor: number
}

/** An order with all that decides whether it gets a request and how that is paid back. */
export interface WalkedOrder extends OrderColumns, BatchOrder {
  payment_status: string | null
  payment_rest: number
  payment_reserved: number
}

export const termsOf = ({ share, include_fees, cancel_purchases }: BatchRow): BatchTerms => ({
  share,
  includes_fees: include_fees,
  cancels: cancel_purchases,
})

const conditionsOf: { [Name in keyof BatchFilter]-?: (value: NonNullable<BatchFilter[Name]>) => SQL } = {
  product_id: (id) => eq(purchases.product_id, id),
  variant_id: (id) => eq(purchases.variant_id, id),
  location_id: (id) => eq(purchases.location_id, id),
  status: (status) => eq(purchases.status, status),
  uses: (uses) => (uses === 'unused' ? eq(purchases.uses_count, 0) : gt(purchases.uses_count, 0)),
  created_after: (at) => gte(purchases.created_at, at),
  created_before: (at) => lte(purchases.created_at, at),
}

/** A condition that holds for the purchases of a filter. */
function chosenBy(filter: BatchFilter): SQL {
  const conditions = (Object.keys(conditionsOf) as (keyof BatchFilter)[]).flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [(conditionsOf[name] as (value: unknown) => SQL)(value)]
  })
  return conditions.length ? sql.join(conditions, sql` and `) : sql`1`
}

/** Read only while requests are made. The walk meets an order twice if an import changes its time of creation. */
const isRequested = ({ id, status }: BatchRow): SQL =>
  status === 'running'
    ? sql`exists (select 1 from refund_requests where batch_id = ${id} and order_id = walked.id)`
    : sql`0`

/**
 * First orders of the cursor's own millisecond, then later ones. An import makes thousands of orders of one
 * millisecond, and one comparison of both columns would read all of these again.
 */
function walkedOrders({ edition_id, created_at, ...cursor }: BatchRow, count: number): SQL {
  const [at, seq] = [cursor.cursor_created_at ?? Number.MIN_SAFE_INTEGER, cursor.cursor_seq ?? 0]
  const part = (condition: SQL) => sql`select * from (select seq, id, created_at, user_id, currency, edition_id
    from orders indexed by orders_edition_created where edition_id = ${edition_id} and ${condition}
    order by created_at, seq limit ${count})`
  return sql`select * from (${part(sql`created_at = ${at} and seq > ${seq}`)}
    union all ${part(sql`created_at > ${at} and created_at <= ${created_at}`)}) limit ${count}`
}

const flagsOf = (batch: BatchRow) => ({
  is_chosen: fromFlag(sql`(${chosenBy(batch.filter)})`),
  is_requested: fromFlag(isRequested(batch)),
})

const walkStatement = (batch: BatchRow, count: number): Query<WalkRow> =>
  decodeAs(
    flagsOf(batch),
    sql<WalkRow>`with walked as (${walkedOrders(batch, count)})
    select walked.*, editions.merchant_account_id as edition_account_id, transactions.merchant_account_id,
      transactions.provider_reference, transactions.status as payment_status,
      ${buildPaymentRemainder(sql`transactions`)} as payment_rest, transactions.reserved_minor as payment_reserved,
      purchases.id as purchase_id, purchases.status as purchase_status,
      ${buildSelectList(flagsOf(batch))},
      ${buildPurchaseShare(sql`purchases`, sql`${Number(batch.include_fees)}`)} as share_minor, purchases.reserved_minor
    from walked join editions on editions.id = walked.edition_id
    left join transactions on transactions.order_id = walked.id and transactions.type = 'payment'
    left join purchases on purchases.order_id = walked.id
    order by walked.created_at, walked.seq, purchases.id`,
  )

/** The next orders of the edition after the batch's cursor, in the order of their creation. */
export async function walk({ db }: Pick<JobCtx, 'db'>, batch: BatchRow, count: number): Promise<WalkedOrder[]> {
  const rows = await db.all(walkStatement(batch, count))
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((ofOrder) => {
    const [head] = ofOrder
    if (!head) return []
    const bought = ofOrder.flatMap((row) =>
      row.purchase_id === null
        ? []
        : [
            {
              id: row.purchase_id,
              status: row.purchase_status,
              is_chosen: row.is_chosen,
              share_minor: row.share_minor,
              reserved_minor: row.reserved_minor,
            },
          ],
    )
    return [
      {
        ...head,
        payment_rest: head.payment_rest ?? 0,
        payment_reserved: head.payment_reserved ?? 0,
        purchases: bought,
      },
    ]
  })
}
