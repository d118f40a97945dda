import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { importOrders } from '../../../db/schema/data-imports.ts'
import { type orders, purchases as purchaseTable, type transactions } from '../../../db/schema/sales/orders.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { maxUnitsPerOrder } from '../../../domain/orders/external-orders.ts'
import { findKeptReason, type KeptReason } from '../../../domain/data-imports/import-undo.ts'
import { isAnsweredLater } from '../../consents/index.ts'
import { type OrderBefore, readBefore } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'

type WrittenImportOrder = Pick<typeof importOrders.$inferSelect, 'number' | 'order_version' | 'outcome' | 'undo_data'>
type Order = Pick<typeof orders.$inferSelect, 'id' | 'external_id' | 'version' | 'user_id' | 'modified_at'>

interface UndoRow extends WrittenImportOrder, Order {
  /** The customer before the import; null if the row is gone. */
  former_id: string | null
  has_refund: number
  has_use: number
  has_pass: number
  has_email: number
  has_later_answer: number
  has_erased_customer: number
}

const purchaseFields = {
  id: purchaseTable.id,
  order_id: purchaseTable.order_id,
  user_id: purchaseTable.user_id,
  product_id: purchaseTable.product_id,
  variant_id: purchaseTable.variant_id,
  location_id: purchaseTable.location_id,
  options: purchaseTable.options,
  vendor_code: purchaseTable.vendor_code,
  status: purchaseTable.status,
  price_minor: purchaseTable.price_minor,
  deposit_minor: purchaseTable.deposit_minor,
  handling_fee_minor: purchaseTable.handling_fee_minor,
  uses_limit: purchaseTable.uses_limit,
  is_unlimited_use: purchaseTable.is_unlimited_use,
  valid_until: purchaseTable.valid_until,
  version: purchaseTable.version,
}

export type UndonePurchase = RowOf<typeof purchaseFields>

export interface WrittenOrder {
  number: number
  order: Order
  before: OrderBefore | null
  purchases: readonly UndonePurchase[]
  reason: KeptReason | null
}

const isSince = (column: string) => sql`${sql.raw(column)} >= o.modified_at`
const purchaseIds = sql`(select id from purchases where order_id = o.id)`
const usersOf = sql`(select o.user_id union all select its.undo_data ->> '$.updated.order.user_id'
  union all select user_id from purchases where order_id = o.id)`

const findRows = (importId: string, below: number | null, limit: number) =>
  sql<UndoRow>`with its as materialized (
      select number, order_id, order_version, outcome, undo_data from import_orders
      where import_id = ${importId} and outcome in ('created', 'updated') and undo_outcome is null
        and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))})
    select its.*,
      o.id, o.external_id, o.version, o.user_id, o.modified_at, former.id as former_id,
      exists (select 1 from refund_requests where order_id = o.id and ${isSince('created_at')}) as has_refund,
      exists (select 1 from purchase_uses where purchase_id in ${purchaseIds} and ${isSince('created_at')}) as has_use,
      exists (select 1 from wallet_passes where purchase_id in ${purchaseIds} and ${isSince('created_at')}) as has_pass,
      exists (select 1 from transactional_emails where order_id = o.id and ${isSince('created_at')}) as has_email,
      ${isAnsweredLater(sql`o.id`, sql`o.user_id`, importId)} as has_later_answer,
      exists (select 1 from erasures where user_id in ${usersOf}) as has_erased_customer
    from its left join orders o on o.id = its.order_id
    left join users former on former.id = coalesce(its.undo_data ->> '$.updated.order.user_id', o.user_id)
    order by its.number desc`

type WrittenPayment = Pick<
  typeof transactions.$inferSelect,
  'id' | 'order_id' | 'status' | 'amount_minor' | 'refunded_minor' | 'reserved_minor'
>

const listVersions = (before: OrderBefore | null, purchases: readonly UndonePurchase[]): Map<string, number> =>
  before?.updated
    ? new Map([
        ...before.updated.purchases.map(({ id, version }) => [id, version] as const),
        ...before.updated.added.map((id) => [id, 1] as const),
      ])
    : new Map(purchases.map(({ id }) => [id, 1]))

function isPaymentChanged(before: OrderBefore | null, payments: readonly WrittenPayment[]): boolean {
  const change = before?.updated?.payment
  if (!change) return false
  const payment = payments.find(({ id }) => id === change.id)
  if (!payment) return true
  return (['status', 'amount_minor', 'refunded_minor', 'reserved_minor'] as const).some(
    (name) => payment[name] !== change.after[name],
  )
}

function buildWrittenOrder(
  row: UndoRow,
  purchases: readonly UndonePurchase[],
  payments: readonly WrittenPayment[],
): WrittenOrder {
  const before = row.undo_data === null ? null : readBefore(row.undo_data)
  const { id, external_id, version, user_id, modified_at } = row
  const reason = findKeptReason({
    is_missing: id === null || row.former_id === null || (row.outcome === 'updated' && !before?.updated),
    has_erased_customer: row.has_erased_customer === 1,
    order_version: row.order_version ?? 0,
    version,
    has_refund: row.has_refund === 1,
    has_use: row.has_use === 1,
    has_pass: row.has_pass === 1,
    has_email: row.has_email === 1,
    has_later_answer: row.has_later_answer === 1,
    purchases,
    left: listVersions(before, purchases),
    is_payment_changed: isPaymentChanged(before, payments),
  })
  const order = { id, external_id, version, user_id, modified_at }
  return { number: row.number, order, before, purchases, reason }
}

/** One transaction of an import has at most as many. */
const mostPurchases = maxUnitsPerOrder

/** Starts with the last order. Answers a single order if several have too many purchases. */
export async function loadWrittenOrders(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<WrittenOrder[]> {
  const rows = await db.all(findRows(id, below, limit))
  const ids = rows.flatMap((row) => row.id ?? [])
  if (rows.length === 0) return []
  const most = rows.length === 1 ? -1 : mostPurchases + 1
  const [bought, payments] = await db.batch([
    select(purchaseFields)
      .from(purchaseTable)
      .where(inList(sql`${purchaseTable.order_id}`, ids))
      .limit(most),
    sql<WrittenPayment>`select id, order_id, status, amount_minor, refunded_minor, reserved_minor from transactions
      where type = 'payment' and ${inList(sql`order_id`, ids)}`,
  ])
  if (bought.length === most) return loadWrittenOrders(db, { id }, below, 1)
  const purchasesOf = Map.groupBy(bought, ({ order_id }) => order_id)
  const paymentsOf = Map.groupBy(payments, ({ order_id }) => order_id)
  return rows.map((row) => buildWrittenOrder(row, purchasesOf.get(row.id) ?? [], paymentsOf.get(row.id) ?? []))
}
