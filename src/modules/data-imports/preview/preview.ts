import type { JobCtx } from '../../../context.ts'
import { ordersPerChunk } from '../../../domain/data-imports/data-imports.ts'
import { toMajor } from '../../../domain/money.ts'
import { type ImportRun, previewGroup, type RecordedOrder, rowsOf } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import type { OrderRow } from '../../../db/schema/sales/orders.ts'
import {
  fitting,
  type Headers,
  headersOf,
  loadOrders,
  ordersAfter,
  ordersAmong,
  loadSetting,
  type Planned,
  type PlannedOrder,
  planOrders,
  type previewActions,
  readOrders,
  type RunSetting,
  sourceOf,
} from '../run/index.ts'

interface FieldChange {
  field: string
  before: string | number | null
  after: string | number | null
}

export interface PreviewedOrder {
  planned: PlannedOrder
  /** Null for a new customer, and where nothing is written. */
  customer_id: string | null
  amount_minor: number | null
  changes: readonly FieldChange[]
  headers: Headers
}

export interface PreviewSetting {
  setting: RunSetting
  run: ImportRun
  headers: Headers
}

export async function previewSetting(
  ctx: JobCtx,
  row: ImportRow,
  changeable: readonly string[] | null,
): Promise<PreviewSetting> {
  const [setting, headers] = await Promise.all([loadSetting(ctx.db, row), headersOf(ctx.db, row.id)])
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: sourceOf(row),
    on_duplicate: options.on_duplicate,
    dry_run: true,
    with_before: true,
    import_id: null,
    changeable,
    definitions,
    skipped: options.skipped,
    emit_webhooks: false,
    receipt_message: null,
  }
  return { setting, run, headers }
}

type PreviewedColumn = 'status' | 'order_number' | 'amount_minor' | 'items_count' | 'user_id' | 'metadata'

const shown: readonly (readonly [field: string, column: PreviewedColumn])[] = [
  ['status', 'status'],
  ['order_number', 'order_number'],
  ['amount', 'amount_minor'],
  ['items_count', 'items_count'],
  ['customer_id', 'user_id'],
  ['metadata', 'metadata'],
]

/** JSON is shown as its text. */
const shownValue = (value: OrderRow[PreviewedColumn]) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value

const inUnits = (field: string, value: string | number | null) => (field === 'amount' ? toMajor(Number(value)) : value)

/** The changes of an order and its purchases by an update. */
function changesOf(record: RecordedOrder | undefined, after: OrderRow, cancelled: number): FieldChange[] {
  const updated = record?.before?.updated
  if (!updated) return []
  const ofOrder = shown.flatMap(([field, column]): FieldChange[] => {
    const kept = updated.order[column]
    if (kept === undefined) return []
    const [was, is] = [shownValue(kept), shownValue(after[column])]
    return was === is ? [] : [{ field, before: inUnits(field, was), after: inUnits(field, is) }]
  })
  const open = updated.purchases.filter(({ status }) => status !== 'cancelled').length
  const kept = open - cancelled + updated.added.length
  const isSame = updated.added.length === 0 && cancelled === 0
  return isSame ? ofOrder : [...ofOrder, { field: 'purchases', before: open, after: kept }]
}

function previewed(orders: readonly PlannedOrder[], { decision }: Planned, headers: Headers): PreviewedOrder[] {
  const written = new Map(decision.orders.map((order) => [order.id, order]))
  const records = new Map(decision.recorded().map((record) => [record.outcome.index, record]))
  const added = new Set(rowsOf(decision.writes, 'users').map(({ id }) => id))
  return orders.map((planned, index) => {
    const order = planned.order_id === null ? undefined : written.get(planned.order_id)
    if (!order) return { planned, customer_id: null, amount_minor: null, changes: [], headers }
    const cancelled = decision.changes.filter(
      ({ action, order: { id } }) => id === order.id && action === 'cancelled',
    ).length
    return {
      planned,
      customer_id: added.has(order.user_id) ? null : order.user_id,
      amount_minor: order.amount_minor,
      changes: changesOf(records.get(index), order, cancelled),
      headers,
    }
  })
}

/** Orders of an import by their numbers: those behind one, or, of these, only some. */
interface PreviewRange {
  after: number
  limit: number
  only?: readonly number[]
}

/** Decides on the chosen orders, in the groups that an import would commit. */
export async function decideOrders(
  ctx: JobCtx,
  { setting, run, headers }: PreviewSetting,
  from: PreviewRange,
): Promise<PreviewedOrder[]> {
  const { id } = setting.row
  const found: PreviewedOrder[] = []
  let { after } = from
  while (found.length < from.limit) {
    const limit = Math.min(ordersPerChunk, from.limit - found.length)
    const chosen = from.only ? ordersAmong(id, from.only, after, limit) : ordersAfter(id, after, limit)
    const loaded = await loadOrders(ctx.db, id, chosen)
    if (loaded.length === 0) break
    const read = fitting(await readOrders(ctx.db, setting, loaded))
    const { orders, planned } = await planOrders(read, setting.options, async (group) => {
      const decision = await previewGroup(ctx, run, group)
      return { outcomes: decision.outcomes, decision }
    })
    found.push(...previewed(orders, planned, headers))
    after = read.at(-1)?.row.number ?? after
  }
  return found
}

export type PreviewAction = (typeof previewActions)[number]

const actions = { created: 'create', updated: 'update', skipped: 'skip', error: 'error', ignored: 'ignore' } as const
export const actionOf = ({ planned: { outcome } }: PreviewedOrder): PreviewAction => actions[outcome]
