import { eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { buildPaymentRemainder, buildPurchaseShare } from '../../db/refunds.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { decodeAs, fromFlag, type Query, buildSelectList } from '../../db/select.ts'
import type { Currency } from '../../domain/money.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import {
  type BatchFilter,
  type BatchOrder,
  type BatchTerms,
  excludeOrder,
  type OrderPlan,
  planOrder,
} from '../../domain/refunds/refund-batches.ts'
import { findReadyAccount } from '../merchant-accounts/index.ts'
import { choosePayout, type FindAccount } from '../refunds/index.ts'
import type { BatchRow } from './queries.ts'

interface OrderColumns {
  id: string
  seq: number
  created_at: number
  user_id: string
  currency: Currency
  edition_id: string
  organization_id: string
  merchant_account_id: string | null
  provider_account: string | null
  provider_reference: string | null
  payment_status: string | null
  payment_remaining: number | null
  payment_reserved: number | null
  /** True if the order already has a request of this batch. */
  is_requested: boolean
}

interface PurchaseColumns extends OrderColumns {
  purchase_id: string | null
  purchase_status: PurchaseStatus
  is_chosen: boolean
  share_minor: number
  reserved_minor: number
}

/** An order with everything that decides whether it gets a request and how that is paid. */
export interface NextOrder extends OrderColumns, BatchOrder {
  payment_status: string | null
  payment_remaining: number
  payment_reserved: number
}

export const buildTerms = ({ percent_hundredths, include_fees, cancel_purchases }: BatchRow): BatchTerms => ({
  percent_hundredths,
  includes_fees: include_fees,
  cancels: cancel_purchases,
})

const filterConditions: { [Name in keyof BatchFilter]-?: (value: NonNullable<BatchFilter[Name]>) => SQL } = {
  product_id: (id) => eq(purchases.product_id, id),
  variant_id: (id) => eq(purchases.variant_id, id),
  location_id: (id) => eq(purchases.location_id, id),
  status: (status) => eq(purchases.status, status),
  uses: (uses) => (uses === 'unused' ? eq(purchases.uses_count, 0) : gt(purchases.uses_count, 0)),
  created_after: (at) => gte(purchases.created_at, at),
  created_before: (at) => lt(purchases.created_at, at),
}

function buildFilterCondition(filter: BatchFilter): SQL {
  const conditions = (Object.keys(filterConditions) as (keyof BatchFilter)[]).flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [(filterConditions[name] as (value: unknown) => SQL)(value)]
  })
  return conditions.length ? sql.join(conditions, sql` and `) : sql`1`
}

/**
 * An import may move an order behind the cursor by changing its time of creation, so the run that makes requests checks
 * whether the order already has one.
 */
const buildRequestedCondition = ({ id, status }: BatchRow): SQL =>
  status === 'running'
    ? sql`exists (select 1 from refund_requests where batch_id = ${id} and order_id = next_orders.id)`
    : sql`0`

/**
 * Selects the orders after the cursor: first those of its own millisecond, then later ones. An import creates thousands
 * of orders in one millisecond, and a single comparison of both columns would read all of them again.
 */
function selectNextOrders({ edition_id, created_at, ...cursor }: BatchRow, count: number): SQL {
  const [at, seq] = [cursor.cursor_created_at ?? Number.MIN_SAFE_INTEGER, cursor.cursor_seq ?? 0]
  const selectRange = (
    condition: SQL,
  ) => sql`select * from (select seq, id, created_at, user_id, currency, organization_id, edition_id
    from orders indexed by orders_edition_created where edition_id = ${edition_id} and ${condition}
    order by created_at, seq limit ${count})`
  return sql`select * from (${selectRange(sql`created_at = ${at} and seq > ${seq}`)}
    union all ${selectRange(sql`created_at > ${at} and created_at <= ${created_at}`)}) limit ${count}`
}

const buildFlags = (batch: BatchRow) => ({
  is_chosen: fromFlag(sql`(${buildFilterCondition(batch.filter)})`),
  is_requested: fromFlag(buildRequestedCondition(batch)),
})

const selectOrdersWithPurchases = (batch: BatchRow, count: number): Query<PurchaseColumns> =>
  decodeAs(
    buildFlags(batch),
    sql<PurchaseColumns>`with next_orders as (${selectNextOrders(batch, count)})
    select next_orders.*, transactions.merchant_account_id, transactions.provider_account,
      transactions.provider_reference, transactions.status as payment_status,
      ${buildPaymentRemainder(sql`transactions`)} as payment_remaining, transactions.reserved_minor as payment_reserved,
      purchases.id as purchase_id, purchases.status as purchase_status,
      ${buildSelectList(buildFlags(batch))},
      ${buildPurchaseShare(sql`purchases`, sql`${Number(batch.include_fees)}`)} as share_minor, purchases.reserved_minor
    from next_orders
    left join transactions on transactions.order_id = next_orders.id and transactions.type = 'payment'
    left join purchases on purchases.order_id = next_orders.id
    order by next_orders.created_at, next_orders.seq, purchases.id`,
  )

/** Loads the next orders after the cursor of the batch, in the order of their creation. */
export async function loadNextOrders({ db }: Pick<JobCtx, 'db'>, batch: BatchRow, count: number): Promise<NextOrder[]> {
  const rows = await db.all(selectOrdersWithPurchases(batch, count))
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((orderRows) => {
    const [head] = orderRows
    if (!head) return []
    const orderPurchases = orderRows.flatMap((row) =>
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
        payment_remaining: head.payment_remaining ?? 0,
        payment_reserved: head.payment_reserved ?? 0,
        purchases: orderPurchases,
      },
    ]
  })
}

/** Builds a function that looks each merchant account up once. */
export function buildAccountFinder(ctx: Pick<JobCtx, 'db' | 'config'>): FindAccount {
  const accounts = new Map<string, ReturnType<FindAccount>>()
  return (route) => {
    const key = `${route.merchant_account_id} ${route.provider_account ?? ''}`
    const account = accounts.get(key) ?? findReadyAccount(ctx, route)
    accounts.set(key, account)
    return account
  }
}

/** Plans what the batch pays back of an order. The dry run uses it, and so does the run that makes the requests. */
export async function planNextOrder(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  batch: BatchRow,
  order: NextOrder,
  findAccount: FindAccount,
): Promise<OrderPlan> {
  const plan = planOrder(order, buildTerms(batch))
  if (plan.purchases.length === 0) return plan
  const payout = await choosePayout(ctx, order, plan.amount_minor, findAccount)
  return payout ? plan : excludeOrder(plan, 'merchant_not_ready')
}
