import type { JobCtx } from '../../../context.ts'
import type { OrderRow } from '../../../db/rows.ts'
import { ordersPerChunk, type PreviewAction } from '../../../domain/data-imports/data-imports.ts'
import { toMajor } from '../../../domain/money.ts'
import { type ImportRun, previewGroup, type OrderRecord, listInsertedRows } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { type Headers, loadHeaders } from '../reports/rows.ts'
import { takeGroup, type PlannedGroup, type PlannedOrder, planOrders } from '../run/plan-orders.ts'
import { loadOrders, selectOrdersAfter, mapStagedOrders } from '../run/read-orders.ts'
import { loadSetting, getImportSource } from '../run/setting.ts'
import { previewCustomers } from './preview-customers.ts'
import type { FieldChange, PreviewedOrder, PreviewSetting } from './previewed-order.ts'

export async function loadPreviewSetting(
  ctx: JobCtx,
  row: ImportRow,
  changeable: readonly string[] | null,
): Promise<PreviewSetting> {
  const [setting, headers] = await Promise.all([loadSetting(ctx.db, row), loadHeaders(ctx.db, row.id)])
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: getImportSource(row),
    on_duplicate: options.on_duplicate,
    dry_run: true,
    import_id: null,
    changeable,
    definitions,
    false_means_skipped: options.skipped,
    emit_webhooks: false,
    receipt_message: null,
  }
  return { setting, run, headers }
}

type PreviewedColumn = 'status' | 'order_number' | 'amount_minor' | 'items_count' | 'user_id' | 'metadata'

const previewedFields: readonly (readonly [field: string, column: PreviewedColumn])[] = [
  ['status', 'status'],
  ['order_number', 'order_number'],
  ['amount', 'amount_minor'],
  ['items_count', 'items_count'],
  ['customer_id', 'user_id'],
  ['metadata', 'metadata'],
]

const toPreviewValue = (value: OrderRow[PreviewedColumn]) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value

const toPreviewAmount = (field: string, value: string | number | null) =>
  field === 'amount' ? toMajor(Number(value)) : value

function listChanges(record: OrderRecord | undefined, after: OrderRow, cancelledPurchases: number): FieldChange[] {
  const update = record?.undo?.updated
  if (!update) return []
  const orderChanges = previewedFields.flatMap(([field, column]): FieldChange[] => {
    const formerValue = update.order[column]
    if (formerValue === undefined) return []
    const [oldValue, newValue] = [toPreviewValue(formerValue), toPreviewValue(after[column])]
    return oldValue === newValue
      ? []
      : [{ field, before: toPreviewAmount(field, oldValue), after: toPreviewAmount(field, newValue) }]
  })
  const countBefore = update.purchases.filter(({ status }) => status !== 'cancelled').length
  const countAfter = countBefore - cancelledPurchases + update.added_purchases.length
  const isSame = update.added_purchases.length === 0 && cancelledPurchases === 0
  return isSame ? orderChanges : [...orderChanges, { field: 'purchases', before: countBefore, after: countAfter }]
}

function buildPreviews(
  orders: readonly PlannedOrder[],
  { decision }: PlannedGroup,
  headers: Headers,
): PreviewedOrder[] {
  const writtenOrders = new Map(decision.orders.map((order) => [order.id, order]))
  const records = new Map(decision.buildRecords().map((record) => [record.outcome.index, record]))
  const newUserIds = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  return orders.map((plannedOrder, index) => {
    const order = plannedOrder.order_id === null ? undefined : writtenOrders.get(plannedOrder.order_id)
    if (!order) return { plannedOrder, customer_id: null, amount_minor: null, changes: [], headers }
    const cancelledPurchases = decision.changes.filter(
      ({ action, order: { id } }) => id === order.id && action === 'cancelled',
    ).length
    return {
      plannedOrder,
      customer_id: newUserIds.has(order.user_id) ? null : order.user_id,
      amount_minor: order.amount_minor,
      changes: listChanges(records.get(index), order, cancelledPurchases),
      headers,
    }
  })
}

/** Previews a range of orders in the groups that the import would use. */
export async function previewOrders(
  ctx: JobCtx,
  { setting, run, headers }: PreviewSetting,
  range: { after: number; limit: number },
): Promise<PreviewedOrder[]> {
  if (setting.row.kind === 'customers') return previewCustomers(ctx, { setting, run, headers }, range)
  const { id } = setting.row
  const previews: PreviewedOrder[] = []
  let { after } = range
  while (previews.length < range.limit) {
    const limit = Math.min(ordersPerChunk, range.limit - previews.length)
    const stagedOrders = await loadOrders(ctx.db, id, selectOrdersAfter(id, after, limit))
    if (stagedOrders.length === 0) break
    const fileOrders = takeGroup(await mapStagedOrders(ctx.db, setting, stagedOrders))
    const { orders, plannedGroup } = await planOrders(ctx.db, setting, fileOrders, async (group) => {
      const decision = await previewGroup(ctx, run, group)
      return { outcomes: decision.outcomes, decision }
    })
    previews.push(...buildPreviews(orders, plannedGroup, headers))
    after = fileOrders.at(-1)?.stagedOrder.number ?? after
  }
  return previews
}

const actions = { created: 'create', updated: 'update', skipped: 'skip', error: 'error', ignored: 'ignore' } as const
export const getAction = ({ plannedOrder: { outcome } }: PreviewedOrder): PreviewAction => actions[outcome]
