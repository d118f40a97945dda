import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { changeableEditions } from '../../../db/shared-customers.ts'
import { ordersPerChunk } from '../../../domain/data-imports.ts'
import { AppError } from '../../../domain/errors.ts'
import { toMajor } from '../../../domain/money.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { type ImportRun, type OrderRow, previewGroup, type RecordedOrder, rowsOf } from '../../order-import/index.ts'
import { checkAction } from '../begin.ts'
import type { LoadedImport } from '../queries.ts'
import { fitting, type Planned, type PlannedOrder, planOrders } from './plan-orders.ts'
import { type ImportOrderRow, loadOrders, readOrders } from './read-orders.ts'
import { type Headers, headersOf } from './rows.ts'
import { maxPreviewed, type PreviewFilters } from './run-contract.ts'
import { loadSetting, type RunSetting, sourceOf } from './setting.ts'

interface Change {
  field: string
  before: string | number | null
  after: string | number | null
}

export interface PreviewedOrder {
  planned: PlannedOrder
  /** Null for somebody new, and where nothing is written. */
  customer_id: string | null
  amount_minor: number | null
  changes: readonly Change[]
  headers: Headers
}

interface PreviewSetting {
  setting: RunSetting
  run: ImportRun
  headers: Headers
}

async function settingOf(ctx: Ctx, row: LoadedImport): Promise<PreviewSetting> {
  const [setting, headers] = await Promise.all([loadSetting(ctx.db, row), headersOf(ctx.db, row.id)])
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: sourceOf(row),
    on_duplicate: options.on_duplicate,
    dry_run: true,
    with_before: true,
    import_id: null,
    changeable: changeableEditions(ctx.caller, row.organization_id),
    definitions,
    skipped: options.skipped,
    emit_webhooks: false,
    receipt_message: null,
  }
  return { setting, run, headers }
}

const shown: readonly (readonly [field: string, column: keyof OrderRow])[] = [
  ['status', 'status'],
  ['order_number', 'order_number'],
  ['amount', 'amount_minor'],
  ['items_count', 'items_count'],
  ['customer_id', 'user_id'],
  ['metadata', 'metadata'],
]

/** What an update changes of an order and its purchases. */
function changesOf(record: RecordedOrder | undefined, after: OrderRow, cancelled: number): Change[] {
  const updated = record?.before?.updated
  if (!updated) return []
  const ofOrder = shown.flatMap(([field, column]): Change[] => {
    const [was, is] = [updated.order[column], after[column]]
    if (was === undefined || was === is) return []
    const value = (one: unknown) => (field === 'amount' ? toMajor(one as number) : (one as string | number | null))
    return [{ field, before: value(was), after: value(is) }]
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

/** What would become of the orders that the query selects, in the groups that an import would commit. */
async function decideOrders(
  ctx: Ctx,
  { setting, run, headers }: PreviewSetting,
  from: { after: number; limit: number },
): Promise<PreviewedOrder[]> {
  const { id } = setting.row
  const found: PreviewedOrder[] = []
  let { after } = from
  while (found.length < from.limit) {
    const limit = Math.min(ordersPerChunk, from.limit - found.length)
    const chosen = sql<ImportOrderRow>`select * from import_orders where import_id = ${id} and number > ${after}
      order by number limit ${limit}`
    const loaded = await loadOrders(ctx.db, id, chosen)
    if (loaded.orders.length === 0) break
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

const actions = { created: 'create', updated: 'update', skipped: 'skip', error: 'error', ignored: 'ignore' } as const
const actionOf = ({ planned: { outcome } }: PreviewedOrder) => actions[outcome]

/** The first orders are decided once a request. */
const decided = new WeakMap<LoadedImport, Promise<PreviewedOrder[]>>()

function firstOrders(ctx: Ctx, row: LoadedImport): Promise<PreviewedOrder[]> {
  const known = decided.get(row)
  if (known) return known
  const orders = settingOf(ctx, row).then((setting) => decideOrders(ctx, setting, { after: 0, limit: maxPreviewed }))
  decided.set(row, orders)
  return orders
}

export async function listPreview(
  ctx: Ctx,
  row: LoadedImport,
  page: PageRequest,
  { action, ordering }: PreviewFilters,
): Promise<Page<PreviewedOrder>> {
  checkAction(ctx, row, 'preview', 'previewed')
  const { size } = page
  const skipped = (page.page - 1) * size
  const isDescending = ordering[0]?.desc === true
  const first = await firstOrders(ctx, row)
  const matching = action === undefined ? first : first.filter((order) => actionOf(order) === action)
  const isWhole = action !== undefined || row.total_orders <= first.length
  const count = isWhole ? matching.length : row.total_orders
  if (page.page > 1 && skipped >= count) throw new AppError('invalid_page', 'Invalid page.')
  // The page in the order of the file.
  const end = Math.max(0, isDescending ? count - skipped : Math.min(count, skipped + size))
  const from = isDescending ? Math.max(0, end - size) : skipped
  const isKnown = isWhole || end <= first.length
  const rows = isKnown ? matching.slice(from, end) : await laterOrders(ctx, row, { from, size: end - from })
  if (isDescending) rows.reverse()
  const last = rows.at(-1)
  const after = last && skipped + rows.length < count ? [last.planned.read.row.number] : null
  return { rows, count, page: page.page, size, after }
}

async function laterOrders(ctx: Ctx, row: LoadedImport, { from, size }: { from: number; size: number }) {
  const begin = await ctx.db.first(
    sql<{ number: number }>`select number from import_orders where import_id = ${row.id} order by number
      limit 1 offset ${from}`,
  )
  return decideOrders(ctx, await settingOf(ctx, row), { after: (begin?.number ?? 0) - 1, limit: size })
}

/** Totals of the first orders by action. */
export async function previewTotals(ctx: Ctx, row: LoadedImport) {
  const first = await firstOrders(ctx, row)
  const totals = { create: 0, update: 0, skip: 0, error: 0, ignore: 0 }
  for (const order of first) totals[actionOf(order)]++
  return { totals, previewed_orders: first.length, total_orders: row.total_orders }
}
