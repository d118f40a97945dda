import { sql } from 'drizzle-orm'
import { inList } from '../../../db/conditions.ts'
import { selectPresentId } from '../../../db/customers.ts'
import type { Database } from '../../../db/database.ts'
import type { importOrders } from '../../../db/schema/data-imports.ts'
import type { orders, transactions } from '../../../db/schema/orders.ts'
import { purchases as purchaseTable } from '../../../db/schema/purchases.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { findKeptReason, type KeptReason, type RestoredVersions } from '../../../domain/data-imports/import-undo.ts'
import { maxUnitsPerOrder } from '../../../domain/orders/external-orders.ts'
import { readJson } from '../../../domain/text/json.ts'
import { isAnsweredLater } from '../../consents/index.ts'
import { type AnnouncedOrder, type UndoData, parseUndoData } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'

type ImportOrder = Pick<
  typeof importOrders.$inferSelect,
  'number' | 'order_id' | 'order_version' | 'outcome' | 'undo_data'
>
type Order = AnnouncedOrder & Pick<typeof orders.$inferSelect, 'version' | 'modified_at'>

interface UndoRow extends ImportOrder, Order {
  /** The customer before the import; null when that customer no longer exists. */
  former_id: string | null
  has_refund: number
  has_use: number
  has_pass: number
  has_email: number
  has_later_answer: number
  has_erased_customer: number
  /** JSON list of what undos of later imports restored. */
  restorations: string
  /** JSON list of the ids that merges of products and customers replaced. */
  merged_ids: string
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

export type CurrentPurchase = RowOf<typeof purchaseFields>

/** An order that the import created or updated, as it is today. */
export interface WrittenOrder {
  number: number
  order: Order
  undo: UndoData | null
  /** The version of the order after the import. */
  order_version: number
  purchases: readonly CurrentPurchase[]
  /** Why the order cannot be undone; null when it can. */
  reason: KeptReason | null
}

/** Rows that refer to a created order came after the import. An updated order may have had more before. */
const isAfterImport = sql`created_at >= coalesce(written.undo_data ->> '$.updated.written_at', 0)`
const purchaseIds = sql`(select id from purchases where order_id = o.id)`
const affectedUserIds = sql`(select o.user_id union all select written.undo_data ->> '$.updated.order.user_id'
  union all select user_id from purchases where order_id = o.id)`

const selectUndoRows = (importId: string, below: number | null, limit: number) =>
  sql<UndoRow>`with written as materialized (
      select number, order_id, order_version, outcome, undo_data from import_orders
      where import_id = ${importId} and outcome in ('created', 'updated') and undo_outcome is null
        and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))})
    select written.*,
      o.id, o.organization_id, o.edition_id, o.user_id, o.order_number, o.external_id, o.external_source, o.status,
      o.amount_minor, o.currency, o.version, o.modified_at, former.id as former_id,
      exists (select 1 from refund_requests where order_id = o.id and ${isAfterImport}) as has_refund,
      exists (select 1 from purchase_uses where purchase_id in ${purchaseIds} and ${isAfterImport}) as has_use,
      exists (select 1 from wallet_passes where purchase_id in ${purchaseIds} and ${isAfterImport}) as has_pass,
      exists (select 1 from transactional_emails where order_id = o.id and ${isAfterImport}) as has_email,
      ${isAnsweredLater(sql`o.id`, sql`o.user_id`, importId)} as has_later_answer,
      exists (select 1 from erasures where user_id in ${affectedUserIds}) as has_erased_customer,
      (select json_group_array(json(restored_versions)) from import_orders as later
        where later.order_id = written.order_id and restored_versions is not null) as restorations,
      (select json_group_array(json(ids)) from (
        select ids from product_merges where edition_id = o.edition_id
        union all select json_object(id, into_id) from user_merges
          where organization_id = o.organization_id and instr(written.undo_data, id))) as merged_ids
    from written left join orders o on o.id = written.order_id
    left join users former on former.id = coalesce(${selectPresentId(sql`written.undo_data ->> '$.updated.order.user_id'`)}, o.user_id)
    order by written.number desc`

type CurrentPayment = Pick<
  typeof transactions.$inferSelect,
  'id' | 'order_id' | 'status' | 'amount_minor' | 'refunded_minor' | 'reserved_minor'
>

/** Versions of the purchases as the import left them, by id. */
const mapImportedVersions = (undo: UndoData | null, purchases: readonly CurrentPurchase[]): Map<string, number> =>
  undo?.updated
    ? new Map([
        ...undo.updated.purchases.map(({ id, version }) => [id, version] as const),
        ...undo.updated.added_purchases.map((id) => [id, 1] as const),
      ])
    : new Map(purchases.map(({ id }) => [id, 1]))

function isPaymentChanged(undo: UndoData | null, payments: readonly CurrentPayment[]): boolean {
  const change = undo?.updated?.payment
  if (!change) return false
  const payment = payments.find(({ id }) => id === change.id)
  if (!payment) return true
  return (['status', 'amount_minor', 'refunded_minor', 'reserved_minor'] as const).some(
    (name) => payment[name] !== change.after[name],
  )
}

const isListOfIds = (value: unknown): value is Record<string, string>[] => Array.isArray(value)

const readMergedIds = ({ merged_ids }: UndoRow): Map<string, string> =>
  new Map(readJson(merged_ids, isListOfIds).flatMap((ids) => Object.entries(ids)))

function buildWrittenOrder(
  row: UndoRow,
  purchases: readonly CurrentPurchase[],
  payments: readonly CurrentPayment[],
): WrittenOrder {
  const undo = row.undo_data === null ? null : parseUndoData(row.undo_data, readMergedIds(row))
  const { id, version } = row
  const reason = findKeptReason({
    is_missing: id === null || row.former_id === null || (row.outcome === 'updated' && !undo?.updated),
    has_erased_customer: row.has_erased_customer === 1,
    order_version: row.order_version ?? 0,
    version,
    has_refund: row.has_refund === 1,
    has_use: row.has_use === 1,
    has_pass: row.has_pass === 1,
    has_email: row.has_email === 1,
    has_later_answer: row.has_later_answer === 1,
    purchases,
    imported_versions: mapImportedVersions(undo, purchases),
    is_payment_changed: isPaymentChanged(undo, payments),
    restorations: readJson(row.restorations, isRestorations),
  })
  return { number: row.number, order: row, undo, order_version: row.order_version ?? 0, purchases, reason }
}

const isRestorations = (value: unknown): value is RestoredVersions[] => Array.isArray(value)

/** A call may contain an order twice. Its later part is undone first, in a step of its own. */
function cutAtRepeatedOrder(rows: readonly UndoRow[]): UndoRow[] {
  const ids = new Set<string>()
  const repeatedIndex = rows.findIndex(({ order_id }) => order_id !== null && ids.size === ids.add(order_id).size)
  return rows.slice(0, repeatedIndex < 0 ? rows.length : repeatedIndex)
}

/** No transaction of an import writes more purchases, so an undo can take as many back in one. */
const maxPurchases = maxUnitsPerOrder

/** Loads the next orders before `below`, last first. Returns only one order when several have too many purchases. */
export async function loadWrittenOrders(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<WrittenOrder[]> {
  const rows = cutAtRepeatedOrder(await db.all(selectUndoRows(id, below, limit)))
  const ids = rows.flatMap((row) => row.id ?? [])
  if (rows.length === 0) return []
  const purchaseLimit = rows.length === 1 ? -1 : maxPurchases + 1
  const [purchases, payments] = await db.batch([
    select(purchaseFields)
      .from(purchaseTable)
      .where(inList(sql`${purchaseTable.order_id}`, ids))
      .limit(purchaseLimit),
    sql<CurrentPayment>`select id, order_id, status, amount_minor, refunded_minor, reserved_minor from transactions
      where type = 'payment' and ${inList(sql`order_id`, ids)}`,
  ])
  if (purchases.length === purchaseLimit) return loadWrittenOrders(db, { id }, below, 1)
  const purchasesByOrder = Map.groupBy(purchases, ({ order_id }) => order_id)
  const paymentsByOrder = Map.groupBy(payments, ({ order_id }) => order_id)
  return rows.map((row) =>
    buildWrittenOrder(row, purchasesByOrder.get(row.id) ?? [], paymentsByOrder.get(row.id) ?? []),
  )
}
